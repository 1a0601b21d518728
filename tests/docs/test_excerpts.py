"""Pieces of fixtures: the lines that decided are marked, secrets and hosts are masked, nothing long or hidden is shown."""

import pytest

pytest.importorskip("sphinx")

from docs_site.excerpts import excerpt, excerpts

from triage.library import load
from triage.library.fixtures import fixtures

SIGNATURE = 'format: 1\nid: a/b\ntitle: "T"\ncause: "C."\nmatch: {log: {line: "the lease was revoked"}}\n'
NOISE = "".join(f"Nov 29 14:30:{n:02} gpu-node-07 sglang[7]: step {n}\n" for n in range(40))
LINE = "Nov 29 14:31:00 gpu-node-07 sglang[7]: the lease was revoked"


def made(place, log, name="x.log"):
    (place / "signatures/a").mkdir(parents=True, exist_ok=True)
    (place / "signatures/a/b.yaml").write_text(SIGNATURE)
    (place / "fixtures/a/b").mkdir(parents=True, exist_ok=True)
    (place / "fixtures/a/b" / name).write_bytes(log if isinstance(log, bytes) else log.encode())
    return load([place], standing=False)


def test_the_decisive_line_is_marked_and_the_rest_left_out(tmp_path):
    """Two lines before and after stay; how many are missing is said."""
    library = made(tmp_path, f"{NOISE}{LINE}\n{NOISE}")
    found = excerpts(tmp_path, library)["a/b"]
    (mark,) = found.marked
    assert found.lines[mark - 1].endswith("the lease was revoked")
    assert found.lines[0] == "[… 38 lines left out]"
    assert found.lines[-1] == "[… 38 lines left out]"
    assert len(found.lines) == 7


def test_hosts_and_secrets_are_masked(tmp_path):
    """Names of hosts and tokens become placeholders."""
    library = made(tmp_path, f"{LINE} token=hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789\n")
    text = "\n".join(excerpts(tmp_path, library)["a/b"].lines)
    assert "gpu-node-07" not in text
    assert "hf_AbCd" not in text


def test_hidden_and_endless_text_is_shown_short(tmp_path):
    """Control characters are written out, bytes that are no text are replaced, long lines are cut."""
    library = made(tmp_path, LINE.encode() + b" \x1b[2J \xff " + b"x" * 100_000 + b"\n")
    (line,) = excerpts(tmp_path, library)["a/b"].lines
    assert line.isprintable()
    assert len(line) <= 400


def test_plain_logs_are_shown_rather_than_json(tmp_path):
    """Of several fixtures the shortest that reads as a log is taken."""
    made(tmp_path, '{"log": "the lease was revoked\\n"}\n', "a.log")
    made(tmp_path, f"{NOISE}{LINE}\n", "long.log")
    library = made(tmp_path, f"{LINE}\n", "short.log")
    assert excerpts(tmp_path, library)["a/b"].fixture == "a/b/short.log"


def test_a_fixture_that_is_not_diagnosed_is_shown_unmarked(tmp_path):
    """The end of the log stands for it."""
    library = made(tmp_path, NOISE)
    found = excerpts(tmp_path, library)["a/b"]
    assert found.marked == ()
    assert "step 39" in found.lines[-1]


def test_a_real_fixture_is_marked_where_the_report_points():
    """The exception of the demo's signature, once, although several ranks raised it."""
    from docs_site.pages import ROOT

    library = load(standing=False)
    (fixture,) = [one for one in fixtures(ROOT) if one.name == "sglang/pp-triton-layer0-value-buffer/pp8.log"]
    found = excerpt(fixture, library)
    marked = [found.lines[number - 1] for number in found.marked]
    assert marked[-1] == "IndexError: list index out of range"
    assert sum("IndexError" in line for line in marked) == 1
    assert found.phase == "kv-pool"
