"""The clocks of several logs: by how much they differ, and whose line came before whose.

Ranks wait for each other while they start: once torch.distributed is set up, once every rank has loaded its weights
and the KV pool is sized, all of them log within a second. So the first time of such a line in each log shows how far
their clocks are apart.
"""

from __future__ import annotations

from bisect import bisect_right

from triage.fingerprint import mask_volatile
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.incident.attempts import Attempt

# Phases whose edge all ranks pass together.
_BARRIERS = (("phase/distributed", "end"), ("phase/kv-pool", "begin"), ("phase/graphs", "begin"))
# Zones differ by quarters of an hour.
_ZONE_STEP = 900.0
# A zone's shift is told from a wrong clock where so few seconds are left over.
_ZONE_REST = 3.0


@dataclass(slots=True)
class Offset:
    """By how many seconds a log's clock is ahead of another's, and how many moments that both logged say so."""

    seconds: float
    moments: int

    @property
    def zone(self) -> bool:
        """Whether it looks like another time zone."""
        rest = abs(self.seconds) % _ZONE_STEP
        return abs(self.seconds) > _ZONE_STEP / 2 and min(rest, _ZONE_STEP - rest) <= _ZONE_REST


def offset(one: Attempt, other: Attempt) -> Offset | None:
    """Take attempts of one run out of two logs; return how far the other's clock is ahead, None where nothing tells."""
    for moments in (_barriers, _failures):
        mine, theirs = moments(one), moments(other)
        ahead = sorted(theirs[name] - time for name, time in mine.items() if name in theirs)
        if ahead:
            return Offset(ahead[len(ahead) // 2], len(ahead))
    return None


def _barriers(attempt: Attempt) -> dict[str, float]:
    found: dict[str, float] = {}
    for event in attempt.events:
        if event.at.time is not None and (event.rule, event.data.get("edge")) in _BARRIERS:
            found.setdefault(event.rule, event.at.time)
    return found


def _failures(attempt: Attempt) -> dict[str, float]:
    """The same failure of several nodes: a lost peer, a collective that ran out of time."""
    found: dict[str, float] = {}
    for event in attempt.events:
        if event.at.time is not None and event.level is not None and event.kind in ("exception", "message", "native"):
            said = event.exception.message if event.exception is not None else event.text
            found.setdefault(f"{event.rule} {mask_volatile(said[:300])}", event.at.time)
    return found


class Scale:
    """The lines of one log beside the time of another."""

    def __init__(self, moments: Sequence[tuple[int, float]], lines: int, ahead: float) -> None:
        """Take a log's moments (a line's number and its time, rising), its number of lines, its clock's offset."""
        self._numbers = [number for number, _ in moments]
        self._times = [time - ahead for _, time in moments]
        self._lines = lines

    def time(self, number: int) -> float | None:
        """Take a line's number; return its time as far as the lines around it tell."""
        if not self._times:
            return None
        at = bisect_right(self._numbers, number)
        if at == 0 or at == len(self._numbers):
            return self._times[max(at - 1, 0)]
        return _between(number, self._numbers[at - 1 : at + 1], self._times[at - 1 : at + 1])

    def lines(self, time: float | None) -> float:
        """Take a time; return how many lines had been written by then."""
        if time is None or not self._times:
            return 0.0
        at = bisect_right(self._times, time)
        if at == 0:
            return 0.0
        if at == len(self._times):
            return float(self._lines)
        return _between(time, self._times[at - 1 : at + 1], self._numbers[at - 1 : at + 1])


def _between(value: float, given: Sequence[float], wanted: Sequence[float]) -> float:
    share = (value - given[0]) / (given[1] - given[0]) if given[1] > given[0] else 0.0
    return wanted[0] + share * (wanted[1] - wanted[0])
