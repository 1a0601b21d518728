"""A place in a journal, by calls of journalctl; see `triage.sources.journal_windows.Place`.

A call costs as much as thousands of entries, so what is near is reached by reading on.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from triage.sources.journal_objects import Found, OtherwiseError
from triage.sources.journal_windows import LOST, found_at, near
from triage.sources.journalctl import span
from triage.typed import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triage.model import Entry
    from triage.sources.journalctl import JournalctlReader
    from triage.sources.query import Group

WORTH = 4000
_MOST_PASSED_OVER = 2000
_NO_FIELDS = "--output-fields=PRIORITY"  # cursor and time come with every entry


class JournalctlPlace:
    """See `triage.sources.journal_windows.Place`."""

    def __init__(self, reader: JournalctlReader, groups: Sequence[Group]) -> None:
        self.worth: Final = WORTH
        self._reader = reader
        self._groups = groups
        self._ready: deque[Entry] = deque()
        self._coming: Iterator[Entry] = iter(())
        self._last: Entry | None = None

    def begin(self, since: int | None) -> None:
        self._coming = self._reader.entries(self._groups, span(since, None))

    def first(self, since: int) -> Found | None:
        return next(self._cursors(*span(since, None)), None)

    def last(self, count: int, until: int | None) -> Found | None:
        found = None
        for found in self._cursors(*span(None, until), "--reverse", f"--lines={count}"):  # noqa: B007
            pass
        return found

    def go(self, target: Found, context: int) -> Found:
        if self._last is not None and near(_found(self._last), target):
            passed: deque[Entry] = deque(maxlen=context + 1)
            for entry in islice(iter(self._step, None), _MOST_PASSED_OVER):
                passed.append(entry)
                if entry.cursor == target.cursor:
                    self._ready = passed
                    return _found(passed[0])
        back = list(self._cursors(f"--cursor={target.cursor}", "--reverse", f"--lines={context + 1}"))
        if not back or back[0].cursor != target.cursor:
            raise OtherwiseError(LOST)
        coming = self._reader.entries(self._groups, [f"--cursor={back[-1].cursor}"])
        first = next(coming, None)
        if first is None or first.cursor != back[-1].cursor:
            raise OtherwiseError(LOST)
        self._ready, self._coming = deque([first]), coming
        return back[-1]

    def next(self) -> Entry | None:
        self._last = self._step()
        return self._last

    def _step(self) -> Entry | None:
        return self._ready.popleft() if self._ready else next(self._coming, None)

    def _cursors(self, *options: str) -> Iterator[Found]:
        return map(_found, self._reader.entries(self._groups, options, _NO_FIELDS))


def _found(entry: Entry) -> Found:
    return found_at(entry.cursor, entry.realtime)
