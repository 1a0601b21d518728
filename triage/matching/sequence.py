"""Log lines: one that belongs to a failure, or several in order, the last of which does."""

from __future__ import annotations

from triage.library import worth
from triage.matching.context import Found, near
from triage.matching.result import Result, leaf, quoted
from triage.matching.subject import fold
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.library.signature import LinePart, Log
    from triage.matching.context import Context
    from triage.matching.subject import Subject
    from triage.model import Failure


def log(wanted: Log, subject: Subject, context: Context) -> Result:
    """Hold the lines of a failure, and of those before it, against a line or a sequence of lines."""
    *before, last = wanted.parts
    found = _find(last, subject, context)
    state, captures = found.state, dict(found.captures)
    phrase = (
        f"log line {_said(last)}" if not before else f"log lines {', '.join(map(_said, wanted.parts))} in this order"
    )
    if state and before:
        state = _earlier(wanted, subject, found.start, context, captures)
    score = sum(worth.LINE + worth.length(len(part.line or part.line_re or "")) for part in wanted.parts)
    return leaf(state, phrase, score, counts=len(wanted.parts), captures=captures)


def _said(part: LinePart) -> str:
    from triage.library.expressions import spoken

    return quoted(fold(part.line) if part.line else spoken(part.line_re or ""))


def _find(part: LinePart, subject: Subject, context: Context, end: int | None = None) -> Found:
    """Look for a line in a failure's folded text, before a place in it if one is given, else also line by line."""
    folded = subject.text if end is None else subject.text[:end]
    if part.line is not None:
        place = folded.rfind(fold(part.line))
        return Found(place >= 0, max(place, 0))
    from triage.library.expressions import literals_of

    pattern = part.line_re or ""
    literals = literals_of(pattern)
    if literals and not any(literal in folded for literal in literals):
        return Found(False)
    found = context.search(pattern, folded)
    if found.state is False and end is None:
        by_line = context.search(pattern, subject.raw)
        return Found(by_line.state, len(folded), by_line.captures)
    return found


def _earlier(wanted: Log, subject: Subject, end: int, context: Context, captures: dict[str, str]) -> bool | None:
    """Say whether the lines before the last one came earlier, each before the next, near enough to the last."""
    last = subject.failure
    at = subject
    unsure = False
    for part in reversed(wanted.parts[:-1]):
        found = _find(part, at, context, end)
        if found.state:
            end = found.start
            captures.update(found.captures)
            continue
        for other in _before(at.failure, context):
            found = _find(part, context.subject(other), context)
            close = near(last, other, wanted.window, wanted.scope) if found.state else False
            unsure = unsure or found.state is None or close is None
            if close:
                at, end = context.subject(other), found.start
                captures.update(found.captures)
                break
        else:
            return None if unsure or context.unreadable else False
    return True


def _before(failure: Failure, context: Context) -> Iterator[Failure]:
    """Yield failures that began before another one, the nearest first."""
    earlier = [other for other in context.incident.failures if other is not failure and other.order < failure.order]
    return iter(sorted(earlier, key=lambda other: -other.order))
