"""Lines that are passed by without a closer look: the answer is that of the closer look."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from triage.lines import order, read_text
from triage.lines.decode import containers
from triage.lines.order import newest_first
from triage.lines.prefixes import Peeler
from triage.lines.repair import physical
from triage.lines.rows import Learned, beginning, clock, rows
from triage.lines.said import Merger, Said

HEADS = [
    "[2026-05-25 21:41:38 PP3] ", "[2026-05-25 21:41:39 PP3] ", "[2026-05-25 21:41:38] ", "[2026-05-25 21:41:38.250] ",
    "[2026-05-25 21:41:38 PP3]", "[1969-05-25 21:41:38 PP3] ", "2026-05-25T21:41:38Z ", "[rank3]: ", "(Worker pid=7) ",
    "May 25 21:41:38 host sglang[7]: ", "May 25 21:41:38 host kernel: ", "web-1  | ", "",
]  # fmt: skip
TEXTS = [
    "Decode batch, #running-req: 3", "INFO:     Started", "[2026-05-25 21:41:40 PP3] again", "a:1:2 [3] NCCL WARN down",
    "[gpu=3] hello", "E0525 21:41:38.000000 7 a.cc:9] x", '{"log": "x"}', "Traceback (most recent call last):", "",
    '  File "a.py", line 3, in f', "\u00e4nderte sich",
]  # fmt: skip
LINES = st.lists(
    st.builds(lambda head, second, text: head + second + text, *map(st.sampled_from, (HEADS, HEADS, TEXTS))),
    max_size=30,
)
FOUND = ("said", "outer", "time", "outer_time", "zoned", "stamp", "rest", "margin", "cut", "partial", "suffix")


def peeled(peeler, text):
    peeler.peel(text, 0, (Said(), None, False))
    return [vars_of(getattr(peeler, name)) for name in FOUND]


def vars_of(value):
    return {name: getattr(value, name) for name in Said.__slots__} if isinstance(value, Said) else value


@given(LINES, st.booleans())
@settings(deadline=None)
def test_the_short_way_says_what_the_long_way_says(texts, everything):
    """A head that was seen before is taken off without a closer look, and nothing else comes of it."""
    short = Peeler(Learned(everything=everything), clock(), Merger())
    long = Peeler(Learned(everything=everything), clock(), Merger())
    long.plain_head = lambda *_: None
    for text in texts * 2:
        assert peeled(short, text) == peeled(long, text)


@given(LINES)
@settings(deadline=None)
def test_a_line_that_begins_a_record_has_no_prefix_that_needs_a_vote(texts):
    """Votes pass such lines by, so they must not find anything in them."""
    peeler = Peeler(Learned(everything=True), clock(), Merger())
    for text in texts * 2:
        passed_by = peeler.begins_record(text)
        peeler.hits = []
        peeler.peel(text, 0, (Said(), None, False))
        assert not passed_by or not any(row.learn for row, _ in peeler.hits)
        assert not passed_by or peeler.outer_time is None


@given(st.text(max_size=4))
def test_rows_by_their_first_characters_are_those_that_may_begin_so(first):
    """The index of rows by their first character leaves none out."""
    assert beginning(first) == tuple(row for row in rows() if row.need is None and row.may_begin(first))


@given(st.lists(st.sampled_from([None, 1.0, 2.0, 3.0, 4.0]), max_size=40), st.booleans())
@example([1.0, 2.0, 3.0, 2.0, 1.0] * 4, False)
def test_an_order_that_is_clear_early_is_the_one_of_all_lines(times, falling):
    """Looking ends when whatever comes cannot make the stamps fall; the answer is that of all stamps."""
    times = sorted(times, key=lambda time: -(time or 9.0)) if falling else times
    told = [time for time in times if time is not None]
    steps = [after - before for before, after in pairwise(told)]
    falls, rises = sum(step < 0 for step in steps), sum(step > 0 for step in steps)
    before = order._times
    order._times = lambda *_: iter(times)
    try:
        assert newest_first([(0, 1, b"", 1, False)] * len(times), None, lambda _: False) == (
            falls >= 2 and falls > 4 * rises
        )
    finally:
        order._times = before


@given(
    st.lists(
        st.sampled_from(["A=1", "__CURSOR=x", "    A=1", "{", "[ {", '  "A": 1', "x {", "B {\r", "plain"]), max_size=9
    )
)
def test_containers_need_a_first_line(texts):
    """Without a first line of a container no line is counted; with one the others must be its fields."""
    found = containers(list(physical([(0, "\n".join(texts).encode())])))
    assert ("export" in found) <= any(text.startswith("__CURSOR=") for text in texts)
    assert ("pretty" in found) <= any(text.rstrip("\r") in ("{", "[ {") for text in texts)
    assert found <= {"export", "pretty"}


@given(LINES, st.integers(1, 50))
@settings(deadline=None, max_examples=50)
def test_lines_do_not_depend_on_how_they_come(texts, size):
    """Heads that were seen before are remembered over blocks, and blocks change nothing."""
    raw = "\n".join(texts * 3).encode()
    blocks = [(at, raw[at : at + size]) for at in range(0, len(raw), size)]
    assert list(read_text(blocks, "log")) == list(read_text([(0, raw)] if raw else [], "log"))
