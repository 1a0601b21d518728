"""The journal through libsystemd, by way of systemd-python's low-level reader.

`systemd.journal.Reader` decodes every field of every entry, which costs ten times as much as finding the entry. Its
base class `systemd._reader._Reader` gives the bytes; `_next`, `_previous`, `_get`, `_get_all`, `_get_realtime` and
`_get_cursor` are private names of systemd-python 234 and 235, so they are looked for before they are used.
"""

# ruff: noqa: SLF001

from __future__ import annotations

from triage.model import Entry
from triage.sources.export import FIELDS, MAX_VALUE
from triage.sources.files import journal_files
from triage.sources.reader import BLOCK, Around, large
from triage.typed import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from triage.sources.query import Group, JournalQuery
    from triage.sources.reader import Select

_NEEDED = (
    "_next", "_previous", "_get", "_get_all", "_get_realtime", "_get_cursor", "add_match", "add_disjunction",
    "flush_matches", "get_usage", "seek_head", "seek_tail", "seek_realtime", "seek_cursor", "query_unique",
    "data_threshold",
)  # fmt: skip
_LOCAL_ONLY = 1
_MARKED = 256  # one entry of so many
_ALIKE = 16


def load() -> Any:
    """Return systemd-python's reader class, None where it is not installed or is not the one that is known here."""
    try:
        from systemd import _reader
    except ImportError:
        return None
    found = getattr(_reader, "_Reader", None)
    return found if found is not None and all(hasattr(found, name) for name in _NEEDED) else None


class LibsystemdReader:
    """See `triage.sources.reader.Reader`."""

    label: Final = "systemd-python"

    def __init__(self, query: JournalQuery, factory: Any) -> None:
        """Take a query and what `load` returned. Raises `TriageError` for a folder or file that can't be read."""
        self._factory = factory
        self._query = query
        self.notes: list[str] = []
        self._used: tuple[Any, int] | None = None
        if query.files or query.namespace is not None:
            # libsystemd leaves the folders of namespaces out, so their files are named one by one.
            self._where: dict[str, Any] = {"flags": 0, "files": [str(path) for path in journal_files(query)]}
        elif query.directory is not None:
            self._where = {"flags": 0, "path": str(query.directory)}
        else:
            self._where = {"flags": _LOCAL_ONLY}

    def unique(self, name: str) -> set[str]:
        found = self._factory(**self._where).query_unique(name)
        return {value.decode("utf-8", "replace") for value in found}

    def boots(self) -> list[str]:
        starts = []
        for boot in self.unique("_BOOT_ID"):
            first = next(self.read([(("_BOOT_ID", boot),)], limit=1), None)
            if first is not None:
                starts.append((first.realtime, boot))
        return [boot for _, boot in sorted(starts)]

    def reads(self, path: Path) -> bool:
        try:
            journal = self._factory(flags=0, files=[str(path)])
            return bool(journal._next())
        except OSError:
            return False

    def read(
        self,
        groups: Sequence[Group],
        since: int | None = None,
        until: int | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Entry]:
        journal = self._used_before(groups) if limit == 1 else self.opened(groups)
        step = journal._previous if newest_first else journal._next
        seek(journal, since, until, newest_first=newest_first)
        number = 0
        while (limit is None or number < limit) and _moved(step):
            realtime = journal._get_realtime()
            if newest_first:
                if since is not None and realtime < since:
                    return
                if until is not None and realtime > until:
                    continue
            elif until is not None and realtime > until:
                return
            yield entry_here(journal, realtime, number)
            number += 1

    def scan(self, groups: Sequence[Group], since: int | None, until: int | None, select: Select) -> Iterator[Entry]:
        given: set[str | None] = set()
        last: Entry | None = None
        if isinstance(select, Around) and (paths := large(self._query)):
            from triage.sources.journal_place import LibsystemdPlace
            from triage.sources.journal_windows import windows

            place = LibsystemdPlace(self.opened(groups))
            walk = yield from windows(place, paths, groups, since, until, select, self.notes)
            if walk is None:
                return
            given, last = walk.given, walk.last
        journal = self.opened(groups)
        seek(journal, since, until, newest_first=False)
        if last is not None:
            journal.seek_cursor(last.cursor)
            if not _moved(journal._next) or journal._get_cursor() != last.cursor:
                journal.seek_realtime(last.realtime)
        for entry in self._scan(journal, groups, until, select):
            if entry.cursor not in given:
                yield entry

    def _scan(self, journal: Any, groups: Sequence[Group], until: int | None, select: Select) -> Iterator[Entry]:
        """Yield what `select` picks of the entries from a place in the journal on."""
        forward, get, time_of, cursor_of = journal._next, journal._get, journal._get_realtime, journal._get_cursor
        again = _Again(lambda: self.opened(groups))
        number = 0
        more = True
        while more:
            messages: list[bytes] = []
            marks: list[str] = []
            keep = messages.append
            try:
                for index in range(BLOCK):
                    if not forward():
                        more = False
                        break
                    if until is not None and time_of() > until:
                        more = False
                        break
                    if not index % _MARKED:
                        marks.append(cursor_of())
                    try:
                        keep(get("MESSAGE"))
                    except (KeyError, OSError):
                        keep(b"")
            except OSError:
                more = False  # see `_moved`
            wanted = select(messages) if messages else ()
            yield from again.entries(marks, wanted, number)
            number += len(messages)

    def opened(self, groups: Sequence[Group]) -> Any:
        """Take matches; return systemd-python's reader for them, at no place yet."""
        journal = self._factory(**self._where)
        journal.data_threshold = MAX_VALUE + 4096
        _match(journal, groups)
        return journal

    def _used_before(self, groups: Sequence[Group]) -> Any:
        """Return a reader to look one entry up: opening files and mapping them is most of what that costs.

        libsystemd closes a damaged file for good; then another one is opened, which reads it up to the damage.
        """
        if self._used is not None:
            journal, size = self._used
            if journal.get_usage() == size:
                journal.flush_matches()
                _match(journal, groups)
                return journal
        journal = self.opened(groups)
        self._used = journal, journal.get_usage()
        return journal


def _match(journal: Any, groups: Sequence[Group]) -> None:
    for index, group in enumerate(groups):
        if index:
            journal.add_disjunction()
        for name, value in group:
            journal.add_match(f"{name}={value}")


class _Again:
    """Reads entries of blocks again, and now whole: to seek a mark costs less than to go back over a block."""

    def __init__(self, opened: Callable[[], Any]) -> None:
        self._opened = opened
        self._journal: Any = None

    def entries(self, marks: Sequence[str], wanted: Sequence[int], number: int) -> Iterator[Entry]:
        """Take the cursors of a block's marked entries, the indices of entries, and the first one's running number."""
        at = -1
        try:
            for index in wanted:
                mark = index // _MARKED
                if at < mark * _MARKED:
                    at = self._find(marks, mark)
                if index > at and not self._journal._next(index - at):
                    return
                at = index
                yield entry_here(self._journal, self._journal._get_realtime(), number + index)
        except OSError:
            return

    def _find(self, marks: Sequence[str], mark: int) -> int:
        """Go to a marked entry, or else to the first one; return the index of where that is."""
        if self._journal is not None and self._found(marks[mark]):
            return mark * _MARKED
        # As yet there is none, or it has closed a damaged file.
        self._journal = self._opened()
        if self._found(marks[mark]):
            return mark * _MARKED
        self._journal.seek_cursor(marks[0])
        _moved(self._journal._next)
        return 0

    def _found(self, cursor: str) -> bool:
        try:
            self._journal.seek_cursor(cursor)
            # Entries of the same time in other files may come before it.
            return any(self._journal._get_cursor() == cursor for _ in range(_ALIKE) if self._journal._next())
        except OSError:
            return False


def seek(journal: Any, since: int | None, until: int | None, *, newest_first: bool) -> None:
    """Go before the first entry of a span of time, or behind its last one."""
    if newest_first:
        if until is None:
            journal.seek_tail()
        else:
            journal.seek_realtime(until + 1)
    elif since is None:
        journal.seek_head()
    else:
        journal.seek_realtime(since)


def _moved(step: Any) -> bool:
    try:
        return bool(step())
    except OSError:
        return False  # damage that libsystemd does not step over; triage.sources.files tells of it


def entry_here(journal: Any, realtime: int, number: int) -> Entry:
    """Take systemd-python's reader, the time of the entry at which it stands, a running number; return the entry."""
    try:
        found = journal._get_all()
    except (OSError, UnicodeError):  # a damaged value, or the name of a field
        found = _one_by_one(journal)
    fields: dict[str, str]
    try:
        fields = {name: value.decode() for name, value in found.items() if name in FIELDS}
        odd = max(map(len, found.values()), default=0) > MAX_VALUE
    except (AttributeError, UnicodeDecodeError):
        odd = True
    if odd:
        fields = {name: _text(value) for name, value in found.items() if name in FIELDS}
    return Entry(fields, realtime, journal._get_cursor(), number)


def _text(value: bytes | list[bytes]) -> str:
    """Decode a value that is long, broken or repeated."""
    first = value[0] if isinstance(value, list) else value
    return first[:MAX_VALUE].decode("utf-8", "replace")


def _one_by_one(journal: Any) -> dict[str, bytes]:
    """Read what can be read of an entry of which one field is damaged."""
    found: dict[str, bytes] = {}
    for name in FIELDS:
        try:
            found[name] = journal._get(name)
        except (KeyError, OSError):
            continue
    return found
