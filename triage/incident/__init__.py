"""Events to incidents: attempts apart, facts, phases, processes, failures folded over ranks and repeats."""

from triage.incident.attempts import Attempt, split
from triage.incident.build import build

__all__ = ["Attempt", "build", "split"]
