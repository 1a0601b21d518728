"""Lines of a text, or of a journal, that is still being written, as they come.

What prefixes a log has is learned from the first lines; so the first few wait until there are enough of them, or until
nothing more comes for a while.
"""

from __future__ import annotations

from triage.lines.build import Builder
from triage.lines.decode import Grouper, containers
from triage.lines.learn import Votes
from triage.lines.repair import LONGEST_RAW, decode, physical, plain
from triage.lines.rows import clock
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.lines.decode import Unit
    from triage.model import Entry, Line

_ENOUGH = 20
# What fewer lines look like proves nothing.
_FEW = 3
_VOTES = (20, 100, 500, 2000)
_ENTRY_VOTES = (4, 16, 64, 256, 1024)
_SAMPLE = 2000
_LONGEST_SAMPLE = 400


class LiveText:
    """Takes blocks of bytes as they are written; gives out the lines that are whole."""

    def __init__(self, source: str) -> None:
        """Take the source's name."""
        self._builder = Builder(source, clock())
        self._votes = Votes(self._builder.learned, self._builder.clock)
        self._grouper = Grouper()
        self._seen: list[str] = []
        self._waiting: list[Unit] = []
        self._rest: list[bytes] = []
        self._held = 0
        self._offset = 0

    def feed(self, block: bytes) -> list[Line]:
        """Take the next bytes; return the lines that they complete. Nothing is raised on any input."""
        end = block.rfind(b"\n") + 1
        if not end and self._held + len(block) <= LONGEST_RAW:
            self._keep(block)
            return []
        whole = b"".join((*self._rest, block[: end or len(block)]))
        self._rest, self._held = [], 0
        if block[end:] and end:
            self._keep(block[end:])
        return self._lines(whole)

    def pause(self) -> list[Line]:
        """Nothing more has come for a while: return the lines that waited for others. Half a line goes on waiting."""
        lines = self._lines(b"", last=True)
        self._builder.finish(lines)
        return lines

    def finish(self) -> list[Line]:
        """Nothing more will come: return all that is left."""
        whole = b"".join(self._rest)
        self._rest, self._held = [], 0
        lines = self._lines(whole, last=True)
        self._builder.finish(lines)
        return lines

    def _keep(self, piece: bytes) -> None:
        self._rest.append(piece)
        self._held += len(piece)

    def _lines(self, whole: bytes, *, last: bool = False) -> list[Line]:
        found = list(physical([(self._offset, whole)])) if whole else []
        self._offset += len(whole)
        if found:
            self._grouper.known |= containers(found[:_SAMPLE])
        units = self._grouper.feed(found)
        if last:
            units += self._grouper.finish()
        self._waiting += units
        self._learn(units)
        if last and _FEW <= len(self._seen) < _ENOUGH and self._votes.count(self._seen):
            self._builder.refresh()
        if not last and len(self._seen) < _ENOUGH:
            return []
        out: list[Line] = []
        for unit in self._waiting:
            if len(unit) == 2:
                self._builder.entry(unit[0], unit[1], out)
            else:
                self._builder.text(unit, out)
        self._waiting = []
        return out

    def _learn(self, units: list[Unit]) -> None:
        """Vote on prefixes each time that so many lines have been seen."""
        before = len(self._seen)
        if before >= _VOTES[-1]:
            return
        for unit in units[: _VOTES[-1] - before]:
            text = plain(unit[0].fields.get("MESSAGE", "")) if len(unit) == 2 else decode(unit)
            self._seen.append(text if text.endswith("}") else text[:_LONGEST_SAMPLE])
        if any(before < size <= len(self._seen) for size in _VOTES) and self._votes.count(self._seen):
            self._builder.refresh()


class LiveEntries:
    """Takes journal entries as they are written; gives out their lines at once."""

    def __init__(self, source: str) -> None:
        """Take the source's name."""
        self._builder = Builder(source, clock())
        self._votes = Votes(self._builder.learned, self._builder.clock)
        self._seen: list[str] = []
        self._number = 0

    def feed(self, entries: Iterable[Entry]) -> list[Line]:
        """Take the next entries; return their lines; pieces of a line that was split wait for the last one."""
        out: list[Line] = []
        for entry in entries:
            if len(self._seen) < _ENTRY_VOTES[-1]:
                self._learn(plain(entry.fields.get("MESSAGE", "")))
            entry.offset = self._number
            self._number += 1
            self._builder.entry(entry, None, out)
        return out

    def pause(self) -> list[Line]:
        """Nothing more has come for a while: return the lines that waited for their ends."""
        lines: list[Line] = []
        self._builder.finish(lines)
        return lines

    def finish(self) -> list[Line]:
        """Nothing more will come: return all that is left."""
        return self.pause()

    def _learn(self, text: str) -> None:
        """Vote on prefixes each time that so many entries have been seen."""
        self._seen.append(text if text.endswith("}") else text[:_LONGEST_SAMPLE])
        if len(self._seen) in _ENTRY_VOTES and self._votes.count(self._seen):
            self._builder.refresh()
