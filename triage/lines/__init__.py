"""Raw lines and journal entries -> `Line`: what was written, and what its prefixes say of it.

`read_text` reads what people paste or pipe in: plain logs, journalctl's output in any format, container logs, JSON
lines, in any nesting of prefixes. `read_entries` reads the journal itself.
"""

from __future__ import annotations

from itertools import chain, islice

from triage.lines.build import Builder
from triage.lines.decode import Grouper, containers
from triage.lines.indent import indented
from triage.lines.learn import Votes
from triage.lines.order import newest_first, reverse
from triage.lines.repair import LONGEST_TEXT, as_utf8, decode, physical, plain, raw_of
from triage.lines.rows import clock
from triage.lines.unwrap import unwrapped
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.lines.decode import Unit
    from triage.lines.repair import Physical
    from triage.model import Entry, Line

_WINDOW_LINES = 2000
_WINDOW_BYTES = 1 << 20
_STEP = 20
_SAMPLE = 200
_LONGEST_SAMPLE = 400
_LIVE_VOTES = (4, 16, 64, 256, 1024)


def read_text(blocks: Iterable[tuple[int, bytes]], source: str) -> Iterator[Line]:
    """Take blocks of (byte offset, bytes) in ascending order, and the source's name; yield its lines.

    A physical line may be spread over blocks that follow each other without a gap. About the first 2,000 lines are
    looked at before the first line comes, to learn which prefixes the log has. Lines come oldest first, whatever the
    order of the input. Nothing is raised on any input.
    """
    builder = Builder(source, clock())
    votes = Votes(builder.learned, builder.clock)
    grouper = Grouper()
    windows = _windows(indented(unwrapped(physical(as_utf8(blocks)))))
    first = next(windows, None)
    if first is None:
        return
    grouper.known |= containers(first)
    head = grouper.feed(first)
    if votes.count(_texts(head, len(head))):
        builder.refresh()
    batches: Iterable[list[Unit]] = chain([head], _group(windows, grouper))
    if newest_first(head, builder, votes.begins_record):
        batches = reverse(batches)
    out: list[Line] = []
    text = builder.text
    for batch in batches:
        if batch is not head and votes.count(_texts(batch, _SAMPLE)):
            builder.refresh()
        for unit in batch:
            if len(unit) == 2:
                builder.entry(unit[0], unit[1], out)
            else:
                text(unit, out)
        yield from out
        out.clear()
    builder.finish(out)
    yield from out


def read_entries(entries: Iterable[Entry], source: str, *, live: bool = False) -> Iterator[Line]:
    """Take journal entries, oldest first, and the source's name; yield their lines.

    Entries are looked at by the thousand before their lines come, to learn which prefixes the service's own output
    has; with `live` each entry's lines come at once.
    """
    builder = Builder(source, clock())
    votes = Votes(builder.learned, builder.clock)
    out: list[Line] = []
    if live:
        seen: list[str] = []
        for entry in entries:
            if len(seen) < _LIVE_VOTES[-1]:
                seen.append(_enough(_message(entry)))
                if len(seen) in _LIVE_VOTES and votes.count(seen):
                    builder.refresh()
            builder.entry(entry, None, out)
            yield from out
            out.clear()
        builder.finish(out)
        yield from out
        return
    stream = iter(entries)
    sample = _WINDOW_LINES
    while window := list(islice(stream, _WINDOW_LINES)):
        step = max(1, len(window) // sample)
        if votes.count([_enough(_message(entry)) for entry in window[::step]]):
            builder.refresh()
        sample = _SAMPLE
        for entry in window:
            builder.entry(entry, None, out)
        yield from out
        out.clear()
    builder.finish(out)
    yield from out


def _windows(lines: Iterator[Physical]) -> Iterator[list[Physical]]:
    """Cut the lines into windows, by their number and size only, so that blocks do not matter."""
    window: list[Physical] = []
    size = 0
    while some := list(islice(lines, _STEP)):
        window += some
        size += sum(map(len, map(raw_of, some)))
        if len(window) >= _WINDOW_LINES or size >= _WINDOW_BYTES:
            yield window
            window, size = [], 0
    if window:
        yield window


def _group(windows: Iterator[list[Physical]], grouper: Grouper) -> Iterator[list[Unit]]:
    for window in windows:
        grouper.known |= containers(window[:: max(1, len(window) // _SAMPLE)])
        yield grouper.feed(window)
    yield grouper.finish()


def _texts(units: list[Unit], most: int) -> list[str]:
    step = max(1, len(units) // max(1, most))
    texts = [_message(unit[0]) if len(unit) == 2 else decode(unit) for unit in units[::step]]
    return list(map(_enough, texts)) if max(map(len, texts), default=0) > _LONGEST_SAMPLE else texts


def _message(entry: Entry) -> str:
    return plain(entry.fields.get("MESSAGE", ""))


def _enough(text: str) -> str:
    """Return as much of a line as a vote needs: prefixes stand at its beginning, but a JSON line is looked at whole."""
    return text[:LONGEST_TEXT] if text.endswith("}") else text[:_LONGEST_SAMPLE]
