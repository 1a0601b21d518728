"""A real sshd on 127.0.0.1: a host key, a user's key and a known_hosts of its own, all below one folder.

Debian: openssh-server and openssh-client. The port is a free one; nothing of the host's own sshd is touched.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONFIG = """\
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
LogLevel ERROR
"""
_CLIENT = """\
Host gpu-* loopback
  HostName 127.0.0.1
  Port {port}
  User {user}
  HostKeyAlias loopback
Host *
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
"""


class Loopback:
    """sshd on loopback. `program` is an ssh that knows it: the hosts `loopback` and `gpu-...` are all this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "ssh"
        self._server: subprocess.Popen[bytes] | None = None
        self._bin = folder / "bin"

    def prepare(self) -> None:
        """Make the keys and the configuration. Raises `RuntimeError` where OpenSSH is not installed."""
        sshd, ssh = shutil.which("sshd", path="/usr/sbin:/usr/bin:/sbin"), shutil.which("ssh")
        if not sshd or not ssh:
            raise RuntimeError("the tests of -H need sshd (Debian: apt-get install openssh-server openssh-client)")
        self._sshd = sshd
        for name in ("host_key", "user_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized_keys")
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            self.port = free.getsockname()[1]
        self.know()
        (self.folder / "config").write_text(_CLIENT.format(folder=self.folder, port=self.port, user=getpass.getuser()))
        self.program.write_text(f'#!/bin/sh\nexec {ssh} -F {self.folder}/config "$@"\n')
        self.program.chmod(0o755)
        self._bin.mkdir(exist_ok=True)

    def know(self) -> None:
        """Write the host's key to known_hosts."""
        words = (self.folder / "host_key.pub").read_text().split()
        (self.folder / "known_hosts").write_text(f"loopback,[127.0.0.1]:{self.port} {words[0]} {words[1]}\n")

    def command(self, name: str, script: str) -> None:
        """Put a program of this name first in the PATH of who logs in."""
        (self._bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self._bin / name).chmod(0o755)

    def up(self, path: str | None = None) -> None:
        """Start sshd, with another PATH for those who log in, and wait until it listens."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        (self.folder / "sshd_config").write_text(
            f"Port {self.port}\n"
            + _CONFIG.format(folder=self.folder)
            + f"SetEnv PATH={path or f'{self._bin}:/usr/local/bin:/usr/bin:/bin'}\n"
        )
        self._server = subprocess.Popen(
            [self._sshd, "-D", "-e", "-f", str(self.folder / "sshd_config")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self.folder / "sshd.log").open("ab"),
            start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self._server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise RuntimeError(f"sshd did not start: {(self.folder / 'sshd.log').read_text()}")

    def down(self) -> None:
        """End sshd and every session of it, as a host does that loses its power."""
        if self._server is None:
            return
        sessions = _descendants(self._server.pid)
        for pid in (self._server.pid, *sessions):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self._server.wait(10)
        self._server = None


def _descendants(pid: int) -> list[int]:
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [*children, *(below for child in children for below in _descendants(child))]


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[Loopback]:
    """Take an empty folder; yield a running sshd, gone at the end."""
    loopback = Loopback(folder)
    loopback.prepare()
    try:
        loopback.up()
        yield loopback
    finally:
        loopback.down()
