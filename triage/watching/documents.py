"""Tells a watch in JSON, for programs: one document for each thing that happens."""

from __future__ import annotations

import json

from triage.report.masking import Masker
from triage.report.sentence import summary
from triage.report.times import iso
from triage.typed import IO, TYPE_CHECKING, Any
from triage.watching.telling import durations, plain

if TYPE_CHECKING:
    from triage.watching.course import Turn
    from triage.watching.health import Answer
    from triage.watching.progress import Move
    from triage.watching.say import Style
    from triage.watching.verdict import Verdict
    from triage.watching.watch import Watch

_NEVER = float("inf")
_RANKS = 512


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
        if move.kind == "progress":
            bar = watch.start.bar(move.phase)
            if bar is not None:
                self._write("progress", watch, phase=move.phase, done=bar.done, of=bar.of, percent=bar.percent)
            return
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
        labelled = [rank for rank in watch.start.ranks.values() if rank.label][:_RANKS]
        document["ranks"] = [
            {
                "rank": rank.label,
                "pid": rank.pid,
                "phases": {
                    name: round(span.end - span.start, 3) if span.end is not None else None
                    for name, span in rank.spans.items()
                },
            }
            for rank in labelled
        ]
        if verdict.before is not None:
            document["before"] = summary(verdict.before)
            document["changes"] = [
                {"name": one.name, "before": plain(one, one.good), "now": plain(one, one.bad), "kind": one.kind}
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
