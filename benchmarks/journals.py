"""Writes native journals from an export stream, through systemd-journal-remote, so that no journald is needed."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import logs

if TYPE_CHECKING:
    from collections.abc import Iterator

UNIT = "sglang@a.service"
_REMOTE = "/lib/systemd/systemd-journal-remote"
_MACHINE, _BOOT = "6" * 32, "b" * 32
_OTHERS = ("node-exporter", "kubelet", "containerd", "chronyd", "sshd", "dcgm-exporter")
_PER_LINE = 130  # bytes of a line of `logs`, about


def available() -> str | None:
    """Return the program that writes journals, None where it is not installed."""
    return shutil.which("systemd-journal-remote") or (_REMOTE if Path(_REMOTE).is_file() else None)


def write(folder: Path, entries: int, seed: int, *, share: float = 0.6, runs: int = 10, last: int = 15_000) -> None:
    """Write a journal of about `entries` entries to a folder.

    `share` of them are of one unit, which was started `runs` times and failed each time; the last run has `last`
    entries at most.
    """
    program = available()
    if program is None:
        raise RuntimeError("systemd-journal-remote is not installed (Debian: apt-get install systemd-journal-remote)")
    folder.mkdir(parents=True, exist_ok=True)
    command = [program, "--output", str(folder / "bench.journal"), "--compress=yes", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        block: list[str] = []
        for text in _stream(entries, seed, share, runs, last):
            block.append(text)
            if len(block) == 2000:
                process.stdin.write("".join(block).encode())
                block.clear()
        process.stdin.write("".join(block).encode())
        process.stdin.close()
    if process.returncode:
        raise RuntimeError(f"systemd-journal-remote ended with {process.returncode}")


def _stream(entries: int, seed: int, share: float, runs: int, last: int) -> Iterator[str]:
    """Yield the entries of a journal in the export format."""
    chance = random.Random(seed)
    own = int(entries * share)
    last = min(last, own // max(runs, 1))
    sizes = [(own - last) // max(runs - 1, 1)] * (runs - 1) + [last]
    clock = _Clock(logs.START * 1_000_000)
    others = [_fields(f"{name}.service", 700 + n, name, f"{n + 1:032x}") for n, name in enumerate(_OTHERS)]
    for run, size in enumerate(sizes):
        invocation = f"{run + 0xA0:032x}"
        ranks = {rank: _fields(UNIT, 4000 + run * 10 + rank, "python", invocation) for rank in range(8)}
        main = _fields(UNIT, 3999 + run * 10, "python", invocation)
        yield _entry(clock, _manager(invocation), f"Started {UNIT} - SGLang server.")
        for _, rank, text in logs.rows(size * _PER_LINE, seed + run, logs.Mix(runs=1, interleaved=0.4 * (run % 5 < 2))):
            yield _entry(clock, main if rank is None else ranks[rank], text)
            while chance.random() < 1 - share:
                yield _entry(clock, chance.choice(others), f'level=info msg="scrape done" took={chance.random():.6f}s')
        for text in ("Main process exited, code=killed, status=9/KILL", "Failed with result 'signal'."):
            yield _entry(clock, _manager(invocation), f"{UNIT}: {text}")
        yield _entry(clock, _KERNEL, "eth0: link is up")


class _Clock:
    def __init__(self, start: int) -> None:
        self.start = self.now = start

    def tick(self) -> tuple[int, int]:
        self.now += 20_000
        return self.now, self.now - self.start + 60_000_000


def _fields(unit: str, pid: int, name: str, invocation: str) -> str:
    """Return the fields that journald adds to what a unit prints, as text of an export."""
    return (
        f"PRIORITY=6\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER={name}\n_TRANSPORT=stdout\n_STREAM_ID={pid:032x}\n_PID={pid}\n"
        f"_UID=1000\n_GID=1000\n_COMM={name}\n_EXE=/opt/venv/bin/{name}\n_CMDLINE={name} -m {name}.launch\n"
        f"_CAP_EFFECTIVE=0\n_SELINUX_CONTEXT=unconfined\n_SYSTEMD_CGROUP=/system.slice/{unit}\n_SYSTEMD_UNIT={unit}\n"
        f"_SYSTEMD_SLICE=system.slice\n_SYSTEMD_INVOCATION_ID={invocation}\n_MACHINE_ID={_MACHINE}\n"
        f"_HOSTNAME=gpu-node-07\n_RUNTIME_SCOPE=system\n"
    )


def _manager(invocation: str) -> str:
    return (
        f"PRIORITY=6\nSYSLOG_FACILITY=3\nSYSLOG_IDENTIFIER=systemd\n_TRANSPORT=journal\n_PID=1\n_UID=0\n_GID=0\n"
        f"_COMM=systemd\n_EXE=/usr/lib/systemd/systemd\n_SYSTEMD_CGROUP=/init.scope\n_SYSTEMD_UNIT=init.scope\n"
        f"UNIT={UNIT}\nINVOCATION_ID={invocation}\n_MACHINE_ID={_MACHINE}\n_HOSTNAME=gpu-node-07\n"
    )


_KERNEL = (
    "PRIORITY=6\nSYSLOG_FACILITY=0\nSYSLOG_IDENTIFIER=kernel\n_TRANSPORT=kernel\n"
    f"_MACHINE_ID={_MACHINE}\n_HOSTNAME=gpu-node-07\n"
)


def _entry(clock: _Clock, fields: str, message: str) -> str:
    now, since = clock.tick()
    return f"__REALTIME_TIMESTAMP={now}\n__MONOTONIC_TIMESTAMP={since}\n_BOOT_ID={_BOOT}\n{fields}MESSAGE={message}\n\n"
