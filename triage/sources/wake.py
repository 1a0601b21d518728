"""The journal as it is written, through libsystemd: asleep until journald says that it wrote something.

libsystemd watches the journal's folders (sd_journal_get_fd(3)), so it takes up new files after a rotation and lets go
of those that were vacuumed away. Private names of systemd-python: see `triage.sources.journal`.
"""

# ruff: noqa: SLF001

from __future__ import annotations

import contextlib
import os
import select
import time

from triage.sources.journal import entry_here
from triage.sources.reader import BLOCK
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triage.model import Entry
    from triage.sources.journal import LibsystemdReader
    from triage.sources.query import Group

_NEEDED = ("fileno", "get_events", "get_timeout_ms", "process", "seek_cursor", "test_cursor")
_NOP = 0  # sd_journal_process(3): nothing changed
_SHORTEST_SLEEP = 50  # milliseconds


def can_wake(factory: Any) -> bool:
    """Take what `triage.sources.journal.load` returned; return whether it can be slept on."""
    return factory is not None and all(hasattr(factory, name) for name in _NEEDED)


class LibsystemdFeed:
    """See `triage.sources.feed.Feed`."""

    def __init__(
        self,
        reader: LibsystemdReader,
        groups: Sequence[Group],
        *,
        after: str | None = None,
        since: int | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Take a reader, matches, and where to begin; see `triage.sources.remote.Remote.follow`."""
        self._reader = reader
        self._groups = list(groups)
        self._after = after
        self._since = time.time_ns() // 1000 if since is None else since
        self._say = say
        self._wakes, self._wake = os.pipe()
        self._closed = False
        self._number = 0

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):  # it has ended by itself
            os.write(self._wake, b"x")

    def batches(self) -> Iterator[list[Entry]]:
        journal = self._opened()
        sought = False
        broken_at: str | None = ""
        while not self._closed:
            batch: list[Entry] = []
            try:
                if not sought:
                    batch, sought = self._seek(journal), True
                while len(batch) < BLOCK and journal._next():
                    batch.append(self._here(journal))
            except OSError as error:
                if not batch and broken_at == self._after:
                    # Opened anew, it broke at the same place: what stands behind the damage is newer than now.
                    if self._after is not None:
                        self._say(f"the journal is damaged ({error.strerror}): entries up to now may be missing")
                    self._after, self._since = None, time.time_ns() // 1000
                broken_at = batch[-1].cursor if batch else self._after
                if not batch:
                    self._sleep(journal)
                journal, sought = self._opened(), False
            if batch:
                self._after = batch[-1].cursor
                yield batch
            elif sought:
                self._sleep(journal)
        os.close(self._wake)
        os.close(self._wakes)

    def _opened(self) -> Any:
        journal = self._reader.opened(self._groups)
        journal.fileno()  # from here on changes are seen
        return journal

    def _seek(self, journal: Any) -> list[Entry]:
        """Go to where reading begins; return the entry that was read on the way, if it is one to give out."""
        if self._after is None:
            # Not the tail: from there on libsystemd finds nothing new.
            journal.seek_realtime(self._since)
            return []
        journal.seek_cursor(self._after)
        if journal._next() and not journal.test_cursor(self._after):
            return [self._here(journal)]  # the file of the one before was vacuumed away
        return []

    def _here(self, journal: Any) -> Entry:
        self._number += 1
        return entry_here(journal, journal._get_realtime(), self._number - 1)

    def _sleep(self, journal: Any) -> None:
        """Sleep until the journal has changed or the feed was closed."""
        poll = select.poll()
        poll.register(self._wakes, select.POLLIN)
        poll.register(journal.fileno(), journal.get_events())
        while not self._closed:
            timeout = journal.get_timeout_ms()
            poll.poll(max(timeout, _SHORTEST_SLEEP) if timeout >= 0 else None)
            if journal.process() != _NOP:
                return
