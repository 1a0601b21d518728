"""One connection to another host, over ssh: opened once, used by every command, opened again where it broke.

Nothing is asked: `BatchMode=yes`, so no password and no passphrase, and `StrictHostKeyChecking=yes`, so a host whose
key is not known is refused whatever the user's own configuration says. The rest of that configuration holds (aliases,
ports, keys, jump hosts). `$SYSTEMD_SSH` names another ssh program, as it does for systemctl.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HOST = regex(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@)?"
    r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9_.-]{1,15})?)\]|(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}))"
    r"(?::(?P<port>[0-9]{1,5}))?"
)
_PIPE = 256 * 1024
_ALIVE = 5  # seconds between two signs of life; three missed ones end the connection
_IDLE = 60  # seconds after which a connection that triage left behind (killed) ends by itself
_LOST = 255  # ssh's own exit status for what is not the remote command's
_NO_PROGRAM = 127
_SOCKET_ROOM = 80  # bytes of a folder's name that leave room for a socket's (108 in all)
_TOO_LONG = 30.0  # seconds beyond the time to connect that greeting and login may take

# What ssh says, what it means, and whether trying again is in vain. OpenSSH's sshconnect.c and auth messages.
_SAID = (
    (regex(r"REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed"), True,
     "its host key is not the one that is known here: find out why before you remove the old one with `ssh-keygen -R`"),
    (regex(r"No .* host key is known|Host key verification failed"), True,
     "its host key is not known here: run `ssh {host} true` once, compare the fingerprint, and try again"),
    (regex(r"Permission denied|Too many authentication failures"), False,
     "it lets nobody in with the keys at hand (nothing is asked: BatchMode); `ssh -o BatchMode=yes {host} true` tells"),
    (regex(r"Could not resolve hostname"), False, "there is no host of this name"),
    (regex(r"Connection refused"), False, "it refuses connections: is sshd running, on this port?"),
    (regex(r"timed out|not responding"), False, "it does not answer"),
    (regex(r"No route to host|Network is unreachable"), False, "there is no way to it through the network"),
)  # fmt: skip


class LostError(TriageError):
    """The connection can't be opened or broke; `final` where trying again is in vain."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.final = final


class Connection:
    """A connection to `[USER@]HOST[:PORT]`; IPv6 addresses stand in brackets.

    `name` is the host alone. Nothing is connected before `open`, nor after `close`.
    """

    def __init__(self, host: str, *, connect_timeout: float = 10.0) -> None:
        """Take the host. Raises `TriageError` for what cannot be one: nothing that ssh could take for an option."""
        found = _HOST.fullmatch(host)
        if found is None:
            raise TriageError(f"-H {host}: not a host: write [USER@]HOST[:PORT]")
        self.host = host
        self.name: str = found["six"] or found["host"]
        self._target = f"{found['user']}@{self.name}" if found["user"] else self.name
        self._port = ["-p", found["port"]] if found["port"] else []
        self._timeout = connect_timeout
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.closed = False

    def open(self) -> None:
        """Connect, if there is no connection that lives. Raises `LostError` with the reason."""
        if self.closed:
            raise LostError(f"{self.host}: the connection was closed", final=True)
        if self._folder is None:
            place = tempfile.gettempdir()
            self._folder = tempfile.TemporaryDirectory(
                prefix="triage-ssh-",
                dir=place if len(place) < _SOCKET_ROOM else "/tmp",  # noqa: S108
            )
        if self._control("check") == 0:
            return
        self._control("exit")
        with tempfile.TemporaryFile() as complaints:
            command = [*self._ssh(), "-f", "-N", "-M", "-o", f"ControlPersist={_IDLE}", "--", self._target]
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=complaints, check=False,
                    timeout=self._timeout + _TOO_LONG,
                )  # fmt: skip
            except OSError as error:
                raise LostError(f"-H needs ssh: {(error.strerror or '').lower()}", final=True) from None
            except subprocess.TimeoutExpired:
                raise LostError(f"{self.host}: it does not answer") from None
            if done.returncode:
                raise self._why(_said(complaints))

    def close(self) -> None:
        """End the connection and what runs over it, for good."""
        self.closed = True
        if self._folder is not None:
            self._control("exit")
            self._folder.cleanup()
            self._folder = None

    def start(self, command: Sequence[str], complaints: IO[bytes]) -> subprocess.Popen[bytes]:
        """Take a command; start it on the host, its standard error to a file; every word is quoted for the shell."""
        words = ["env", "LC_ALL=C.UTF-8", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=", *command]
        return subprocess.Popen(
            [*self._ssh(), "-o", "ControlMaster=no", "--", self._target, shlex.join(words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, start_new_session=True,
        )  # fmt: skip

    def stream(self, command: Sequence[str]) -> Iterator[bytes]:
        """Take a command; run it on the host and yield what it prints.

        Raises `LostError` where there is no connection, `TriageError` with its own words where it fails without output.
        """
        self.open()
        with tempfile.TemporaryFile() as complaints:
            process = self.start(command, complaints)
            assert process.stdout is not None
            printed = False
            try:
                while chunk := os.read(process.stdout.fileno(), _PIPE):
                    printed = True
                    yield chunk
                status = process.wait()
                if status == _LOST or (status and not printed):
                    raise self.failure(command, status, complaints)
            finally:
                end(process)
                process.stdout.close()

    def run(self, command: Sequence[str], *, timeout: float = 30.0) -> tuple[int, str, str]:
        """Take a command; run it on the host; return its exit status, output and standard error.

        Raises `LostError` where there is no connection or no answer within `timeout` seconds.
        """
        self.open()
        with tempfile.TemporaryFile() as complaints:
            process = self.start(command, complaints)
            try:
                out, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                raise LostError(f"{self.host}: no answer within {timeout:.0f} s") from None
            finally:
                end(process)
            said = _said(complaints)
        if process.returncode == _LOST:
            raise self._why(said)
        return process.returncode, out.decode("utf-8", "replace"), said

    def failure(self, command: Sequence[str], status: int, complaints: IO[bytes]) -> TriageError:
        """Take a command that failed, its exit status and what it complained; return the error that says so."""
        said = _said(complaints)
        if status == _LOST:
            return self._why(said)
        if status == _NO_PROGRAM:
            return TriageError(f"{self.host}: there is no {command[0]} there: -H reads hosts that run systemd")
        first = next((line for line in said.splitlines() if line.strip()), f"exit status {status}")
        return TriageError(f"{self.host}: {command[0]}: {first.strip()}")

    def _why(self, said: str) -> LostError:
        for pattern, final, meaning in _SAID:
            if pattern.search(said):
                return LostError(f"{self.host}: {meaning.format(host=self.host)}", final=final)
        last = next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "the connection broke")
        return LostError(f"{self.host}: ssh: {last}")

    def _ssh(self) -> list[str]:
        assert self._folder is not None
        options = {
            "BatchMode": "yes", "StrictHostKeyChecking": "yes", "ConnectTimeout": f"{self._timeout:.0f}",
            "ServerAliveInterval": str(_ALIVE), "ServerAliveCountMax": "3", "ControlPath": f"{self._folder.name}/s",
            "ClearAllForwardings": "yes", "ForwardAgent": "no", "ForwardX11": "no", "PermitLocalCommand": "no",
            "RequestTTY": "no", "RemoteCommand": "none", "LogLevel": "ERROR",
        }  # fmt: skip
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        return [os.environ.get("SYSTEMD_SSH") or "ssh", *words, *self._port]

    def _control(self, what: str) -> int:
        """Ask the connection that stands; return 0 where there is one."""
        try:
            return subprocess.run(
                [*self._ssh(), "-O", what, "--", self._target],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                timeout=self._timeout,
            ).returncode  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return _LOST


def end(process: subprocess.Popen[bytes]) -> None:
    """Take a process that leads a session; end it with all that it started."""
    import signal

    if process.poll() is None:  # else its number may be another's by now
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _said(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return complaints.read(4000).decode("utf-8", "replace")
