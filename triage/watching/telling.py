"""What is said of a watch, in words: where it begins, who is behind, what an answer means, what changed."""

from __future__ import annotations

from triage.data import knowledge
from triage.report.masking import secret_name
from triage.report.names import ranks as rank_names
from triage.report.sentence import phase_name, summary
from triage.report.text import one_line
from triage.report.text import start as beginning
from triage.report.times import duration
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.compare.facts import Change
    from triage.watching.health import Answer
    from triage.watching.verdict import Verdict
    from triage.watching.watch import Watch

_VALUE, _CHANGES = 60, 12
# Ranks differ in a phase where the slowest took so much longer than the quickest: a part of its time, and seconds.
_APART, _LEAST = 0.2, 1.0


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
            share = f"{100 * took / whole:3.0f} %"
            texts.append(f"{phase_name(name):<18}{duration(took):<13}{share}{_spread(watch, name)}")
    if verdict.before is not None:
        texts.append(f"the run before it failed: {summary(verdict.before)}")
        texts += [f"changed since: {change(one)}" for one in verdict.changes[:_CHANGES]]
        if len(verdict.changes) > _CHANGES:
            texts.append(f"and {len(verdict.changes) - _CHANGES} more")
        if not verdict.changes:
            texts.append("no flag and no release changed since, as far as the logs say")
    return texts


def _spread(watch: Watch, name: str) -> str:
    """Say which rank was last, or how long the quickest and the slowest one took where they differ."""
    took = watch.start.times(name)
    if len(took) > 1 and took[-1][0] - took[0][0] > max(_APART * took[-1][0], _LEAST):
        (quick, first), (slow, last) = took[0], took[-1]
        return f"  {first} {duration(quick)} to {last} {duration(slow)}"
    last = watch.start.last_rank(name)
    return f"  {last} last" if last else ""


def closing(watch: Watch, verdict: Verdict) -> list[str]:
    """Take a watch that is over; return what is said after the diagnosis."""
    if verdict.kind in ("quiet", "out-of-time") and verdict.report is None:
        return [late(watch)] if late(watch) else []
    if verdict.loop:
        return [f"restart loop: systemd has restarted it {times(max(watch.restarts, 1))}, and it fails again"]
    if verdict.kind == "failed" and watch.restarts_soon():
        return ["systemd starts it again (Restart= of the unit); --restarts N watches the next N starts"]
    return []


def change(one: Change) -> str:
    """Take a fact that differs; return it as `name: before -> now`."""
    return f"{one.name}: {_value(one, one.good)} -> {_value(one, one.bad)}"


def _value(one: Change, value: object) -> str:
    return "(not said)" if value is None else beginning(one_line(str(plain(one, value))), _VALUE)


def plain(one: Change, value: object) -> Any:
    """Take a fact and one of its values; return that as it may be shown: a number, or text without a secret."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return "<secret>" if secret_name(one.name) else str(value)[:1000]


def times(count: int) -> str:
    """Take a count; return it in words."""
    return "once" if count == 1 else f"{count:,} times"
