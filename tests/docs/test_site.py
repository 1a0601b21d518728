"""The site: nothing in a signature or a log is markup on its page, and no link inside it is dead."""

import pytest

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")
pytest.importorskip("furo")

from docs_site.links import dead
from docs_site.pages import ROOT

HOSTILE = """</pre></div><script>alert(1)</script><img src=x onerror=alert(2)> `` ``` {raw} javascript:alert(3)"""
SIGNATURE = """\
format: 1
id: a/b
title: "Broken <b>pipe</b> of `x` *star*"
cause: "Why <script>alert(4)</script> [link](javascript:alert(5)) `<i>`"
match: {any: [{log: {line: "</code><script>alert(6)"}}, {log: {line: "the lease was revoked"}}]}
fixes: [{kind: ask, title: "<u>do</u>", command: [echo, "<script>"], risk: none}]
references: ["https://example.org/a?b=1&c=2"]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of one hostile signature."""
    from sphinx.cmd.build import main

    place = tmp_path_factory.mktemp("site")
    for folder in ("pack/signatures/a", "pack/fixtures/a/b", "source/signatures/a"):
        (place / folder).mkdir(parents=True)
    for folder in ("pack", "source"):
        (place / folder / "signatures/a/b.yaml").write_text(SIGNATURE)
    log = f"{HOSTILE}\nthe lease was revoked {HOSTILE}\n\x1b]8;;http://evil\x07 \u202e\n{HOSTILE}\n"
    (place / "pack/fixtures/a/b/x.log").write_text(log)
    (place / "source/index.md").write_text("# Index\n\n[one](signatures/a/b)\n")
    (place / "source/by-area.md").write_text("# Areas\n\n## A\n\n```{toctree}\nindex\n```\n")
    settings = [f"-Dtriage_pack={place}/pack", f"-Dtriage_packs={place}/pack", "-Droot_doc=by-area"]
    options = ["-q", "-W", "-c", str(ROOT / "docs"), "-d", str(place / "doctrees"), *settings]
    assert main([*options, "-b", "html", str(place / "source"), str(place / "html")]) == 0
    return place / "html"


def test_nothing_of_a_log_or_signature_is_markup(site):
    """Tags are shown as text; no script, image or link comes from them."""
    page = (site / "signatures/a/b.html").read_text(encoding="utf-8")
    for text in (
        "<script>alert",
        "<img src=x",
        "<b>pipe",
        "<u>do",
        "</code><script",
        'href="javascript',
        'href="http://evil',
    ):
        assert text not in page
    for text in ("&lt;script&gt;alert(1)", "&lt;b&gt;pipe&lt;/b&gt;", "*star*", "[link](javascript:alert(5))"):
        assert text in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert 'href="https://example.org/a?b=1&amp;c=2"' in page


def test_search_shows_titles_as_text(site):
    """The index holds them as they are; the script that shows them escapes them."""
    assert "linkEl.innerHTML = _escapeHTML(title)" in (site / "_static/searchtools.js").read_text(encoding="utf-8")


def test_the_decisive_line_is_marked(site):
    """One line of the log is."""
    page = (site / "signatures/a/b.html").read_text(encoding="utf-8")
    (line,) = [part for part in page.split("\n") if 'class="hll"' in part]
    assert "the lease was revoked" in line


def test_no_link_of_it_is_dead(site):
    """All that it links to is there."""
    assert dead(site) == []


def test_dead_links_are_found(tmp_path):
    """Files and anchors that are not there; what leads outside is not looked at."""
    (tmp_path / "a.html").write_text(
        '<a href="b.html"></a><a href="b.html#no"></a><a href="b.html#yes"></a><a href="gone.html"></a>'
        '<a href="https://example.org/gone"></a><img src="x.png"><a href="#top" id="top"></a>'
    )
    (tmp_path / "b.html").write_text('<p id="yes"></p>')
    assert dead(tmp_path) == ["a.html: b.html#no", "a.html: gone.html", "a.html: x.png"]


def test_every_option_of_every_command_is_in_the_reference():
    """Also those of `triage signatures ACTION`; usage does not depend on the terminal."""
    from docs_site.commands import below, options, parsers, sections

    from triage.cli import COMMANDS

    text = "\n".join(section.astext() for section in sections())
    found = [*parsers(), *(inner for parser in parsers() for inner in below(parser))]
    assert [parser.prog for parser in parsers()] == [f"triage {name}" for name in COMMANDS]
    for parser in found:
        assert parser.prog in text
        for action in options(parser):
            for spelling in action.option_strings:
                assert spelling in text, f"{parser.prog} {spelling}"


def test_every_label_of_a_report_is_explained():
    """The page names each label that stands in the kept reports of tests/report."""
    import re

    page = (ROOT / "docs/reading-a-report.md").read_text(encoding="utf-8")
    labels = set()
    for path in (ROOT / "tests/data/report").glob("*.txt"):
        labels |= set(re.findall(r"^  ([a-z][a-z ]{1,9}?)\d* {2,}\S", path.read_text(encoding="utf-8"), re.MULTILINE))
    assert len(labels) > 10
    assert sorted(label for label in labels if f"`{label.strip()}`" not in page and f"`{label}1`" not in page) == []
