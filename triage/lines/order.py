"""Newest-first logs, as Grafana, Cloud Logging and `journalctl -r` print them, are turned round."""

from __future__ import annotations

import pickle
import tempfile
from typing import TYPE_CHECKING

from triage.lines.learn import JSON
from triage.lines.prefixes import Known, Peeler, clock
from triage.lines.repair import decode
from triage.lines.said import Merger, Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.lines.build import Builder
    from triage.lines.decode import Unit

_LOOKED_AT = 400
_BATCH_BYTES = 16 << 20
_IN_MEMORY = 4
_SOME_YEAR = 1_750_000_000.0


def newest_first(units: list[Unit], builder: Builder) -> bool:
    """Take the head of a log; say whether its transport's time stamps fall. Inner stamps prove nothing."""
    times = [time for time in _times(units[:_LOOKED_AT], builder) if time is not None]
    falls = sum(after < before for before, after in zip(times, times[1:], strict=False))
    rises = sum(after > before for before, after in zip(times, times[1:], strict=False))
    return falls >= 2 and falls > 4 * rises


def _times(units: list[Unit], builder: Builder) -> Iterator[float | None]:
    timer = clock()
    timer.anchor = builder.clock.anchor or _SOME_YEAR
    peeler = Peeler(builder.learned, timer, Merger())
    nothing: Known = (Said(), None, False)
    for unit in units:
        if len(unit) == 2:
            yield unit[0].realtime / 1e6 if unit[0].realtime else None
            continue
        text = decode(unit)
        peeler.peel(text, 0, nothing)
        if peeler.outer_time is not None:
            yield peeler.outer_time
        elif JSON in builder.learned.rows:
            yield builder.time_in(text[peeler.rest :])


def reverse(units: Iterable[Unit]) -> Iterator[Unit]:
    """Take all units of a log; yield them the other way round. Beyond 64 MiB they wait in a temporary file."""
    batches: list[list[Unit]] = []
    spooled: list[int] = []
    batch: list[Unit] = []
    size = 0
    with tempfile.TemporaryFile(prefix="triage-") as spool:
        for unit in units:
            batch.append(unit)
            size += 2000 if len(unit) == 2 else len(unit[2]) + 100
            if size >= _BATCH_BYTES:
                batches.append(batch)
                batch, size = [], 0
                if len(batches) > _IN_MEMORY:
                    spooled.append(spool.tell())
                    pickle.dump(batches.pop(0), spool, pickle.HIGHEST_PROTOCOL)
        yield from reversed(batch)
        while batches:
            yield from reversed(batches.pop())
        while spooled:
            spool.seek(spooled.pop())
            # Written a moment ago by this process into an unnamed file that nobody else can open.
            yield from reversed(pickle.load(spool))
