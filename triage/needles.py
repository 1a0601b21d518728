"""What the fast skip looks for: words of failures, of phases and facts, and each log pattern's own literals."""

from __future__ import annotations

from triage.data import knowledge
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.patterns import LinePattern


def needles(patterns: Iterable[LinePattern]) -> list[bytes]:
    """Take the log patterns of signatures; return every literal, as UTF-8, near which lines must be read."""
    table: Any = knowledge("needles")
    words: set[str] = set(table["failures"])
    for row in knowledge("messages")["rows"]:
        words.update(row["any"])
    phases = knowledge("phases")
    for row in phases["phases"]:
        if not row.get("progress"):
            words.update(row["any"])
    words.update(phases["ready"]["any"], phases["graceful"]["any"])
    for row in knowledge("facts_from_logs")["rows"]:
        words.update(row["any"])
    for pattern in patterns:
        words.update(pattern.literals)
    words -= set(table["chatter"])
    return sorted(word.encode() for word in words if len(word) >= 3)
