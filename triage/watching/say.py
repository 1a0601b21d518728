"""Tells a watch as it goes, in one line for each phase.

A screen tells the same and draws the rest (`triage.watching.screen`); programs get documents
(`triage.watching.documents`). Whatever comes from a log is escaped and masked.
"""

from __future__ import annotations

from triage.records import dataclass
from triage.report.masking import Masker
from triage.report.sentence import phase_name
from triage.report.terminal import encodable
from triage.report.text import visible
from triage.report.times import duration
from triage.typed import IO, TYPE_CHECKING, Any, Protocol
from triage.watching.telling import after, closing, late, opening, reading, times, usual

if TYPE_CHECKING:
    from triage.watching.course import Turn
    from triage.watching.health import Answer
    from triage.watching.progress import Move
    from triage.watching.verdict import Verdict
    from triage.watching.watch import Watch

_NEVER = float("inf")


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
            self.line(f"systemd has restarted it {times(watch.restarts)} already")

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
