"""Tracebacks that repeat are counted, not read: what is said of the log stays the same."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import repeats as module
from triage.events import Extraction, extract
from triage.lines import read_text
from triage.repeats import Repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILURES = {
    "KeyError: 'abc'": ("a", "b"),
    "RuntimeError: out of memory, 12 MiB (request {id})": ("a", "c", "c", "d"),
    "ValueError: too long\nby far": ("b", "d"),
}


def _traceback(number: int, exception: str, calls: tuple[str, ...], chance: random.Random) -> str:
    lines = [f"[2026-05-25 21:{number // 60 % 60:02}:{number % 60:02} TP{chance.randrange(3)}] Oh: "]
    lines[0] += "Traceback (most recent call last):"
    for call in calls:
        lines += [f'  File "/srv/x/{call}.py", line 7, in {call}', f"    {call}(1)"]
        if chance.random() < 0.4:
            lines.append("    ^^^^")
    lines.append(exception.format(id=f"{chance.randrange(1 << 40) + (1 << 40):x}"))
    return "\n".join([*lines, "", ""])


def _log(seed: int, size: int, chatter: float) -> bytes:
    chance = random.Random(seed)
    parts = []
    for number in range(size):
        parts.append(_traceback(number, *chance.choice(list(FAILURES.items())), chance))
        if chance.random() < chatter:
            parts.append(f"[2026-05-25 21:{number // 60 % 60:02}:{number % 60:02} TP1] 17 requests wait\n")
    return "".join(parts).encode()


def _blocks(data: bytes, size: int, gap: int = 0) -> Iterator[tuple[int, bytes]]:
    for at in range(0, len(data), size):
        if not gap or at // size % gap != gap - 1:
            yield at, data[at : at + size]


def _counts(extraction: Extraction) -> dict[str, tuple[int, int]]:
    """For each exception, how often it was raised, and where it was last."""
    found: dict[str, tuple[int, int]] = {}
    for event in extraction.events:
        if event.exception is not None and event.rule == "traceback":
            before = found.get(event.exception.type, (0, 0))
            end = int(event.end or 0)
            found[event.exception.type] = (before[0] + 1 + int(event.data.get("repeats", "0")), max(before[1], end))
    return found


@pytest.mark.parametrize("chatter", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("size", [3000, 1 << 16])
def test_what_is_counted_counts_as_what_is_read(chatter: float, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every exception is told as often as it stands in the log, and until when, though most are not read."""
    monkeypatch.setattr(module, "_COUNTED", 50_000)
    data = _log(3, 1500, chatter)
    whole = extract(read_text(_blocks(data, size), "x"))
    repeats = Repeats()
    thinned = extract(read_text(repeats.thin(_blocks(data, size)), "x"), (), repeats)
    assert _counts(thinned) == _counts(whole)
    assert [e.at.offset for e in thinned.events] == [e.at.offset for e in whole.events]
    assert thinned.lines < whole.lines
    assert {track.rank for track in thinned.tracks} == {track.rank for track in whole.tracks}


def test_the_last_lines_of_a_writer_are_read() -> None:
    """Which rank spoke last, and when, is what silence is told by."""
    data = _log(5, 1200, 0.0)
    repeats = Repeats()
    thinned = extract(read_text(repeats.thin(_blocks(data, 4096)), "x"), (), repeats)
    whole = extract(read_text(_blocks(data, 4096), "x"))
    last = {track.rank: track.last.at.offset for track in whole.tracks}
    assert {track.rank: track.last.at.offset for track in thinned.tracks} == last


def test_chains_are_read() -> None:
    """What stands between two tracebacks of one chain is no end of the first."""
    chance = random.Random(1)
    joint = "\nDuring handling of the above exception, another exception occurred:\n\n"
    bare = 'Traceback (most recent call last):\n  File "/srv/x/e.py", line 3, in e\n    e()\nOSError: no\n\n'
    data = "".join(
        _traceback(number, "KeyError: 1", ("a",), chance).rstrip("\n") + "\n" + joint + bare if number % 2 else bare
        for number in range(600)
    ).encode()
    repeats = Repeats()
    thinned = extract(read_text(repeats.thin(_blocks(data, 4096)), "x"), (), repeats)
    whole = extract(read_text(_blocks(data, 4096), "x"))
    assert _counts(thinned) == _counts(whole)
    kept = [(e.at.offset, len(e.exception.chain)) for e in whole.events if e.exception]
    assert [(e.at.offset, len(e.exception.chain)) for e in thinned.events if e.exception] == kept


@given(st.integers(0, 99), st.integers(1, 9000), st.integers(0, 5))
def test_what_was_not_read_before_is_passed_on(seed: int, size: int, gap: int) -> None:
    """Whatever the blocks and the gaps between them, each byte comes once, in its place."""
    blocks = list(_blocks(_log(seed, 12, 0.5), size, gap))
    passed = list(Repeats().thin(blocks))
    assert b"".join(data for _, data in passed) == b"".join(data for _, data in blocks)
    offset = 0
    for at, data in passed:
        assert at >= offset
        offset = at + len(data)
    held = {at + n: byte for at, data in blocks for n, byte in enumerate(data)}
    assert all(held[at] == data[0] for at, data in passed if data)
