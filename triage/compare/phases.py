"""How far two runs came, phase by phase, and how long each took."""

from __future__ import annotations

from triage.data import knowledge
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Incident, Phase


@dataclass(slots=True)
class Reached:
    """A phase of one run: when its first process began it and its last one ended it, in seconds since the start.

    `processes` is how many came to it, `ended` how many of those came through it.
    """

    start: float | None
    end: float | None
    processes: int
    ended: int

    @property
    def took(self) -> float | None:
        """Seconds from the first beginning to the last end, where every process came through."""
        if self.start is None or self.end is None or self.ended < self.processes:
            return None
        return self.end - self.start


@dataclass(slots=True)
class Step:
    """A phase of both runs; None where a run did not come to it."""

    phase: str
    good: Reached | None
    bad: Reached | None


def steps(good: Incident, bad: Incident) -> list[Step]:
    """Take two runs; return the phases that either of them came to, in the order in which the good run came to them."""
    one, other = _of(good), _of(bad)
    order: list[str] = knowledge("phases")["order"]

    def place(name: str) -> tuple[float, int]:
        reached = one.get(name) or other[name]
        start = reached.start if reached.start is not None else float("inf")
        return start, order.index(name) if name in order else len(order)

    return [Step(name, one.get(name), other.get(name)) for name in sorted({*one, *other}, key=place)]


def _of(incident: Incident) -> dict[str, Reached]:
    found: dict[str, list[Phase]] = {}
    for process in incident.processes:
        for phase in process.phases:
            found.setdefault(phase.phase, []).append(phase)
    began = incident.started or 0.0
    reached = {}
    for name, phases in found.items():
        starts = [phase.start for phase in phases if phase.start is not None]
        ends = [phase.end for phase in phases if phase.end is not None]
        reached[name] = Reached(
            min(starts) - began if starts else None,
            max(ends) - began if ends else None,
            len(phases),
            sum(phase.ended for phase in phases),
        )
    if incident.ready is not None:
        at = incident.ready - began if incident.started is not None else None
        reached["ready"] = Reached(at, at, 1, 1)
    return reached
