"""Lines of a text that is still being written."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.lines import read_text
from triage.lines.live import LiveText
from triage.lines.repair import LONGEST_RAW

ROOT = Path(__file__).parents[2]
DEMO = (ROOT / "demo" / "sglang-pp8.log").read_bytes()[:60_000]


def said(line):
    return line.text, line.stream, line.rank, line.pid, line.time, line.origin, line.offset


def live(pieces, name="x.log"):
    text = LiveText(name)
    found = [line for piece in pieces for line in text.feed(piece)]
    return found + text.finish()


def cut(raw, places):
    bounds = [0, *sorted(place % (len(raw) + 1) for place in places), len(raw)]
    return [raw[a:b] for a, b in pairwise(bounds)]


@given(st.lists(st.integers(0, 1 << 20), max_size=12))
@settings(max_examples=25, deadline=None)
def test_lines_are_those_of_the_whole_text_however_it_comes(places):
    """In pieces of any size, cut anywhere: also within a character or a line."""
    assert [said(line) for line in live(cut(DEMO, places))] == [said(line) for line in read_text([(0, DEMO)], "x.log")]


@given(st.lists(st.binary(max_size=60), max_size=30))
def test_any_bytes_give_the_same_texts_in_any_pieces(pieces):
    """NUL bytes, escapes, broken UTF-8: nothing is raised and nothing is lost."""
    whole = b"".join(pieces)
    assert [line.offset for line in live(pieces)] == [line.offset for line in live([whole])]
    assert [line.text for line in live(pieces)] == [line.text for line in live([whole])]


def test_the_first_lines_wait_for_each_other():
    """What prefixes a log has is not told by one line."""
    text = LiveText("x.log")
    assert text.feed(b"[2026-05-25 21:41:38 TP0] one\n") == []
    assert [line.text for line in text.pause()] == ["one"]
    assert [line.text for line in text.feed(b"[2026-05-25 21:41:38 TP0] line\n" * 20)] == ["line"] * 20


def test_a_line_without_its_end_waits_for_it():
    """However long its writer pauses, until nothing more will come."""
    text = LiveText("x.log")
    text.feed(b"line\n" * 20)
    assert text.feed(b"half a ") == []
    assert text.pause() == []
    assert [line.text for line in text.feed(b"line\nnext")] == ["half a line"]
    assert [(line.text, line.offset) for line in text.finish()] == [("next", 112)]


def test_a_line_that_never_ends_is_given_out_in_pieces():
    """So that it does not fill the memory."""
    text = LiveText("x.log")
    text.feed(b"line\n" * 20)
    lines = [line for _ in range(40) for line in text.feed(b"x" * (LONGEST_RAW // 16))]
    assert 1 <= len(lines) <= 3


@pytest.mark.parametrize("form", ["short", "json", "export", "with-unit"])
def test_what_journalctl_prints_while_it_follows_is_read(form):
    """`journalctl -f -o ...`, in every form: unit, rank and text."""
    import lzma

    raw = lzma.decompress((ROOT / f"tests/data/journals/pp8.{form}.xz").read_bytes())[:200_000]
    raw = raw[: raw.rfind(b"\n\n" if form == "export" else b"\n") + 2]
    whole = [said(line) for line in read_text([(0, raw)], "x")]
    assert [said(line) for line in live(cut(raw, range(0, len(raw), 4096)), "x")] == whole
