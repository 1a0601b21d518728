"""A journal query that goes on: the last invocation of its units as far as it is written, then what is written."""

from __future__ import annotations

from itertools import islice

from triage.model import TriageError
from triage.records import dataclass, field, replace
from triage.sources.query import KERNEL, conjoin_all, manager_groups, match_groups, other_groups, output_groups
from triage.sources.source import NothingYetError, choose_reader, journal_name, open_journal
from triage.sources.units import complete
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triage.model import Entry, Gap
    from triage.sources.feed import Feed
    from triage.sources.parts import JournalSource
    from triage.sources.query import Group, JournalQuery
    from triage.sources.reader import Select

_BATCH = 2000


@dataclass(slots=True)
class Ongoing:
    """An opened query: what is there already (`past`, None where nothing is), up to `end`, and the feed behind it."""

    name: str
    feed: Feed
    past: JournalSource | None = None
    end: int = 0
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def batches(self, select: Select | None = None) -> Iterator[list[Entry]]:
        """Yield batches of entries, none empty, in the journal's order; block for what comes.

        With `select` only those of the past that it picks; see `JournalSource.entries`.
        """
        last: set[str | None] = set()
        if self.past is not None:
            entries = self.past.entries(select)
            while batch := list(islice(entries, _BATCH)):
                last.update(entry.cursor for entry in batch if entry.realtime == self.end)
                yield batch
        # Of one write all entries have the same time: some of the last ones stand behind the feed's beginning.
        for batch in self.feed.batches():
            fresh = [entry for entry in batch if entry.cursor not in last] if last else batch
            if last and batch[-1].realtime > self.end:
                last.clear()
            if fresh:
                yield fresh


def open_ongoing(query: JournalQuery, say: Callable[[str], None]) -> Ongoing:
    """Take a query, and what takes a line when reading breaks off or goes on; return the query, opened to be followed.

    It begins with the last invocation of each unit, or at `since`; a unit that systemd knows but that never ran is
    waited for. Raises `TriageError` as `open_journal`, and for a query of something that is over.
    """
    if query.until or query.files or query.invocation:
        raise TriageError("-f goes on for ever: leave out --until, --invocation and --file")
    query = replace(query, attempts=1)
    try:
        past: JournalSource | None = open_journal(query)
    except NothingYetError:
        past = None
    if past is None:
        groups = _groups(query)
        name, gaps, notes = journal_name(query), [], ["nothing is there yet"]
    else:
        groups = past.groups
        name, gaps, notes = past.name, past.gaps, past.notes
    if groups and query.kernel:
        groups = list(dict.fromkeys([*groups, KERNEL]))
    last = None if past is None else next(choose_reader(query).read(groups, newest_first=True, limit=1), None)
    feed = _feed(query, groups, last.cursor if last is not None else None, say)
    if past is None or last is None:
        return Ongoing(name, feed, gaps=gaps, notes=notes)
    return Ongoing(name, feed, past.up_to(last.realtime), last.realtime, gaps, notes)


def _groups(query: JournalQuery) -> list[Group]:
    """Return the matches for units of which nothing is there yet."""
    wanted = match_groups(query.matches)
    units = [
        group
        for name in query.units
        for group in (
            *output_groups(complete(name), user=query.user),
            *manager_groups(complete(name), user=query.user),
            *other_groups(complete(name), user=query.user),
        )
    ]
    return conjoin_all(units, wanted)


def _feed(query: JournalQuery, groups: list[Group], after: str | None, say: Callable[[str], None]) -> Feed:
    from triage.sources.feed import JournalctlFeed
    from triage.sources.journal import LibsystemdReader, load
    from triage.sources.wake import LibsystemdFeed, can_wake

    # libsystemd watches folders, not the files of a namespace that are named one by one.
    factory = load() if not query.elsewhere and query.namespace is None else None
    if can_wake(factory):
        return LibsystemdFeed(LibsystemdReader(query, factory), groups, after=after, say=say)
    where: list[str] = []
    if query.directory is not None:
        where.append(f"--directory={query.directory}")
    if query.machine is not None:
        where.append(f"--machine={query.machine}")
    if query.namespace is not None:
        where.append(f"--namespace={query.namespace}")
    connection = query.remote.connection if query.remote is not None else None
    return JournalctlFeed(where, groups, after=after, say=say, connection=connection)
