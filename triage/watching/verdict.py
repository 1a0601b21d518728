"""What came of a watch: ready, failed, gone quiet, out of time, stopped; with the diagnosis that belongs to it."""

from __future__ import annotations

from triage import __version__
from triage.model import Event, Evidence, Position, Report, Tool, TriageError
from triage.model import Verdict as Summary
from triage.pipeline import exit_status
from triage.records import dataclass, field, replace
from triage.report.sentence import phase_name, root_of
from triage.report.times import duration
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.compare.facts import Change
    from triage.follow import Follower
    from triage.library import Library
    from triage.model import Incident
    from triage.sources.systemctl import UnitState
    from triage.watching.course import Turn
    from triage.watching.progress import Rank
    from triage.watching.watch import Watch

Kind = Literal["ready", "failed", "quiet", "out-of-time", "stopped"]

OUT_OF_TIME = 4
_UNKNOWN = 3
# Silence explains nothing by itself: whatever else can be the root comes before it, but for what only follows.
_SILENCE, _GONE, _ENDED = 1.9, 1.1, 2.9
_SAID = 200


@dataclass(slots=True)
class Verdict:
    """What came of a watch, and the exit status that says so.

    `report` is the diagnosis, None where there is nothing to diagnose. `loop` says that systemd restarts a unit that
    fails again and again. `changes` are the facts that differ from the run before, which failed with `before`.
    """

    kind: Kind
    status: int
    text: str
    report: Report | None = None
    loop: bool = False
    changes: list[Change] = field(default_factory=list)
    before: Incident | None = None


class Verdicts:
    """Makes the verdicts of one watch. `outlived` counts the failures after which it went on."""

    def __init__(self, watch: Watch, follower: Follower, library: Library) -> None:
        """Take the watch, the follower that read the same lines, and the signatures."""
        self.outlived = 0
        self._watch = watch
        self._follower = follower
        self._library = library
        self._roots: list[str] = []
        self._found = "it is down"

    def ready(self) -> Verdict:
        """The unit is up: say how long that took."""
        return Verdict("ready", 0, f"ready after {duration(self._took())}")

    def compare(self, verdict: Verdict) -> None:
        """Take the verdict that the unit is up; if the run before it failed, add that and what changed since."""
        before, incident = self._before(), self._incident()
        if before is None or before.outcome != "failed" or incident is None:
            return
        from triage.compare.facts import changes

        verdict.before = before
        old, new = before.facts, incident.facts
        found = changes(old, {name: value for name, value in new.items() if not _untold(name, old)})
        verdict.changes = [one for one in found if not one.noise]

    def rehearse(self) -> None:
        """Diagnose and render what was read so far, for nobody: what that loads and compiles is there then."""
        from triage.report import render

        incident = self._look()
        if incident is not None:
            render(self._report(incident))

    def failed(self, turn: Turn | None) -> Verdict:
        """The unit failed, ended, or is restarted."""
        if turn is not None and turn.kind == "ended":
            self._add("unit", "watch/ended", _ENDED, f"{self._watch.unit} ended before it was ready")
        said = turn.said.removeprefix(f"{self._watch.unit}: ") if turn is not None and turn.said else self._found
        verdict = self._diagnosed("failed", f"failed: {said.rstrip('.')}")
        root = root_of(verdict.report.incidents[-1]) if verdict.report else None
        mark = root.fingerprint if root is not None else "none"
        again = mark in self._roots or self._watch.course.failures > len(self._roots) + 1
        self._roots.append(mark)
        verdict.loop = again or self._watch.course.restarts > 1 + self.outlived or self._joined_late()
        return verdict

    def quiet(self, seconds: float) -> Verdict:
        """Nothing came for longer than the limit, or than a service that lost a process is given."""
        watch = self._watch
        rank = self._suspect()
        behind = watch.start.behind()
        name = behind.phase if behind is not None else watch.start.phase
        phase = f" in {phase_name(name)}" if name else ""
        last = f"; its last line: {rank.last_text[:_SAID]}" if rank is not None and rank.last_text else ""
        text = f"nothing more for {duration(seconds)}{phase}, though systemd calls the unit active{last}"
        self._add("silence", "watch/quiet", _SILENCE, text, rank, phase=name)
        return self._diagnosed("quiet", f"quiet for {duration(seconds)}{phase}")

    def out_of_time(self) -> Verdict:
        """The time is over."""
        watch = self._watch
        phase = f" in {phase_name(watch.start.phase)}" if watch.start.phase else ""
        where = "not started" if watch.waiting else f"still{phase}" if watch.start.ready is None else "no answer"
        if watch.start.ready is not None and watch.answer is not None:
            where = f"the engine is ready, but the endpoint is not: {watch.answer.detail}"
        verdict = self._diagnosed("out-of-time", f"out of time after {duration(watch.settings.timeout)}: {where}")
        verdict.status = OUT_OF_TIME
        if verdict.report and verdict.report.incidents[-1].outcome not in ("failed", "degraded"):
            verdict.report = None
        return verdict

    def stopped(self) -> Verdict:
        """The operator stopped it before it was ready."""
        return Verdict("stopped", _UNKNOWN, "stopped by the operator before it was ready")

    def hopeless(self) -> bool:
        """Whether what was read so far is a failure that a service does not recover from."""
        incident = self._follower.last.get(self._watch.unit)
        root = root_of(incident) if incident is not None and incident.outcome == "failed" else None
        if root is None or not root.fatal or incident is None:
            return False
        pids = {str(process.pid) for process in incident.processes}
        return root.kind != "kernel" or bool(root.ranks) or root.data.get("pid") in pids

    def found_gone(self, gone: dict[int, str]) -> None:
        """Processes of ranks are no longer there, and the unit is."""
        for pid, label in gone.items():
            rank = self._watch.start.ranks.get(label)
            text = f"process {pid} is gone, and the service goes on without it"
            self._found = f"{label} is gone and said nothing"
            self._add("exit", "watch/process-gone", _GONE, text, rank, pid=str(pid))

    def found_dead(self, state: UnitState) -> None:
        """The unit is down by what systemd answers, and its journal did not say so."""
        said = f"{self._watch.unit} is {state.active_state}" + (f", result {state.result}" if state.result else "")
        self._found = f"{state.active_state}, result {state.result or 'unknown'}"
        self._add("unit", "watch/state", _ENDED, said, result=state.result)

    def _add(
        self, kind: Literal["unit", "silence", "exit"], rule: str, level: float, text: str, rank: Rank | None = None,
        **data: str,
    ) -> None:  # fmt: skip
        label = rank.label if rank is not None else ""
        at = Position(self._watch.host.now(), zoned=True, rank=label or None, pid=rank.pid if rank else None)
        evidence = [Evidence(at, rank.last_text)] if rank is not None and rank.last_text else []
        self._follower.flush()
        self._follower.add(
            Event(
                kind,
                rule,
                at,
                "",
                text,
                level=level,
                fatal=True,
                evidence=evidence,
                ranks=[label] if label else [],
                unit=self._watch.unit,
                invocation=self._watch.course.invocation,
                data=data,
                end=at.time,
            )
        )

    def _suspect(self) -> Rank | None:
        """The rank that is behind, or else the one that spoke last."""
        start = self._watch.start
        behind = start.behind()
        if behind is not None and behind.ranks[0] in start.ranks:
            return start.ranks[behind.ranks[0]]
        spoken = max(start.ranks.values(), key=lambda rank: rank.last_time, default=None)
        return spoken if spoken is None or not spoken.label or len(start.ranks) < 3 else replace(spoken, label="")

    def _diagnosed(self, kind: Kind, text: str) -> Verdict:
        incident = self._incident()
        if incident is None:
            return Verdict(kind, _UNKNOWN, text)
        report = self._report(incident)
        return Verdict(kind, exit_status(report) or _UNKNOWN, text, report)

    def _report(self, incident: Incident) -> Report:
        from triage.report import summary

        root = root_of(incident)
        tool = Tool(__version__, len(self._library.signatures), self._library.digest)
        return Report(tool, [Summary(1, root.id if root else None, summary(incident))], [incident])

    def _incident(self) -> Incident | None:
        self._follower.flush()
        return self._look()

    def _look(self) -> Incident | None:
        self._follower.look()
        return self._follower.last.get(self._watch.unit)

    def _took(self) -> float:
        watch = self._watch
        start = watch.start
        engine = start.ready - start.began if start.ready is not None and start.began is not None else 0.0
        return engine if watch.settings.health is None and engine else watch.elapsed

    def _joined_late(self) -> bool:
        """Whether systemd had restarted the unit already when the watch began."""
        origin = self._watch.origin
        return origin is not None and origin.restarts > 0 and not origin.to_start

    def _before(self) -> Incident | None:
        """The run before this one, if it failed and was no longer than a start and a while."""
        from triage.pipeline import Options, diagnose
        from triage.watching.origin import run_before

        watch = self._watch
        began = watch.start.began
        try:
            invocation = run_before(watch.host, watch.unit, began) if began is not None else ""
            if not invocation:
                return None
            query = replace(watch.host.query, units=[watch.unit], invocation=invocation)
            report = diagnose(journal=query, options=Options(library=self._library))
        except (TriageError, OSError):
            return None  # a journal that can't be read makes a unit no less ready
        return report.incidents[-1] if report.incidents else None


def _untold(name: str, old: dict[str, object]) -> bool:
    """What is known from the host now, and could not be known of the run before, is no change."""
    return name not in old and name.startswith(("env.", "host."))
