"""Kinds of message: which lines are of one kind, and that counting by bytes finds what reading all finds."""

from collections import Counter as Tally

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.compare import kinds
from triage.compare.kinds import Counter, known, only_here, severity, shape
from triage.lines import read_text
from triage.model import Line

HEAD = "[2026-05-25 21:41:{0:02} TP{1}] "


def every(line):
    return True


def found(good, bad):
    """The kinds that only the bad text has, with how often each came."""
    counter = Counter()
    others = known(read_text(Counter().blocks([good.encode()]), "good"), every)
    bads = read_text(counter.blocks([bad.encode()]), "bad")
    return [(kind.line.text, kind.count) for kind in only_here(bads, every, others, counter)]


def test_numbers_times_ranks_paths_and_quotes_make_no_kind():
    """They differ from run to run."""
    texts = [
        "TP3 loads 'model-00001.safetensors' from /models/a in 3.5 s",
        "TP0 loads 'model-00140.safetensors' from /models/bcd/e in 12 s",
    ]
    assert len({shape(Line(text, "a", 0)) for text in texts}) == 1
    assert shape(Line("KeyError in scheduler", "a", 0)) != shape(Line("TypeError in scheduler", "a", 0))


def test_parts_of_tracebacks_and_stacks_are_no_kinds():
    """They are told as failures."""
    for text in (
        "  File 'a.py', line 3, in f",
        "Traceback (most recent call last):",
        "frame #12: foo + 0x1",
        "^^^^",
        "",
    ):
        assert shape(Line(text, "a", 0)) is None
    assert shape(Line("said by another program", "a", 0, origin="other")) is None


def test_a_line_says_how_bad_it_is():
    """By its words, or by the severity that came with it, whichever is worse."""
    texts = {
        "FATAL: gone": 2,
        "an error occurred": 3,
        "RuntimeError: x": 3,
        "UserWarning: x": 4,
        "Load weight begin": 6,
    }
    assert {text: severity(Line(text, "a", 0)) for text in texts} == texts
    assert severity(Line("Load weight begin", "a", 0, severity=4)) == 4
    assert severity(Line("an error occurred", "a", 0, severity=6)) == 3


def test_kinds_that_both_have_are_left_out():
    """Whatever their numbers; the rest stands by severity, then by how rare it is."""
    good = "".join(HEAD.format(n, n % 2) + f"Decode batch. #running-req: {n}\n" for n in range(40))
    bad = (
        good.replace("Decode batch", "Decode batch")
        + 3 * "slow request 12\n"
        + "odd thing\n"
        + "ERROR: boom 7\nERROR: boom 8\n"
    )
    assert found(good, bad) == [("ERROR: boom 7", 2), ("odd thing", 1), ("slow request 12", 3)]


@given(
    st.lists(
        st.tuples(st.sampled_from(["alpha", "beta {}", "Error {} of {}", "x" * 40]), st.integers(0, 999)), max_size=60
    )
)
@settings(deadline=None)
def test_counting_by_bytes_is_counting_every_line(rows):
    """Few lines are read, all are counted."""
    text = "".join(f"[2026-05-25 21:41:{n % 60:02}] {word.format(n, n)}\n" for word, n in rows)
    tally = Tally(shape(line) for line in read_text([(0, text.encode())], "x"))
    del tally[None]
    counts = {shape(Line(line, "a", 0)): count for line, count in found("", text)}
    assert counts == dict(tally)


def test_lines_beyond_those_remembered_are_counted_too(monkeypatch):
    """Each is read for itself then."""
    monkeypatch.setattr(kinds, "_MOST_LINES", 2)
    text = "one\ntwo\n" + "three\n" * 5 + "one\n"
    assert sorted(found("", text)) == [("one", 2), ("three", 5), ("two", 1)]


def test_kinds_are_bounded(monkeypatch):
    """A log in which every line is new fills no memory."""
    monkeypatch.setattr(kinds, "_MOST_KINDS", 10)
    text = "".join(f"{chr(97 + n % 26) * (1 + n // 26)} word\n" for n in range(100))
    assert len(found("", text)) == 10


def test_a_run_begins_where_it_begins():
    """Lines of the attempt before are not counted."""
    text = "ERROR: early\nERROR: late\n"
    counter = Counter()
    lines = read_text(counter.blocks([text.encode()], text.index("ERROR: late")), "bad")
    assert [(kind.line.text, kind.count) for kind in only_here(lines, every, set(), counter)] == [("ERROR: late", 1)]


def test_a_text_whose_entries_are_spread_over_lines_is_read_whole():
    """journalctl -o export."""
    entry = (
        "__CURSOR=s=1;i={0}\n__REALTIME_TIMESTAMP=179596171900000{0}\n_PID=42\n_SYSTEMD_UNIT=a.service\nMESSAGE={1}\n\n"
    )
    text = "".join(entry.format(n, "ERROR: boom" if n > 3 else "fine") for n in range(6))
    assert found("", text) == [("ERROR: boom", 2), ("fine", 4)]


@given(st.lists(st.binary(max_size=50), max_size=20))
@settings(deadline=None)
def test_any_bytes_raise_nothing(pieces):
    """NUL bytes, carriage returns, broken UTF-8."""
    counter = Counter()
    only_here(read_text(counter.blocks(pieces), "x"), every, set(), counter)
