"""Whatever is cut off, thrown in or endless: never an exception, never without bounds."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.events.traceback import TracebackAssembler
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "tracebacks"
NAMES = sorted(path.stem for path in DATA.glob("*.log"))
HEAD = "Traceback (most recent call last):"
FRAME = '  File "/app/main.py", line 3, in run'
SOURCE = "    start(config)"
PIECES = [
    HEAD,
    f"Scheduler hit an exception: {HEAD}",
    FRAME,
    '  File "/app/other.py", line 7, in __init__',
    SOURCE,
    "          ^^^^^",
    "    ~~~^^^",
    "  [Previous line repeated 9 more times]",
    "ValueError: bad value",
    "KeyboardInterrupt",
    "Odd: text",
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
    "",
    '"""',
    "RuntimeError: raised in subprocess:",
    "ray.exceptions.RayTaskError(X): ray::f() (pid=1)",
    "  + Exception Group Traceback (most recent call last):",
    "  | ExceptionGroup: x (2 sub-exceptions)",
    "  +-+---------------- 1 ----------------",
    "    | ValueError: leaf",
    "    +------------------------------------",
    "plain text",
    r"'Traceback (most recent call last):\n  File \"a\", line 1, in f\nE: x'",
    "Process P-1:",
    "Stack (most recent call last):",
    "\t",
    "\x00",
]


def ends(line):
    return line.text == "Killed"


def read(lines):
    assembler = TracebackAssembler(ends)
    events = []
    for line in lines:
        assert assembler.feed(line) in {"stack", "message", None}
        events += assembler.drain()
    events += assembler.close()
    for event in events:
        assert event.kind == "exception"
        assert len(event.evidence) <= 12
        assert len(event.text) <= 2000
        assert event.exception.frames or event.exception.type
        assert event.assembly in {"exact", "inferred", "partial"}
    return events


@cache
def text_lines(name):
    return list(read_text([(0, (DATA / f"{name}.log").read_bytes())], name))


def lines_of(name):
    return [replace(line) for line in text_lines(name)]


def types(event):
    return {event.exception.type} | {link.type for link in event.exception.chain}


def told(events):
    return sorted(
        (e.exception.type, e.exception.message, e.exception.frames[-1].function if e.exception.frames else "")
        for e in events
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.booleans(), st.sampled_from("ab")), max_size=60))
def test_any_sequence_of_shapes(pieces):
    """The grammar broken in every way."""
    read([Line(text, stream, n, record=record, rank="TP0") for n, (text, record, stream) in enumerate(pieces)])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=30))
def test_any_text(texts):
    """Log text is anybody's."""
    read([Line(text, "s", n) for n, text in enumerate(texts)])


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([name for name in NAMES if not name.startswith("interleaved")]), st.data())
def test_cut_at_both_ends(name, data):
    """What is whole in the middle stays as it was; what is cut is said to be partial."""
    lines = lines_of(name)
    start = data.draw(st.integers(0, len(lines)))
    stop = data.draw(st.integers(start, len(lines)))
    whole = {name for event in read(lines) for name in types(event)}
    for event in read(lines[start:stop]):
        assert types(event) <= whole | {""}
        if event.assembly == "exact":
            assert "" not in types(event)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["interleaved-eight-ranks", "interleaved-four-ranks"]), st.data())
def test_interleaved_cut_at_both_ends(name, data):
    """Half a region is a region too."""
    lines = lines_of(name)
    start = data.draw(st.integers(0, len(lines)))
    read(lines[start : data.draw(st.integers(start, len(lines)))])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["journal-four-ranks", "logged-and-raised-again"]), min_size=1, max_size=3), st.data())
def test_streams_in_any_order(names, data):
    """Independent streams give the same tracebacks however their lines come mixed."""
    streams = []
    for number, name in enumerate(names):
        by_stream = {}
        for line in lines_of(name):
            line.stream = f"{number}/{line.stream}"
            by_stream.setdefault(line.stream, []).append(line)
        streams += by_stream.values()
    alone = told(event for lines in streams for event in read(lines))
    order = [n for n, lines in enumerate(streams) for _ in lines]
    random.Random(data.draw(st.integers(0, 2**32))).shuffle(order)
    waiting = [iter(lines) for lines in streams]
    mixed = [next(waiting[n]) for n in order]
    for number, line in enumerate(mixed, 1):
        line.number = number
    assert told(read(mixed)) == alone


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["journal-four-ranks", "wrapped-by-capture", "quoted-in-runtime-error"]), st.data())
def test_records_of_others_between(name, data):
    """Records of other writers inside a stack change nothing."""
    lines = lines_of(name)
    plain = told(read(lines))
    mixed = []
    inside = False
    for line in lines:
        waits = line.text.startswith(("  File", "    "))
        if inside and waits and data.draw(st.booleans()):
            mixed.append(Line("Decode batch, #running-req: 1", line.stream, 0, record=True, rank="TP9"))
        inside = waits
        mixed.append(line)
    for number, line in enumerate(mixed, 1):
        line.number = number
    assert told(read(mixed)) == plain


@pytest.mark.parametrize(
    "texts",
    [
        ["Decode batch, #running-req: 1"],
        [HEAD],
        [f"x: {HEAD}"],
        [FRAME],
        [HEAD, FRAME],
        [HEAD, FRAME, SOURCE, "ValueError: x"],
        [HEAD, FRAME, "ValueError: x", "more", "", "more"],
        [FRAME, SOURCE, "text", "ValueError: x"],
        ["  + Exception Group Traceback (most recent call last):", "  | x", "  +-+---------------- 1 ----------------"],
        [HEAD, FRAME, "x: y", "The above exception was the direct cause of the following exception:", ""],
    ],
)
def test_fifty_thousand_lines(texts):
    """Linear in the lines: the test would not end otherwise."""
    assembler = TracebackAssembler(ends)
    for number in range(50_000):
        assembler.feed(Line(texts[number % len(texts)], "s", number))
        if number % 1000 == 0:
            list(assembler.drain())
    list(assembler.close())


def test_memory_of_endless_frames():
    """The outermost and innermost lines of an endless recursion are kept, the rest is let go."""
    assembler = TracebackAssembler(ends)
    assembler.feed(Line(HEAD, "s", 0))
    tracemalloc.start()
    for number in range(300_000):
        assembler.feed(Line(f'  File "/app/main.py", line {number % 50 + 1}, in f', "s", number))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assembler.feed(Line("RecursionError: maximum recursion depth exceeded", "s", 300_001))
    (event,) = assembler.close()
    assert event.exception.type == "RecursionError"
    assert event.assembly == "partial"
    assert len(event.exception.frames) <= 400
    assert peak < 16 * 1024 * 1024


def test_streams_without_number():
    """Of thousands of open streams the oldest are closed as they are."""
    assembler = TracebackAssembler(ends)
    events = []
    for number in range(20_000):
        assembler.feed(Line(HEAD, f"s{number}", number))
        assembler.feed(Line(FRAME, f"s{number}", number))
        events += assembler.drain()
    assert len(events) > 15_000
    events += assembler.close()
    assert len(events) == 20_000
    assert {event.assembly for event in events} == {"partial"}


def test_more_open_tracebacks_than_can_be_told_apart():
    """Sixty-four at once; older ones are given up, partial."""
    assembler = TracebackAssembler(ends)
    for number in range(300):
        assembler.feed(Line(f"x: {HEAD}", "s", number, record=True, rank=f"TP{number}"))
        assembler.feed(Line(FRAME, "s", number))
    events = list(assembler.close())
    assert len(events) == 300
    assert {event.exception.type for event in events} == {""}


def test_line_of_fifty_megabytes():
    """Cut where it is kept."""
    huge = "x" * 50_000_000
    (event,) = read([Line(text, "s", 0) for text in [HEAD, FRAME, "    " + huge, "ValueError: " + huge, huge]])
    assert event.exception.type == "ValueError"
    assert len(event.exception.message) < 20_000


def test_long_literal_traceback():
    r"""Megabytes of `\n` in one line."""
    text = HEAD + r"\n  File \"/a.py\", line 1, in f\n    g()" * 200_000 + r"\nValueError: x"
    (event,) = read([Line(text, "s", 0)])
    assert event.assembly == "partial"
    assert len(event.exception.frames) <= 400
