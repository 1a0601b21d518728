"""The fast way through a large journal: what to read of it is found in the files' bytes, then read through libsystemd.

The same entries come as from the ordinary way (those around a hit, the first and the last ones): each hit's cursor is
sought, and where libsystemd does not stand at that very entry, the ordinary way goes on from there. A `Place` is what
seeks and reads, through systemd-python or by calls of journalctl.
"""

from __future__ import annotations

import time
from collections import deque
from itertools import pairwise

from triage.model import TriageError
from triage.sources import reader
from triage.sources.files import inspect
from triage.sources.journal_objects import Found, OtherwiseError
from triage.sources.journal_raw import RawFile, Search
from triage.typed import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

    from triage.model import Entry
    from triage.sources.query import Group
    from triage.sources.reader import Around

LEAST_HITS = 1000
"""Hits, and entries with them, that are always worth it."""

_WORTH = 100  # one entry of so many may have a hit; where more have, the ordinary way is as fast
_NEAR = 1000
_SCANNED = 4000  # bytes that are searched in the time that libsystemd takes for one message
LOST: Final = "an entry is not where libsystemd was told to find it"
_SURELY_WRITTEN = 5_000_000  # what is younger than this, in microseconds, may still be on its way into the file


class Place(Protocol):
    """A place in a journal, between two of the entries that match.

    `go` raises `OtherwiseError` where libsystemd does not find what must be there.
    """

    worth: int
    """Entries that the ordinary way reads in the time of one `go` to where the last one is far."""

    def begin(self, since: int | None) -> None:
        """Stand before the first entry that is not older than a time."""

    def first(self, since: int) -> Found | None:
        """Return the first entry that is not older than a time, None where there is none; then stand anywhere."""

    def last(self, count: int, until: int | None) -> Found | None:
        """Return the `count`th last entry that is not newer than a time, or of fewer the first, None where there is
        none; then stand anywhere.
        """

    def go(self, target: Found, context: int) -> Found:
        """Stand before the `context` entries before one that lies behind the one last read; return the first of all."""

    def next(self) -> Entry | None:
        """Pass over the next entry, and return it, or None at the end."""


def windows(
    place: Place, paths: Sequence[Path], groups: Sequence[Group], since: int | None, until: int | None, around: Around,
    notes: list[str],
) -> Generator[Entry, None, Walk | None]:  # fmt: skip
    """Take a place among the entries that match, and the journal's files; yield the entries that are to be read.

    Returns None where that is all, else how far it came; the ordinary way goes on from there. `notes` are told how it
    went.
    """
    walk = Walk(place, around)
    try:
        found = look(paths, groups, since, until, around)
        if found is not None:
            found.check(place.worth)
            yield from walk.entries(found, since, until)
            notes.append(f"searched the bytes of {found.files} journal files: {len(found.wanted)} entries with a hit")
            return None
    except (OtherwiseError, OSError, TriageError) as error:
        notes.append(f"read every message, as the journal's files could not be searched as bytes: {error}")
    return walk


class Windows:
    """What to read of a journal: the wanted ones of about so many entries that match, in order, and the time from which
    on everything is to be read. `files` is the number of files that were searched.
    """

    def __init__(self, wanted: list[Found], entries: int, live_from: int | None, files: int = 0) -> None:
        self.files = files
        self.wanted = wanted
        self.entries = entries
        self.live_from = live_from

    def check(self, worth: int) -> None:
        """Raise `OtherwiseError` where to go to each place costs more than to read all; see `Place.worth`."""
        if worth * sum(not near(one, other) for one, other in pairwise(self.wanted)) > self.entries:
            raise OtherwiseError("too many places may matter")


def look(
    paths: Sequence[Path], groups: Sequence[Group], since: int | None, until: int | None, around: Around
) -> Windows | None:
    """Take journal files, matches, a span of time, and what to look for; return what is to be read.

    None where so few entries match that it is not worth it. Raises `OtherwiseError` where the files are not
    what is known here, hold too many hits, or their order is not that of time.
    """
    files: list[RawFile] = []
    now = time.time_ns() // 1000
    try:
        files.extend(map(RawFile, paths))
        within = [_share(file, groups, since, until) for file in files]
        size = sum(file.size for file, entries in zip(files, within, strict=True) if entries)
        if sum(within) < max(reader.FEWEST, size // _SCANNED):
            return None
        for path, entries in zip(paths, within, strict=True):
            if entries and (damage := inspect(path)[2]):
                raise OtherwiseError(f"{path.name}: {damage}")
        try:
            import hyperscan  # noqa: F401
        except ImportError:
            raise OtherwiseError("hyperscan is not installed") from None
        left = max(LEAST_HITS, sum(file.entries for file in files) // _WORTH)
        search = Search(around.needles, groups, left)
        found: dict[str, Found] = {}
        for file, entries in zip(files, within, strict=True):
            if entries:
                found.update((one.cursor, one) for one in file.find(search))
    finally:
        for file in files:
            file.close()
    online = any(file.online for file in files)
    chosen = [one for one in found.values() if (since or 0) <= one.realtime <= (until or one.realtime)]
    return Windows(_in_order(chosen), sum(within), now - _SURELY_WRITTEN if online else None, sum(map(bool, within)))


def _share(file: RawFile, groups: Sequence[Group], since: int | None, until: int | None) -> int:
    """Return how many entries of a file match and lie within a span, at most."""
    if file.entries and file.first > file.last:
        raise OtherwiseError("the clock was set back")
    if not file.entries or (until is not None and until < file.first) or (since is not None and since > file.last):
        return 0
    return file.most(groups, since, until)


def _in_order(found: list[Found]) -> list[Found]:
    """Sort entries as libsystemd gives them: by number where the sequence is one, else by time."""
    if len({one.sequence for one in found}) < 2:
        return sorted(found, key=lambda one: one.number)
    found = sorted(found, key=lambda one: one.realtime)
    last: dict[str, int] = {}
    for one in found:
        if one.number < last.get(one.sequence, 0):
            raise OtherwiseError("the clock was set back")
        last[one.sequence] = one.number
    return found


class Walk:
    """Reads windows of a journal.

    `given` are the cursors of the entries given, `last` is the last of them: where `entries` raises `OtherwiseError`,
    the ordinary way goes on behind it.
    """

    def __init__(self, place: Place, around: Around) -> None:
        self._place = place
        self._around = around
        self.last: Entry | None = None
        self.given: set[str | None] = set()

    def entries(self, windows: Windows, since: int | None, until: int | None) -> Iterator[Entry]:
        """Yield the entries of a span of time, both ends included."""
        place = self._place
        tail = self._tail(windows, until)
        place.begin(since)
        waiting = deque(windows.wanted)
        due: set[str | None] = {one.cursor for one in waiting}
        left, target = self._around.head, None
        ended = tail is not None and tail.realtime < (since or 0)
        while tail is not None:
            while (left > 0 or ended) and (entry := place.next()) is not None:
                if until is not None and entry.realtime > until:
                    return
                if entry.cursor in self.given or (since is not None and entry.realtime < since):
                    continue
                self.given.add(entry.cursor)
                self.last = entry
                yield entry
                left -= 1
                if entry.cursor in due:
                    due.discard(entry.cursor)
                    left = max(left, self._around.context)
                ended = ended or entry.cursor == tail.cursor
            if ended:
                return
            if left > 0:
                raise OtherwiseError("libsystemd ended before the last entry")
            while waiting and waiting[0].cursor not in due:
                waiting.popleft()
            before, target = target, waiting[0] if waiting else tail
            if target is before:
                raise OtherwiseError(LOST)
            if self.last is not None and not _before(found_at(self.last.cursor, self.last.realtime), target):
                raise OtherwiseError(LOST)
            first = place.go(target, 0 if target is tail else self._around.context)
            if _before(tail, target) and _before(tail, first):
                place.go(tail, 0)
            left = self._around.context + 1

    def _tail(self, windows: Windows, until: int | None) -> Found | None:
        """Return the entry from which on everything is read, None where there is no entry."""
        tail = self._place.last(self._around.tail, until)
        if tail is not None and windows.live_from is not None and windows.live_from < tail.realtime:
            found = self._place.first(windows.live_from)
            if found is not None and _before(found, tail):
                return found
        return tail


def found_at(cursor: str | None, realtime: int) -> Found:
    """Take the cursor of an entry and its time; return what is known of it by that."""
    said = dict(part.split("=", 1) for part in (cursor or "").split(";"))
    return Found(said["s"], int(said["i"], 16), realtime, cursor or "")


def near(one: Found, other: Found) -> bool:
    """Take an entry and one behind it; return whether there are surely few between them."""
    return one.sequence == other.sequence and other.number - one.number <= _NEAR


def _before(one: Found, other: Found) -> bool:
    if one.sequence == other.sequence:
        return one.number < other.number
    return one.realtime <= other.realtime
