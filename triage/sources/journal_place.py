"""A place in a journal that systemd-python's reader goes to; see `triage.sources.journal_windows.Place`."""

# ruff: noqa: SLF001

from __future__ import annotations

from triage.sources.journal import entry_here, seek
from triage.sources.journal_objects import Found, OtherwiseError
from triage.sources.journal_windows import LOST, found_at
from triage.typed import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from triage.model import Entry


class LibsystemdPlace:
    """See `triage.sources.journal_windows.Place`."""

    worth: Final = 0  # to seek costs so little that the number of hits is what counts

    def __init__(self, journal: Any) -> None:
        """Take systemd-python's reader, with the matches."""
        self._journal = journal

    def begin(self, since: int | None) -> None:
        seek(self._journal, since, None, newest_first=False)

    def first(self, since: int) -> Found | None:
        self._journal.seek_realtime(since)
        return self._here() if self._journal._next() else None

    def last(self, count: int, until: int | None) -> Found | None:
        seek(self._journal, None, until, newest_first=True)
        return self._here() if self._journal._previous(count) else None

    def go(self, target: Found, context: int) -> Found:
        journal = self._journal
        journal.seek_cursor(target.cursor)
        if not journal._next() or journal._get_cursor() != target.cursor:
            raise OtherwiseError(LOST)
        if context and not journal._previous(context):
            raise OtherwiseError(LOST)
        first = self._here()
        if not journal._previous():
            raise OtherwiseError(LOST)
        return first

    def next(self) -> Entry | None:
        journal = self._journal
        return entry_here(journal, journal._get_realtime(), 0) if journal._next() else None

    def _here(self) -> Found:
        return found_at(self._journal._get_cursor(), self._journal._get_realtime())
