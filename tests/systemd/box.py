"""A real systemd (PID 1) and journald in a throw-away container that borrows the host's /usr.

Needs root and systemd-nspawn (Debian: systemd-container). Nothing is downloaded: the root tree is a skeleton of some
400 kB, /usr is bound read-only. Each box has its own cgroup, so two at once do not disturb each other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MASKED = (
    "getty.target", "console-getty.service", "systemd-logind.service", "systemd-timesyncd.service",
    "systemd-resolved.service", "systemd-networkd.service", "systemd-udevd.service", "systemd-udev-trigger.service",
    "systemd-update-utmp.service", "systemd-update-utmp-runlevel.service", "systemd-sysusers.service",
    "dev-hugepages.mount", "sys-fs-fuse-connections.mount", "modprobe@.service", "remote-fs.target",
    "systemd-tmpfiles-clean.timer", "systemd-sysctl.service",
)  # fmt: skip
_JOURNALD = "[Journal]\nStorage=persistent\nForwardToSyslog=no\nReadKMsg=no\nSystemMaxUse=256M\n"
_HIERARCHIES = ("systemd", "unified", "memory")


class Box:
    """One container; `root` is its file tree, `journal` the folder for `-D`."""

    def __init__(self, folder: Path, options: Sequence[str] = ()) -> None:
        self._options = options
        self.name = f"triage-{uuid.uuid4().hex[:8]}"
        self.root = folder / "root"
        self.journal = self.root / "var/log/journal"
        self._console = folder / "console.log"
        self._leader = 0
        self._nspawn: subprocess.Popen[bytes] | None = None

    def up(self) -> None:
        """Boot; raise `RuntimeError` with the console's end if systemd does not come up."""
        if os.geteuid() != 0 or not shutil.which("systemd-nspawn"):
            raise RuntimeError(
                "a real systemd needs root and systemd-nspawn (Debian: apt-get install systemd-container)"
            )
        self._skeleton()
        cgroups = [Path("/sys/fs/cgroup") / kind / self.name for kind in self._kinds()]
        for folder in cgroups:
            folder.mkdir(parents=True, exist_ok=True)

        def enter() -> None:
            os.setsid()
            for folder in cgroups:
                (folder / "cgroup.procs").write_text(str(os.getpid()))

        with self._console.open("wb") as console:
            self._nspawn = subprocess.Popen(
                ["systemd-nspawn", "-q", "-D", str(self.root), "-b", "--register=no", "--keep-unit",
                 f"--machine={self.name}", f"--hostname={self.name}", "--private-network", "--bind-ro=/usr",
                 *self._options],
                stdin=subprocess.DEVNULL, stdout=console, stderr=console, preexec_fn=enter,
                env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._nspawn.poll() is None:
            self._leader = self._leader or self._child()
            if self._leader:
                state = self.run("systemctl", "is-system-running", check=False).stdout.strip()
                if state in ("running", "degraded"):
                    return
            time.sleep(0.1)
        raise RuntimeError(
            f"systemd did not boot in the container:\n{self._console.read_text(errors='replace')[-2000:]}"
        )

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command inside."""
        return subprocess.run(
            ["nsenter", "-t", str(self._leader), "-m", "-u", "-i", "-n", "-p", "-C", "--", *command],
            capture_output=True, text=True, check=check, timeout=120,
        )  # fmt: skip

    def unit(self, name: str, text: str) -> None:
        """Install a unit file."""
        (self.root / "etc/systemd/system" / name).write_text(text)
        self.run("systemctl", "daemon-reload")

    def start(self, name: str, wait: float = 30) -> None:
        """Start a unit and wait until it has failed or stopped."""
        self.run("systemctl", "start", "--no-block", name, check=False)
        deadline = time.monotonic() + wait
        time.sleep(0.3)
        while time.monotonic() < deadline:
            state = self.run("systemctl", "show", "-P", "ActiveState", name).stdout.strip()
            if state in ("failed", "inactive"):
                break
            time.sleep(0.1)
        self.sync()

    def sync(self) -> None:
        """Have journald write out everything."""
        self.run("journalctl", "--sync", check=False)

    def down(self) -> None:
        """Power off and remove the cgroups."""
        if self._nspawn is None:
            return
        self._nspawn.send_signal(signal.SIGTERM)
        try:
            self._nspawn.wait(10)
        except subprocess.TimeoutExpired:
            if self._leader:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._leader, signal.SIGKILL)
            self._nspawn.kill()
            self._nspawn.wait(10)
        for kind in self._kinds():
            top = Path("/sys/fs/cgroup") / kind / self.name
            for folder in sorted(top.rglob("*"), reverse=True):
                if folder.is_dir():
                    with contextlib.suppress(OSError):
                        folder.rmdir()
            with contextlib.suppress(OSError):
                top.rmdir()

    def _kinds(self) -> list[str]:
        """cgroup v1 and hybrid hosts have folders for each hierarchy, v2 hosts one tree."""
        found = [kind for kind in _HIERARCHIES if (Path("/sys/fs/cgroup") / kind / "cgroup.procs").exists()]
        return found or ["."]

    def _child(self) -> int:
        assert self._nspawn is not None
        children = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children")
        try:
            words = children.read_text().split()
        except OSError:
            words = []
        return int(words[0]) if words else 0

    def _skeleton(self) -> None:
        root = self.root
        for name in ("usr", "etc/systemd/system", "etc/systemd/journald.conf.d", "etc/alternatives", "var/log/journal",
                     "run", "tmp", "proc", "sys", "dev", "root", "opt", "home", "srv"):  # fmt: skip
            (root / name).mkdir(parents=True, exist_ok=True)
        for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
            link = Path("/") / name
            if link.is_symlink():
                (root / name).symlink_to(os.readlink(link))
        for name in ("os-release", "passwd", "group", "nsswitch.conf", "ld.so.cache"):
            shutil.copy(Path("/etc") / name, root / "etc" / name)
        shutil.copytree("/etc/alternatives", root / "etc/alternatives", symlinks=True, dirs_exist_ok=True)
        (root / "etc/machine-id").write_text(uuid.uuid4().hex + "\n")
        (root / "etc/hostname").write_text(self.name + "\n")
        for name in _MASKED:
            (root / "etc/systemd/system" / name).symlink_to("/dev/null")
        (root / "etc/systemd/system/default.target").symlink_to("/usr/lib/systemd/system/multi-user.target")
        (root / "etc/systemd/journald.conf.d/box.conf").write_text(_JOURNALD)


def with_triage(root: Path) -> list[str]:
    """Take the checkout; return the options with which a box has this interpreter and triage, and a /usr/local."""
    prefixes = {Path(sys.prefix), Path(sys.base_prefix), root}
    local = Path("/usr/local")
    if Path(sys.base_prefix) == local:
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        prefixes |= {local / "bin", local / "lib" / version, *(local / "lib").glob("libpython*")}
    wanted = [
        path for path in sorted(prefixes) if path != local and (path.is_relative_to(local) or path.parts[1] != "usr")
    ]
    return ["--tmpfs=/usr/local", *(f"--bind-ro={path}" for path in wanted)]


@contextlib.contextmanager
def booted(folder: Path, options: Sequence[str] = ()) -> Iterator[Box]:
    """Take an empty folder and further options of systemd-nspawn; yield a booted box, powered off at the end."""
    box = Box(folder, options)
    try:
        box.up()
        yield box
    finally:
        box.down()
