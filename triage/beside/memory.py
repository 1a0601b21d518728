"""What was told of a unit already: kept in a file between two runs of the hook, gone with the next boot."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass, field

from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The first times of the same failure are told, then each time that there are ten times as many, then after an hour.
_FIRST_TIMES = 3
_AGAIN_AFTER = 3600.0
_MOST = 200
# Seconds between two looks at the same unit.
_LEAST, _MOST_APART = 15.0, 120.0
_LOCK = "lock"


@dataclass(slots=True)
class Told:
    """A failure that was told: how often it came, and when it was last written (seconds since the epoch)."""

    times: int = 0
    written: float = 0.0


@dataclass(slots=True)
class Memory:
    """The failures of one unit by fingerprint, its invocations that were looked at, and when that last was.

    `idle` counts the last looks, soon after each other, that wrote nothing.
    """

    failures: dict[str, Told] = field(default_factory=dict)
    invocations: list[str] = field(default_factory=list)
    looked: float = 0.0
    idle: int = 0

    def knows(self, invocation: str | None) -> bool:
        """Whether this invocation was looked at before; what has none is always new."""
        return invocation is not None and invocation in self.invocations

    def count(self, fingerprint: str, more: int, now: float) -> tuple[int, bool]:
        """Take a failure, how often it came since, and the time; return how often in all, and whether to write it."""
        told = self.failures.setdefault(fingerprint, Told())
        before, told.times = told.times, told.times + more
        worth = (
            before < _FIRST_TIMES
            or len(str(before)) < len(str(told.times))
            or not 0 <= now - told.written < _AGAIN_AFTER
        )
        if worth:
            told.written = now
        while len(self.failures) > _MOST:
            del self.failures[next(iter(self.failures))]
        return told.times, worth

    def note(self, invocations: list[str]) -> None:
        """Take invocations that were looked at."""
        self.invocations = list(dict.fromkeys([*self.invocations, *invocations]))[-_MOST:]


def recall(folder: Path, unit: str) -> Memory:
    """Take the folder and a unit; return what was told of it, nothing where that can't be read."""
    try:
        found: Any = json.loads((folder / f"{unit}.json").read_text("utf-8"))
        return Memory(
            {str(name): Told(int(told["times"]), float(told["written"])) for name, told in found["failures"].items()},
            [str(name) for name in found["invocations"]],
            float(found["looked"]),
            int(found["idle"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Memory()


def keep(folder: Path, unit: str, memory: Memory) -> None:
    """Take the folder, a unit and its memory; write it, whole or not at all."""
    file = folder / f"{unit}.json"
    draft = folder / f".{unit}.{os.getpid()}"
    draft.write_text(json.dumps(asdict(memory)), "utf-8")
    draft.replace(file)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Take the folder; wait until no other run of the hook is at work."""
    import fcntl

    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def pause(memory: Memory) -> float:
    """Take a unit's memory; return the seconds to wait before it is looked at again.

    Of a unit that restarts in a loop and always fails in the same way less and less is looked at.
    """
    least = min(_LEAST * 2 ** min(memory.idle, 8), _MOST_APART)
    left = memory.looked + least - time.time()
    return left if 0 < left <= least else 0.0


def looked(memory: Memory, *, wrote: bool) -> None:
    """Take a unit's memory, and whether this look wrote something; note the look."""
    now = time.time()
    often = now - memory.looked < 2 * _MOST_APART
    memory.idle = memory.idle + 1 if often and not wrote else 0
    memory.looked = now
