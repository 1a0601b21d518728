"""What both ways to the journal have in common: libsystemd through systemd-python, and journalctl's export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable  # noqa: TID251 - isinstance asks it

from triage.sources.files import journal_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from triage.model import Entry
    from triage.sources.query import Group, JournalQuery
    from triage.typed import TypeAlias

    Select: TypeAlias = Callable[[Sequence[bytes]], Sequence[int]]
    """Takes the messages of a block of entries; returns the indices, rising, of those whose entries are wanted."""


@runtime_checkable
class Around(Protocol):
    """A `Select` that says what it looks for, so that it can be found in another way.

    It picks the messages that hold one of the literals `needles`, `context` ones on either side of them, and the first
    `head` and last `tail` ones.
    """

    needles: Sequence[bytes]
    head: int
    tail: int
    context: int


BLOCK = 4096
"""Entries of a block that is looked over at once."""

FEWEST = 5000
"""Entries that match, below which every message is read."""

LEAST_BYTES = 8 << 20
"""Size of a journal below which its files are not looked at for that; journald allocates as much at once."""


def large(query: JournalQuery) -> list[Path]:
    """Take a query; return its journal's files where they are so large that to search them may pay, else none."""
    paths = journal_files(query)
    try:
        size = sum(path.stat().st_size for path in paths)
    except OSError:
        return []  # one was removed
    return paths if size > LEAST_BYTES else []


class Reader(Protocol):
    """A way to the journal that a query names. Times are microseconds since the epoch, both ends included."""

    @property
    def label(self) -> Literal["systemd-python", "journalctl"]:
        """Which way it is."""

    @property
    def notes(self) -> list[str]:
        """What there is to tell of how `scan` went."""

    def unique(self, name: str) -> set[str]:
        """Return all values of a field in the whole journal, of all units and times."""

    def boots(self) -> list[str]:
        """Return the ids of all boots, oldest first."""

    def reads(self, path: Path) -> bool:
        """Return whether an entry of this journal file can be read."""

    def read(
        self,
        groups: Sequence[Group],
        since: int | None = None,
        until: int | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Iterator[Entry]:
        """Yield the entries that match one of the groups (all, without groups), `limit` at most, by time.

        As in journalctl, reading begins at the first entry that is not older than `since`, and ends at the first that
        is newer than `until`; where the clock was set, later entries may be older. `offset` is the running number.
        """

    def scan(self, groups: Sequence[Group], since: int | None, until: int | None, select: Select) -> Iterator[Entry]:
        """Yield the matching entries that `select` picks by their messages; the others' fields are never read."""
