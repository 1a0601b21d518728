"""What a unit writes to a file instead of the journal (StandardOutput=append:), as lines of that unit."""

from __future__ import annotations

import time
from pathlib import Path

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triage.model import Line

_PAUSE = 0.5


def blocks(path: str, skip: int) -> Iterator[bytes]:
    """Take a file, which need not be there yet, and how many bytes of it are older; yield what is written behind them.

    Raises `TriageError` for what is no plain text or can't be read.
    """
    from triage.sources.tail import tail

    file = Path(path)
    while not file.is_file() or not file.stat().st_size:
        skip = 0
        time.sleep(_PAUSE)
    yield from tail(path, skip if file.stat().st_size >= skip else 0)


class Output:
    """The lines of one such file. `due` is when those that wait for others are given out, on the monotonic clock."""

    def __init__(self, path: str, unit: str, now: Callable[[], float]) -> None:
        """Take the file, the unit that writes it, and what tells the host's time."""
        from triage.lines.live import LiveText

        self.due = float("inf")
        self._text = LiveText(path)
        self._unit = unit
        self._now = now

    def feed(self, block: bytes, invocation: str | None) -> list[Line]:
        """Take what was written, and by which invocation; return the lines that are whole."""
        self.due = time.monotonic() + _PAUSE
        return self._own(self._text.feed(block), invocation)

    def pause(self, invocation: str | None) -> list[Line]:
        """Nothing has come for a while: return the lines that waited."""
        self.due = float("inf")
        return self._own(self._text.pause(), invocation)

    def _own(self, lines: list[Line], invocation: str | None) -> list[Line]:
        """Make them lines of the unit, written now: a file's own stamps seldom say their zone."""
        for line in lines:
            line.unit, line.invocation, line.origin = self._unit, invocation, "service"
            line.time, line.zoned = self._now(), True
        return lines
