"""Another host's systemd and journal, over ssh: nothing is needed there but systemd.

    with Remote("root@gpu-07") as there:               # raises TriageError with one line: key, refused, no journalctl
        state = there.unit_state("sglang.service")     # what `systemctl show` says, as `sources.systemctl.unit_state`
        source = open_journal(JournalQuery(units=["sglang"], remote=there))           # what the journal has now
        for entries in there.follow(groups, after=cursor, say=print):                 # and what is written from now on
            ...

`follow` outlives a broken connection: it says so, connects again and goes on behind the last entry.
"""

from __future__ import annotations

from triage.model import Gap
from triage.sources.ssh import Connection
from triage.sources.systemctl import UnitState, unit_state
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from triage.model import Entry
    from triage.sources.query import Group

_UNSEEN = ("not seeing messages from other users", "insufficient permissions")


class Remote:
    """A host whose journal is read over ssh; as a context manager it is opened and closed.

    `name` is the host alone, `host` what the user wrote. `gaps` tell, once it is open, what may not be read there.
    """

    def __init__(self, host: str, *, connect_timeout: float = 10.0) -> None:
        """Take `[USER@]HOST[:PORT]` and the seconds that connecting may take. Raises `TriageError` for a bad name."""
        self.connection = Connection(host, connect_timeout=connect_timeout)
        self.host = host
        self.name = self.connection.name
        self.gaps: list[Gap] = []

    def __enter__(self) -> Remote:  # noqa: PYI034
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect and see whether the journal can be read. Raises `TriageError` with the reason in one line."""
        command = ["journalctl", "--no-pager", "--lines=1", "--output=cat", "--output-fields=MESSAGE"]
        status, _, said = self.connection.run(command)
        if any(words in said for words in _UNSEEN):
            self.gaps = [
                Gap(
                    "permission",
                    f"{self.host}: the user there may not read the system's journal: use root@, or add the user to "
                    "the group systemd-journal",
                )
            ]
        elif status:
            import io

            raise self.connection.failure(command, status, io.BytesIO(said.encode()))

    def close(self) -> None:
        """End the connection and whatever runs over it."""
        self.connection.close()

    def stream(self, command: Sequence[str]) -> Iterator[bytes]:
        """Take a command as a list; run it there and yield what it prints. Raises `TriageError` if it fails."""
        return self.connection.stream(command)

    def text(self, command: Sequence[str]) -> str | None:
        """Take a command; return what it prints there, None where it fails. Raises `TriageError` without connection."""
        status, out, _ = self.connection.run(command)
        return out if status == 0 else None

    def unit_state(self, unit: str, *, user: bool = False) -> UnitState | None:
        """Take a unit's name; return what `systemctl show` says of it there, None where there is no such unit.

        Raises `TriageError` for what cannot be a unit's name, and without a connection.
        """
        return unit_state(unit, user=user, run=self.text)

    def follow(
        self,
        groups: Sequence[Group],
        *,
        after: str | None = None,
        since: int | None = None,
        namespace: str | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> Iterator[list[Entry]]:
        """Take matches (all entries without any) and a cursor, or a time in microseconds; yield batches of entries.

        What is there already comes first, from behind the cursor or from the time on; without either only what is
        written from now on comes. Blocks until something comes. Ends when `close` was called, from another thread.
        `say` gets a line when the connection breaks and when it is there again; in between it is tried ever more
        rarely, at last every 30 seconds. Raises `TriageError` where that is in vain.
        """
        from triage.sources.feed import JournalctlFeed

        where = [f"--namespace={namespace}"] if namespace is not None else []
        return JournalctlFeed(where, groups, after=after, since=since, say=say, connection=self.connection).batches()
