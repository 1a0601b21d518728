"""The report for an issue: nothing in it acts, nobody is named."""

import re

from hypothesis import given
from hypothesis import strategies as st

from triage.report import render
from triage.report.items import Block, Item, Section, View
from triage.report.markdown import render as markdown


def test_a_report_looks_as_it_did(reports, golden):
    """TRIAGE_BLESS=1 approves a new look."""
    golden("pp8-file.md", render(reports["pp8-file"](), "markdown", all_failures=True))


def test_hosts_do_not_show(reports):
    """An issue does not name machines."""
    assert "gpu-node-07" not in render(reports["pp8-unit"](), "markdown")
    assert "gpu-node-07" in render(reports["pp8-unit"](), "markdown", mask=False)


def outside(text):
    """Return what stands neither in a fence nor in a code span."""
    prose, fence = [], None
    for line in text.split("\n"):
        bare = line.strip()
        if fence is None and re.fullmatch("`{3,}[^`]*", bare):
            fence = re.match("`+", bare)[0]
        elif fence is not None and bare == fence:
            fence = None
        elif fence is None:
            prose.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    assert fence is None
    return "\n".join(prose)


def test_hostile_text_is_code(hostile):
    """Markup, mentions and HTML of a log stand in code, every fence is closed, only our own tags and links are left."""
    prose = outside(render(hostile, "markdown", all_failures=True))
    prose = re.sub(r"</?details>|</?summary>|<https://github\.com/sgl-project/sglang/pull/30340>", "", prose)
    assert not re.search(r"[<>`@#$|\[\]]", prose.replace("### ", "", 1))


def test_hostile_text_cannot_open_a_block(hostile):
    """No line begins as a heading, a list or a rule that is not the report's own."""
    for line in outside(render(hostile, "markdown")).split("\n"):
        assert not re.match(r"\s*(?:#{1,6} (?!.*failed)|[-=+*]{3,}|\d+[.)] |> )", line), line


@given(st.lists(st.text(alphabet="`~ab \n"), min_size=1))
def test_fences_hold_any_backticks(lines):
    """A log of backticks can't close its fence."""
    items = [Item("log", line) for line in lines] + [Item("log", "last")]
    text = markdown(View([Block("failed", "x", [Section("evidence", items, "lines")])], "triage"))
    assert "last" not in outside(text)


@given(st.text(alphabet="`ab *_<@\\ \n.1-#"))
def test_prose_holds_any_backticks(words):
    """In prose nothing but code spans can hold markup."""
    text = markdown(View([Block("failed", "x", [Section("cause", [Item("prose", words)], "cause")])], "triage"))
    assert not re.search(r"[<@#\\]", outside(text).replace("### x", ""))
