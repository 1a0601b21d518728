"""Newest-first logs, as Grafana, Cloud Logging and `journalctl -r` print them, are turned round."""

from __future__ import annotations

from triage.lines.learn import JSON
from triage.lines.prefixes import Known, Peeler
from triage.lines.repair import decode
from triage.lines.rows import clock
from triage.lines.said import Merger, Said
from triage.model import Entry
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triage.lines.build import Builder
    from triage.lines.decode import Unit

_LOOKED_AT = 400
_IN_MEMORY = 64 << 20
_STORED_ENTRY = 6
_SOME_YEAR = 1_750_000_000.0


def newest_first(units: list[Unit], builder: Builder, begins_record: Callable[[str], bool]) -> bool:
    """Take the head of a log, and what may know of a line that a record begins it, so that it has no transport; say
    whether its transport's time stamps fall. Inner stamps prove nothing.
    """
    looked_at = units[:_LOOKED_AT]
    falls = rises = 0
    before: float | None = None
    for left, time in zip(range(len(looked_at), 0, -1), _times(looked_at, builder, begins_record), strict=True):
        if before is not None and time is not None:
            falls += time < before
            rises += time > before
            if 4 * rises >= falls + left:
                # Whatever else comes, they do not fall.
                return False
        before = before if time is None else time
    return falls >= 2 and falls > 4 * rises


def _times(units: list[Unit], builder: Builder, begins_record: Callable[[str], bool]) -> Iterator[float | None]:
    timer = clock()
    timer.anchor = builder.clock.anchor or _SOME_YEAR
    peeler: Peeler | None = None
    json = JSON in builder.learned.rows
    nothing: Known = (Said(), None, False)
    for unit in units:
        if len(unit) == 2:
            yield unit[0].realtime / 1e6 if unit[0].realtime else None
            continue
        text = decode(unit)
        if not json and begins_record(text):
            yield None
            continue
        if peeler is None:
            peeler = Peeler(builder.learned, timer, Merger())
        peeler.peel(text, 0, nothing)
        if peeler.outer_time is None and json:
            yield builder.time_in(text[peeler.rest :])
        else:
            yield peeler.outer_time


def reverse(batches: Iterable[list[Unit]]) -> Iterator[list[Unit]]:
    """Take all batches of a log; yield them the other way round. Beyond 64 MiB they wait in a temporary file."""
    import json
    import tempfile

    kept: list[list[Unit]] = []
    spooled: list[int] = []
    size = 0
    with tempfile.TemporaryFile("w+", prefix="triage-", encoding="utf-8") as spool:
        for batch in batches:
            kept.append(batch[::-1])
            size += sum(2000 if len(unit) == 2 else unit[3] + 100 for unit in batch)
            if size > _IN_MEMORY:
                for each in kept:
                    spooled.append(spool.tell())
                    spool.write(json.dumps([_stored(unit) for unit in each]) + "\n")
                kept, size = [], 0
        while kept:
            yield kept.pop()
        while spooled:
            spool.seek(spooled.pop())
            yield [_restored(each) for each in json.loads(spool.readline())]


def _stored(unit: Unit) -> list[Any]:
    if len(unit) == 2:
        entry, number = unit
        return [entry.fields, entry.realtime, entry.cursor, entry.offset, number, "entry"]
    offset, number, raw, size, special = unit
    return [offset, number, raw.decode("latin-1"), size, special]


def _restored(stored: list[Any]) -> Unit:
    if len(stored) == _STORED_ENTRY:
        fields, realtime, cursor, offset, number, _ = stored
        return Entry(fields, realtime, cursor, offset), number
    offset, number, raw, size, special = stored
    return offset, number, raw.encode("latin-1"), size, special
