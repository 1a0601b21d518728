"""What becomes of a unit, by what systemd says of it: started, exited, failed, restarted, stopped."""

from __future__ import annotations

from triage.events.unit import UnitReader
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.model import Line

Kind = Literal["start", "failed", "ended", "stopped", "restart"]

# systemd before 250 names a unit by its description alone, so these are known by their ids (sd-messages.h).
_BY_ID = {
    "7d4958e842da4a758f6c1cdc7b36dcc5": "systemd/starting",
    "39f53479d3a045ac8e11786248231fbf": "systemd/started",
    "de5b426a63be47a7b6ac3eaac82e2f6f": "systemd/stopping",
    "9d1aaa27d60140bd96365438aad20286": "systemd/stopped",
}
# A unit whose main process died may take minutes to be called failed, while it kills what is left.
_FAILED = (
    "systemd/main-exited",
    "systemd/failed",
    "systemd/failed-to-start",
    "systemd/dependency-failed",
    "systemd/start-limit",
)
_SKIPPED = ("systemd/condition", "systemd/condition-failed")
_LONGEST = 500


@dataclass(slots=True)
class Turn:
    """A turn of a unit: it was started, it failed, it ended by itself without a failure, the operator stopped it, or
    systemd restarts it without having said why. `at` is seconds since the epoch, `said` systemd's own words.
    """

    kind: Kind
    at: float
    said: str


class Course:
    """One unit, fed with the lines that its journal gives.

    `invocation` is that of the last start, `restarts` how often systemd said that it restarts it, `failures` how many
    starts failed.
    """

    def __init__(self, unit: str) -> None:
        """Take the unit's full name."""
        self.unit = unit
        self.invocation: str | None = None
        self.running = False
        self.restarts = 0
        self.failures = 0
        self._stopping = False
        self._ended: str | None = ""
        self._reader = UnitReader()

    def feed(self, line: Line) -> list[Turn]:
        """Take a line; return what turns with it."""
        at = line.time or 0.0
        if line.unit != self.unit:
            return []
        if line.origin != "manager":
            return self._started(line.invocation, at, "") if line.invocation else []
        event = self._reader.parse(line)
        rule = event.rule if event is not None else _BY_ID.get((line.fields or {}).get("MESSAGE_ID", ""), "")
        return self._turn(rule, line, at)

    def _turn(self, rule: str, line: Line, at: float) -> list[Turn]:
        if rule in ("systemd/starting", "systemd/started"):
            return self._started(line.invocation, at, line.text)
        if rule == "systemd/stopping":
            self._stopping = True
            return []
        if rule == "systemd/restart":
            self.restarts += 1
            died, self.running = self.running, False
            return [Turn("restart", at, line.text[:_LONGEST])] if died else []
        if rule in _FAILED:
            return self._finished("stopped" if self._stopping else "failed", line, at)
        if rule == "systemd/deactivated" or rule in _SKIPPED:
            return self._finished("stopped" if self._stopping else "ended", line, at)
        if rule == "systemd/stopped" and self._stopping:
            return self._finished("stopped", line, at)
        return []

    def _started(self, invocation: str | None, at: float, said: str) -> list[Turn]:
        """A start, unless this one is known: systemd says both that it starts a unit and that it has."""
        again = invocation == self.invocation if invocation else self.running
        if again and (self.running or invocation):
            return []
        self.invocation, self.running, self._stopping = invocation, True, False
        return [Turn("start", at, said)]

    def _finished(self, kind: Kind, line: Line, at: float) -> list[Turn]:
        """An end, told once: of an end systemd says more than one thing."""
        mark = line.invocation or self.invocation
        if not self.running and self._ended == mark:
            return []
        self.running, self._ended = False, mark
        self.failures += kind == "failed"
        return [Turn(kind, at, line.text[:_LONGEST])]
