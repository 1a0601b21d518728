"""Where a unit runs: its state, its journal as it is written, and the order to start it.

`Host` is what a watch needs of it; `LocalHost` is this host, by way of systemctl and journalctl; `RemoteHost` is
another one, over ssh.
"""

from __future__ import annotations

import os
import subprocess
import time

from triage.lazy import regex
from triage.model import TriageError
from triage.records import replace
from triage.typed import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triage.sources.feed import Feed
    from triage.sources.query import Group, JournalQuery
    from triage.sources.remote import Remote
    from triage.sources.systemctl import UnitState

_TIMEOUT = 30.0
_SECONDS = regex(r"\d{9,12}\.\d{1,9}")
_GLANCE = "LoadState,ActiveState,SubState,Result,Type,NRestarts,MainPID,InvocationID"


class Host(Protocol):
    """A host with a systemd; one unit of it is watched. `query` says which journal it is."""

    query: JournalQuery

    @property
    def controls(self) -> bool:
        """Whether systemd can be asked, and not its journal alone."""

    def now(self) -> float:
        """Return the host's time, in seconds since the epoch."""

    def unit_state(self, unit: str) -> UnitState | None:
        """Take a unit's full name; return what systemd and its files say of it, None where systemd has no such unit."""

    def glance(self, unit: str) -> UnitState | None:
        """The same from one quick question, without what only the unit's files say."""

    def start(self, unit: str) -> None:
        """Take a unit's full name; have systemd start it, without waiting. Raises `TriageError` if it refuses."""

    def feed(self, groups: Sequence[Group], since: int, say: Callable[[str], None]) -> Feed:
        """Take matches, a time in microseconds since the epoch, and who is told of interruptions; return the entries
        from then on, as they are written.
        """


class LocalHost:
    """The host that triage runs on, or a container on it (`query.machine`), or a folder or files of a journal alone."""

    def __init__(self, query: JournalQuery) -> None:
        """Take a query, of which the place is used. Raises `TriageError` for values that cannot be right."""
        query.check()
        self.query = query

    @property
    def controls(self) -> bool:
        return not (self.query.directory or self.query.files)

    def now(self) -> float:
        return time.time()

    def unit_state(self, unit: str) -> UnitState | None:
        from triage.sources.systemctl import unit_state

        return unit_state(unit, user=self.query.user, machine=self.query.machine) if self.controls else None

    def glance(self, unit: str) -> UnitState | None:
        from triage.sources.systemctl import parse_show

        if not self.controls:
            return None
        done = _run(["systemctl", *self._manager(), "show", f"--property={_GLANCE}", "--", unit])
        return parse_show(unit, done.stdout.decode("utf-8", "replace")) if done is not None else None

    def start(self, unit: str) -> None:
        if not self.controls:
            raise TriageError("--start needs the unit's systemd: it goes with neither -D nor --file")
        done = _run(["systemctl", *self._manager(), "start", "--no-block", "--no-ask-password", "--", unit])
        if done is None:
            raise TriageError(f"cannot start {unit}: systemctl is not here, or does not answer")
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise TriageError(f"cannot start {unit}: {said[0] if said else f'systemctl ended with {done.returncode}'}")

    def feed(self, groups: Sequence[Group], since: int, say: Callable[[str], None]) -> Feed:
        from triage.sources.feed import JournalctlFeed

        query = self.query
        where = [f"--file={path}" for path in query.files]
        where += [f"--directory={query.directory}"] if query.directory else []
        where += [f"--machine={query.machine}"] if query.machine is not None else []
        where += [f"--namespace={query.namespace}"] if query.namespace is not None else []
        return JournalctlFeed(where, groups, since=since, say=say)

    def _manager(self) -> list[str]:
        machine = [f"--machine={self.query.machine}"] if self.query.machine is not None else []
        return [*(["--user"] if self.query.user else []), *machine]


class RemoteHost:
    """Another host, over ssh. Nothing is needed there but systemd."""

    controls = True

    def __init__(self, remote: Remote, query: JournalQuery) -> None:
        """Take the host, opened, and a query, of which the place is used. Raises `TriageError` without connection."""
        self.query = replace(query, remote=remote)
        self.query.check()
        self._remote = remote
        # Its clock is not this one's, and how long a service has been silent is told by its stamps.
        said = (remote.text(["date", "+%s.%N"]) or "").strip()
        self._ahead = float(said) - time.time() if _SECONDS.fullmatch(said) else 0.0

    def now(self) -> float:
        return time.time() + self._ahead

    def unit_state(self, unit: str) -> UnitState | None:
        return self._remote.unit_state(unit, user=self.query.user)

    def glance(self, unit: str) -> UnitState | None:
        from triage.sources.systemctl import parse_show

        try:
            shown = self._remote.text(["systemctl", *self._manager(), "show", f"--property={_GLANCE}", "--", unit])
        except TriageError:
            return None  # whoever reads the journal tells of the lost connection
        return parse_show(unit, shown) if shown is not None else None

    def start(self, unit: str) -> None:
        words = ["systemctl", *self._manager(), "start", "--no-block", "--no-ask-password", "--", unit]
        status, _, said = self._remote.connection.run(words)
        if status:
            reason = said.strip().splitlines()
            why = reason[0] if reason else f"systemctl ended with {status}"
            raise TriageError(f"{self._remote.host}: cannot start {unit}: {why}")

    def feed(self, groups: Sequence[Group], since: int, say: Callable[[str], None]) -> Feed:
        from triage.sources.feed import JournalctlFeed

        where = [f"--namespace={self.query.namespace}"] if self.query.namespace is not None else []
        return JournalctlFeed(where, groups, since=since, say=say, connection=self._remote.connection)

    def _manager(self) -> list[str]:
        return ["--user"] if self.query.user else []


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[bytes] | None:
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "SYSTEMD_COLORS": "0", "SYSTEMD_PAGER": ""}
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
