"""Tells a watch as it goes: one line for each phase, or one JSON document for each thing that happens.

A screen tells the same and draws the rest (`triage.watching.screen`). Whatever comes from a log is escaped and masked.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, Protocol

from triage.data import knowledge
from triage.records import dataclass
from triage.report.masking import Masker, secret_name
from triage.report.names import ranks as rank_names
from triage.report.sentence import phase_name, summary
from triage.report.terminal import encodable
from triage.report.text import one_line, visible
from triage.report.text import start as beginning
from triage.report.times import duration, iso

if TYPE_CHECKING:
    from triage.compare.facts import Change
    from triage.watching.course import Turn
    from triage.watching.health import Answer
    from triage.watching.progress import Move
    from triage.watching.verdict import Verdict
    from triage.watching.watch import Watch

_NEVER = float("inf")
_VALUE, _CHANGES = 60, 12
_SHOWN = ("tp_size", "pp_size", "dp_size", "attention_backend", "quantization", "model_path")


@dataclass(slots=True)
class Style:
    """How things are written: colours, masking, all failures."""

    color: str = "auto"
    mask: bool = True
    all_failures: bool = False


class Teller(Protocol):
    """Who is told what happens. `due` is when it wants to draw next, on the monotonic clock."""

    due: float

    def began(self, watch: Watch) -> None:
        """The watch begins."""

    def started(self, watch: Watch, turn: Turn) -> None:
        """The unit was started."""

    def moved(self, watch: Watch, move: Move) -> None:
        """A phase began or ended, or the engine says that it is up."""

    def behind(self, watch: Watch) -> None:
        """A rank has been behind the others for a while."""

    def answered(self, watch: Watch, answer: Answer) -> None:
        """The health endpoint answers otherwise than before."""

    def note(self, text: str) -> None:
        """Something about the watch itself."""

    def outlived(self, watch: Watch, verdict: Verdict) -> None:
        """The unit failed, and the watch goes on with the next start."""

    def draw(self, watch: Watch) -> None:
        """Time has gone by."""

    def ended(self, watch: Watch, verdict: Verdict) -> None:
        """The watch is over."""

    def close(self) -> None:
        """Leave the terminal as it was found, however the watch came to its end."""


class Lines:
    """Tells in lines of text, each at once."""

    def __init__(self, out: IO[str], style: Style) -> None:
        """Take where to write, and how."""
        self.due = _NEVER
        self.out = out
        self.style = style
        self._masker = Masker()

    def began(self, watch: Watch) -> None:
        origin = watch.origin
        for note in origin.notes if origin is not None else []:
            self.note(note)
        self.line(opening(watch))
        if watch.restarts and origin is not None and not origin.to_start:
            self.line(f"systemd has restarted it {_times(watch.restarts)} already")

    def started(self, watch: Watch, turn: Turn) -> None:
        self.line("started", watch, turn.at)

    def moved(self, watch: Watch, move: Move) -> None:
        if move.kind == "begin":
            self.line(f"{phase_name(move.phase):<18}{usual(move.phase)}".rstrip(), watch, move.at)

    def behind(self, watch: Watch) -> None:
        self.line(late(watch), watch)

    def answered(self, watch: Watch, answer: Answer) -> None:
        self.line(f"health: {reading(answer)}", watch)

    def note(self, text: str) -> None:
        self.line(f"note: {text}")

    def outlived(self, watch: Watch, verdict: Verdict) -> None:
        self.line(verdict.text, watch)
        self.report(verdict)
        self.line("systemd restarts it; watching the next start")

    def draw(self, watch: Watch) -> None:
        """Lines are written when something happens."""

    def ended(self, watch: Watch, verdict: Verdict) -> None:
        self.line(verdict.text, watch)
        if verdict.kind == "ready":
            watch.compare(verdict)
        for text in after(watch, verdict):
            self.line(f"  {text}")
        self.report(verdict)
        for text in closing(watch, verdict):
            self.line(text)

    def close(self) -> None:
        """Lines leave nothing open."""

    def line(self, text: str, watch: Watch | None = None, moment: float | None = None) -> None:
        """Write a line, in front of it the time since the start, until now or until a moment."""
        at = ""
        if watch is not None:
            began = watch.start.began
            since = moment - began if moment is not None and began is not None else watch.elapsed
            at = f"+{duration(max(since, 0.0)):<12} "
        self.out.write(encodable(f"{at}{self.shown(text)}\n", self.out))
        self.out.flush()

    def shown(self, text: str) -> str:
        """Take any text; return it as it may be shown, on one line."""
        kept = visible(" ".join(text.splitlines()))
        return self._masker.text(kept) if self.style.mask else kept

    def report(self, verdict: Verdict) -> None:
        """Write the diagnosis."""
        from triage.report import write

        if verdict.report is None:
            return
        self.out.write("\n")
        color: Any = self.style.color
        write(verdict.report, self.out, color=color, all_failures=self.style.all_failures, mask=self.style.mask)
        self.out.flush()


class Documents:
    """Tells in JSON, one document a line: `event`, `unit`, `time`, `elapsed` in seconds, and what belongs to it."""

    def __init__(self, out: IO[str], style: Style) -> None:
        """Take where to write, and how."""
        self.due = _NEVER
        self._out = out
        self._style = style
        self._masker = Masker()
        self._unit = ""

    def began(self, watch: Watch) -> None:
        self._unit = watch.unit
        origin = watch.origin
        self._write("watch", watch, state="waiting" if watch.waiting and not (origin and origin.running) else "running",
                    timeout=watch.settings.timeout, restarts=watch.restarts)  # fmt: skip
        for note in origin.notes if origin is not None else []:
            self.note(note)

    def started(self, watch: Watch, turn: Turn) -> None:
        self._write("start", watch, invocation=watch.course.invocation, at=iso(turn.at, True))

    def moved(self, watch: Watch, move: Move) -> None:
        kind = "engine-ready" if move.kind == "ready" else "phase"
        edge = {} if move.kind == "ready" else {"phase": move.phase, "edge": move.kind}
        rank = watch.start.last_rank(move.phase) if move.kind == "end" else ""
        self._write(kind, watch, at=iso(move.at, True), **edge, **({"last_rank": rank} if rank else {}))

    def behind(self, watch: Watch) -> None:
        found = watch.start.behind()
        if found is not None:
            self._write("behind", watch, ranks=found.ranks, phase=found.phase)

    def answered(self, watch: Watch, answer: Answer) -> None:
        self._write("health", watch, state=answer.state, detail=answer.detail)

    def note(self, text: str) -> None:
        self._write("note", None, text=text)

    def outlived(self, watch: Watch, verdict: Verdict) -> None:
        self._verdict(watch, verdict, final=False)

    def draw(self, watch: Watch) -> None:
        """Documents are written when something happens."""

    def ended(self, watch: Watch, verdict: Verdict) -> None:
        if verdict.kind == "ready":
            watch.compare(verdict)
        self._verdict(watch, verdict, final=True)

    def close(self) -> None:
        """Documents leave nothing open."""

    def _verdict(self, watch: Watch, verdict: Verdict, *, final: bool) -> None:
        document: dict[str, Any] = {
            "status": verdict.status,
            "text": verdict.text,
            "loop": verdict.loop,
            "final": final,
        }
        document["phases"] = [
            {"phase": name, "seconds": round(took, 3), "last_rank": watch.start.last_rank(name) or None}
            for name, took in durations(watch)
        ]
        if verdict.before is not None:
            document["before"] = summary(verdict.before)
            document["changes"] = [
                {"name": one.name, "before": _plain(one, one.good), "now": _plain(one, one.bad), "kind": one.kind}
                for one in verdict.changes
            ]
        if verdict.report is not None:
            from triage.report.json_report import document as made
            from triage.report.prepare import prepared

            document["report"] = made(prepared(verdict.report, mask=self._style.mask))
        self._write(verdict.kind, watch, **document)

    def _write(self, event: str, watch: Watch | None, **data: Any) -> None:
        document: dict[str, Any] = {"schema_version": 1, "event": event, "unit": self._unit}
        if watch is not None:
            document["time"] = iso(watch.host.now(), True)
            document["elapsed"] = round(watch.elapsed, 3)
        document.update({name: self._masked(value) for name, value in data.items()})
        self._out.write(json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n")
        self._out.flush()

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._masker.text(value) if self._style.mask else value
        if isinstance(value, list):
            return [self._masked(one) for one in value]
        if isinstance(value, dict):
            return {name: self._masked(one) for name, one in value.items()}
        return value


def opening(watch: Watch) -> str:
    """Take a watch that begins; return what is watched, since when and for how long."""
    origin = watch.origin
    most = f"for {duration(watch.settings.timeout)} at most"
    if origin is None or origin.to_start:
        return f"starting {watch.unit}, watching {most}"
    if origin.running:
        return f"{watch.unit} runs; following it from its start, {most}"
    if origin.recent and origin.ended is not None:
        return f"{watch.unit} ended {duration(origin.ended)} ago"
    ago = f" (its last run ended {duration(origin.ended)} ago)" if origin.ended is not None else ""
    return f"{watch.unit} does not run{ago}; waiting for its next start, {most} (--start starts it)"


def late(watch: Watch) -> str:
    """Take a watch; return which ranks are behind, and where they are."""
    found = watch.start.behind()
    if found is None:
        return ""
    where = f"still in {phase_name(found.phase)}" if found.phase else "nothing said yet"
    return f"behind: {rank_names(found.ranks, limit=4)} ({where})"


def usual(phase: str) -> str:
    """Take a phase; return which part of a start it usually takes."""
    row = next((row for row in knowledge("starts")["phases"] if row["phase"] == phase), None)
    return f"usually {row['usual'][0]} to {row['usual'][1]} % of a start" if row else ""


def reading(answer: Answer) -> str:
    """Take an answer; return what it means."""
    meaning = {
        "ok": "the endpoint answers",
        "refused": "nobody listens yet, which is normal until the server is up",
        "starting": "the server is starting",
        "silent": "the server is there, but does not answer",
        "wrong": "no answer of a server that is up; is the URL right?",
    }
    return f"{answer.detail}: {meaning[answer.state]}" if answer.state != "ok" else meaning["ok"]


def durations(watch: Watch) -> list[tuple[str, float]]:
    """Take a watch; return the phases that ended and how many seconds each took, in their order."""
    found = []
    for name in watch.start.order:
        span = watch.start.span(name)
        if span is not None and span.end is not None:
            found.append((name, max(span.end - span.start, 0.0)))
    return found


def after(watch: Watch, verdict: Verdict) -> list[str]:
    """Take a watch that is over; return how long its phases took and, where it came up, what changed."""
    texts = []
    whole = sum(took for _, took in durations(watch)) or 1.0
    if verdict.kind == "ready":
        for name, took in durations(watch):
            last = watch.start.last_rank(name)
            texts.append(
                f"{phase_name(name):<18}{duration(took):<13}{100 * took / whole:3.0f} %"
                + (f"  {last} last" if last else "")
            )
    if verdict.before is not None:
        texts.append(f"the run before it failed: {summary(verdict.before)}")
        texts += [f"changed since: {change(one)}" for one in verdict.changes[:_CHANGES]]
        if len(verdict.changes) > _CHANGES:
            texts.append(f"and {len(verdict.changes) - _CHANGES} more")
        if not verdict.changes:
            texts.append("no flag and no release changed since, as far as the logs say")
    return texts


def closing(watch: Watch, verdict: Verdict) -> list[str]:
    """Take a watch that is over; return what is said after the diagnosis."""
    if verdict.kind in ("quiet", "out-of-time") and verdict.report is None:
        return [late(watch)] if late(watch) else []
    if verdict.loop:
        return [f"restart loop: systemd has restarted it {_times(max(watch.restarts, 1))}, and it fails again"]
    if verdict.kind == "failed" and watch.restarts_soon():
        return ["systemd starts it again (Restart= of the unit); --restarts N watches the next N starts"]
    return []


def change(one: Change) -> str:
    """Take a fact that differs; return it as `name: before -> now`."""
    return f"{one.name}: {_value(one, one.good)} -> {_value(one, one.bad)}"


def _value(one: Change, value: object) -> str:
    return "(not said)" if value is None else beginning(one_line(str(_plain(one, value))), _VALUE)


def _plain(one: Change, value: object) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return "<secret>" if secret_name(one.name) else str(value)[:1000]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"
