"""Draws a watch on a terminal, once a second: the phases with their times, bars and ranks, and what was said last."""

# ruff: noqa: ARG002  what a teller is told is more than a screen needs: it looks at the watch itself

from __future__ import annotations

import time

from triage.report.sentence import phase_name
from triage.report.terminal import encodable
from triage.report.text import one_line
from triage.report.times import duration
from triage.typed import IO, TYPE_CHECKING
from triage.watching.say import Lines
from triage.watching.telling import late, reading, usual

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from triage.watching.course import Turn
    from triage.watching.health import Answer
    from triage.watching.progress import Move
    from triage.watching.say import Style
    from triage.watching.verdict import Verdict
    from triage.watching.watch import Watch

# Seconds between two drawings: when nothing happens, and when much does.
_PACE, _LEAST = 1.0, 0.2


class Screen(Lines):
    """Draws what goes on, and writes what lasts above it."""

    def __init__(self, out: IO[str], style: Style) -> None:
        """Take the terminal, and how to write."""
        super().__init__(out, style)
        self.due = 0.0
        self._drawn = 0.0
        self._live: Live | None = None

    def began(self, watch: Watch) -> None:
        super().began(watch)
        from rich.console import Console
        from rich.live import Live

        console = Console(
            file=self.out,
            markup=False,
            highlight=False,
            emoji=False,
            no_color=True if self.style.color == "never" else None,
        )
        self._live = Live(
            console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()
        self._draw(watch)

    def started(self, watch: Watch, turn: Turn) -> None:
        self._soon()

    def moved(self, watch: Watch, move: Move) -> None:
        self._soon()

    def behind(self, watch: Watch) -> None:
        self._soon()

    def answered(self, watch: Watch, answer: Answer) -> None:
        self._soon()

    def outlived(self, watch: Watch, verdict: Verdict) -> None:
        self.close(watch)
        super().outlived(watch, verdict)
        self._live = None
        self.began(watch)

    def draw(self, watch: Watch) -> None:
        if time.monotonic() >= self.due:
            self._draw(watch)

    def ended(self, watch: Watch, verdict: Verdict) -> None:
        self.close(watch)
        super().ended(watch, verdict)

    def close(self, watch: Watch | None = None) -> None:
        if self._live is None:
            return
        if watch is not None:
            self._draw(watch)
        self._live.stop()
        self._live = None

    def line(self, text: str, watch: Watch | None = None, moment: float | None = None) -> None:
        """Write a line above what is drawn."""
        if self._live is None:
            super().line(text, watch, moment)
            return
        from rich.text import Text

        self._live.console.print(Text(encodable(self.shown(text), self.out)), soft_wrap=True)

    def _soon(self) -> None:
        self.due = min(self.due, max(self._drawn + _LEAST, time.monotonic()))

    def _draw(self, watch: Watch) -> None:
        if self._live is None:
            return
        self._live.update(self._picture(watch), refresh=True)
        self._drawn = time.monotonic()
        self.due = self._drawn + _PACE

    def _picture(self, watch: Watch) -> Text:
        from rich.text import Text

        whole = Text(no_wrap=True, overflow="ellipsis")
        state = "waiting for its start" if watch.waiting else "starting"
        left = duration(watch.settings.timeout)
        self._add(whole, f"{watch.unit} {state}, {duration(watch.elapsed)} (given up after {left})", "bold")
        for name in watch.start.order:
            self._add(whole, *self._row(watch, name))
        if watch.start.ready is not None:
            self._add(whole, "  ✓ the engine is ready", "green")
        if watch.settings.health is not None:
            said = reading(watch.answer) if watch.answer is not None else "not asked yet"
            self._add(whole, f"  health  {said}", "dim")
        last = max(watch.start.ranks.values(), key=lambda rank: rank.last_time, default=None)
        if last is not None and last.last_text:
            self._add(whole, f"  last    {last.label + ' ' if last.label else ''}{one_line(last.last_text)}", "dim")
        whole.right_crop(1)
        return whole

    def _row(self, watch: Watch, name: str) -> tuple[str, str]:
        """Return the line of a phase, and its style."""
        span = watch.start.span(name)
        title = f"{phase_name(name):<18}"
        if span is None:
            return f"    {title}", "dim"
        if span.end is not None:
            last = watch.start.last_rank(name)
            return f"  ✓ {title}{duration(max(span.end - span.start, 0)):<13}{last + ' last' if last else ''}", "green"
        parts = [f"{duration(max(watch.host.now() - span.start, 0)):<13}"]
        bar = watch.start.bar(name)
        if bar is not None:
            parts.append(f"{bar.percent} % ({bar.done:,} of {bar.of:,})")
        parts.append(usual(name))
        behind = watch.start.behind()
        if behind is not None and behind.phase == name:
            parts.append(late(watch))
        return f"  > {title}{'  '.join(part for part in parts if part)}", "bold cyan"

    def _add(self, whole: Text, text: str, style: str) -> None:
        whole.append(encodable(f"{self.shown(text)}\n", self.out), style)
