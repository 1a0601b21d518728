"""Paired runs of two commands: CPU seconds of their whole process trees, wall time, peak memory.

CPU seconds and peak memory are the kernel's own (wait4(2)): they cover a process and all its descendants that it waited
for, so pipelines run in a shell. The peak is that of the largest process of the tree. Because the kernel counts what a
forked child shared with its parent before exec, this module imports little. A process's own memory, without the files
that it maps (libsystemd maps journals), is `RssAnon` of /proc/PID/status, looked at every 20 ms.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: a line of shell, or words. With `terminal` its output goes to a pseudo-terminal.

    `before` runs before each run and is not counted. `fine` are the exit statuses that are no error.
    """

    words: str | Sequence[str]
    terminal: bool = False
    before: Callable[[], None] | None = None
    fine: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Cost:
    """One run: CPU and wall time in seconds, peak resident memory in MiB."""

    cpu: float
    wall: float
    peak: float


@dataclass(slots=True)
class Runs:
    """The costs of two commands, run in turn."""

    ours: list[Cost] = field(default_factory=list)
    theirs: list[Cost] = field(default_factory=list)

    def ratios(self, what: str) -> list[float]:
        """Return ours over theirs for each pair; `what` is `cpu` or `wall`."""
        pairs = zip(self.ours, self.theirs, strict=True)
        return [getattr(one, what) / max(getattr(other, what), 1e-6) for one, other in pairs]

    def differences(self, what: str) -> list[float]:
        """Return ours less theirs for each pair, in seconds."""
        return [getattr(one, what) - getattr(other, what) for one, other in zip(self.ours, self.theirs, strict=True)]


def median(values: Sequence[float]) -> float:
    """Return the middle of some values, the mean of the two middle ones."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def pairs(ours: Command, theirs: Command, count: int, folder: Path, env: Mapping[str, str]) -> Runs:
    """Run two commands in turn, `count` times each, after one run of each that does not count."""
    found = Runs()
    for number in range(count + 1):
        one, other = run(ours, folder, env), run(theirs, folder, env)
        if number:
            found.ours.append(one)
            found.theirs.append(other)
    return found


def run(command: Command, folder: Path, env: Mapping[str, str]) -> Cost:
    """Run a command in a folder; return what it cost. Raises `RuntimeError` where it fails."""
    if command.before:
        command.before()
    begin = time.perf_counter()
    pid, drain = _start(command, folder, env)
    drain()
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    _check(command, status, folder)
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def own_memory(command: Command, folder: Path, env: Mapping[str, str]) -> float:
    """Run a command; return the largest anonymous memory of its process in MiB, without mapped files."""
    pid, _ = _start(command, folder, env)
    most = 0
    while True:
        done, status, _ = os.wait4(pid, os.WNOHANG)
        if done:
            _check(command, status, folder)
            return most / 1024
        try:
            text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            continue
        most = max([most, *(int(line.split()[1]) for line in text.splitlines() if line.startswith("RssAnon:"))])
        time.sleep(0.02)


def _start(command: Command, folder: Path, env: Mapping[str, str]) -> tuple[int, Callable[[], None]]:
    words = ["bash", "-c", f"set -o pipefail; {command.words}"] if isinstance(command.words, str) else command.words
    path = shutil.which(words[0]) or words[0]
    # GNU grep ends at the first match where its output is /dev/null, so output goes to a file.
    target, source = os.openpty() if command.terminal else (os.open(folder / "stdout", _NEW, 0o600), -1)
    if command.terminal:
        target, source = source, target
    complaints = os.open(folder / "stderr", _NEW, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    moves = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, target, 1), (os.POSIX_SPAWN_DUP2, complaints, 2)]
    pid = os.posix_spawn(path, list(words), dict(env), file_actions=moves, setsigdef=[signal.SIGPIPE])
    for descriptor in (target, complaints, null):
        os.close(descriptor)

    def drain() -> None:
        if not command.terminal:
            return
        try:
            while os.read(source, 65536):
                pass
        except OSError:  # the other end is closed
            pass
        os.close(source)

    return pid, drain


_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def _check(command: Command, status: int, folder: Path) -> None:
    code = os.waitstatus_to_exitcode(status)
    if code not in command.fine:
        said = (folder / "stderr").read_text(encoding="utf-8", errors="replace").strip()[-500:]
        raise RuntimeError(f"{command.words} ended with {code}: {said}")
