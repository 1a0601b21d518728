"""The journal as it is written: batches of entries from a place in it on, for as long as somebody listens.

Through libsystemd, which wakes when journald has written, or through `journalctl --follow`, here or over ssh. Both
outlive rotation and vacuum; a journalctl or a connection that ends is started again behind the last entry.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import tempfile
import threading
import time

from triage.model import TriageError
from triage.sources.export import FIELDS, ExportStream
from triage.sources.ssh import LostError, end
from triage.typed import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triage.model import Entry
    from triage.sources.query import Group
    from triage.sources.ssh import Connection

_PIPE = 1 << 20
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0
_AT_ONCE = 5.0  # seconds: a journalctl that fails sooner was asked for something that it can't do
_STEADY = 60.0  # seconds after which a journalctl that ends is started again at once


class Feed(Protocol):
    """Entries of a journal, what is there first and then what is written."""

    def batches(self) -> Iterator[list[Entry]]:
        """Yield batches in the journal's order, none empty; block until something comes. `offset` is a running number.

        Ends after `close`. Raises `TriageError` where the journal can't be read (any more).
        """

    def close(self) -> None:
        """End the iteration, from another thread."""


class JournalctlFeed:
    """By way of `journalctl --follow --output=export`, on this host or over a connection."""

    def __init__(
        self,
        where: Sequence[str],
        groups: Sequence[Group],
        *,
        after: str | None = None,
        since: int | None = None,
        say: Callable[[str], None] = lambda _: None,
        connection: Connection | None = None,
    ) -> None:
        """Take journalctl's options that say which journal, matches, and where to begin; see `Remote.follow`."""
        self._where = list(where)
        self._groups = list(groups)
        self._after = after
        self._since = since
        self._say = say
        self._connection = connection
        self._closed = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._number = 0
        self._opened = self._ran = False

    def close(self) -> None:
        self._closed.set()
        process = self._process
        if process is not None:
            end(process)

    def batches(self) -> Iterator[list[Entry]]:
        wait = _FIRST_WAIT
        broken: float | None = None
        while not self._closed.is_set():
            started = time.monotonic()
            try:
                self._open()
                if broken is not None:
                    self._say(f"{self._name}: there again after {time.monotonic() - broken:.0f} s")
                    broken = None
                for batch in self._once():
                    wait = _FIRST_WAIT
                    yield batch
                reason = f"{self._name}: journalctl ended"
            except LostError as error:
                if self._ended:
                    return
                if error.final or not self._opened:
                    raise
                reason = str(error)
            if self._ended:
                return
            if broken is None:
                broken = time.monotonic()
                self._say(f"{reason}; reading goes on behind the last entry as soon as that is possible")
            if time.monotonic() - started > _STEADY:
                wait = _FIRST_WAIT
            self._closed.wait(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    @property
    def _ended(self) -> bool:
        return self._closed.is_set() or (self._connection is not None and self._connection.closed)

    @property
    def _name(self) -> str:
        return self._connection.host if self._connection is not None else "this host"

    def _open(self) -> None:
        if self._connection is not None:
            self._connection.open()
        self._opened = True
        if self._after is None and self._since is None:
            self._since = time.time_ns() // 1000

    def _once(self) -> Iterator[list[Entry]]:
        """Run journalctl until it ends. Raises `TriageError` where it fails at once, `LostError` where later."""
        command = self._command()
        started = time.monotonic()
        with tempfile.TemporaryFile() as complaints:
            process = self._process = self._start(command, complaints)
            assert process.stdout is not None
            with contextlib.suppress(OSError):  # a larger one lets journalctl write while entries are read
                fcntl.fcntl(process.stdout.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
            stream = ExportStream()
            try:
                while chunk := os.read(process.stdout.fileno(), _PIPE):
                    self._ran = True
                    if batch := list(stream.feed(chunk)):
                        for entry in batch:
                            entry.offset = self._number
                            self._number += 1
                        self._after = batch[-1].cursor or self._after
                        yield batch
                status = process.wait()
            finally:
                end(process)
                process.stdout.close()
            self._ran = self._ran or time.monotonic() - started > _AT_ONCE
            if status and not self._ended:
                error = self._failure(command, status, complaints)
                raise LostError(str(error)) if self._ran and not isinstance(error, LostError) else error

    def _command(self) -> list[str]:
        place = f"--after-cursor={self._after}" if self._after is not None else f"--since={_time(self._since or 0)}"
        command = [
            "journalctl", "--no-pager", "--quiet", *self._where, "--output=export",
            f"--output-fields={','.join(sorted(FIELDS))}", "--follow", "--no-tail", place, "--",
        ]  # fmt: skip
        for index, group in enumerate(self._groups):
            command.extend((["+"] if index else []) + [f"{name}={value}" for name, value in group])
        return command

    def _start(self, command: list[str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._connection is not None:
            return self._connection.start(command, complaints)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SYSTEMD_")}
        try:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise TriageError(f"following needs journalctl: {(error.strerror or '').lower()}") from None

    def _failure(self, command: list[str], status: int, complaints: IO[bytes]) -> TriageError:
        """Return the error that a failed journalctl means: the connection's, or its own words."""
        if self._connection is not None:
            return self._connection.failure(command, status, complaints)
        complaints.seek(0)
        said = complaints.read(2000).decode("utf-8", "replace").strip().splitlines()
        return TriageError(f"journalctl: {said[0] if said else f'exit status {status}'}")


def _time(micro: int) -> str:
    return f"@{micro // 1_000_000}.{micro % 1_000_000:06}"
