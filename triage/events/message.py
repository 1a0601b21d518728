"""Single decisive lines: rows of knowledge/messages.yaml, the log patterns of signatures, errors nobody knows.

A line yields at most one event of the knowledge and one for each signature's pattern, so that a signature can always
ask for a line, whatever else it says.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.data import knowledge
from triage.events.candidates import Candidates
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import compile_once, regex
from triage.model import Event, ExceptionInfo, Line
from triage.patterns import LinePattern
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A longer line is searched in its first and last part only: nothing decisive stands in the middle of megabytes.
_SEARCHED = 16_384
# Lines without one of these are not looked at for the name of an exception.
_QUOTED = ("Error", "Exception", "Exit")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return compile_once(pattern)
    except re.error:
        return None


class Noise:
    """Lines that look alarming or unfamiliar and mean nothing (knowledge/noise.yaml)."""

    def __init__(self, table: Any = None) -> None:
        table = table or knowledge("noise")
        self._contains: tuple[str, ...] = tuple(table["contains"])
        self._matches = regex("|".join(f"(?:{row})" for row in table["matches"]))

    def covers(self, text: str) -> bool:
        """Take a line's text; return whether it is known to mean nothing."""
        text = text[:2000]
        return any(word in text for word in self._contains) or self._matches.fullmatch(text) is not None


class MessageReader:
    """Finds decisive lines. `patterns` are those of signatures; they are looked for beside the table."""

    def __init__(self, patterns: Iterable[LinePattern] = (), table: Any = None) -> None:
        table = table or knowledge("messages")
        self.noise = Noise()
        rows = [_row(row) for row in table["rows"]]
        self._asked = list(patterns)
        self._rows = [*self._asked, *rows]
        self._ends = {len(self._asked) + n for n, row in enumerate(table["rows"]) if row.get("ends")}
        self._candidates = Candidates(row.literals for row in self._rows)
        fallback = table["fallback"]
        self._words: tuple[str, ...] = tuple(fallback["words"])
        # A line holds one of these if it can be guessed at.
        self.guess_words = (*_QUOTED, *self._words)
        self._error = regex(fallback["re"])
        self._error_level: float = fallback["level"]
        self._strong: frozenset[str] = frozenset(fallback["strong"])
        self._strong_level: float = fallback["strong_level"]
        self._bare = regex(table["bare_exception"]["re"])
        self._bare_level: float = table["bare_exception"]["level"]

    def ends(self, line: Line) -> bool:
        """Take a line; return whether it ends the message of an exception before it."""
        text = _searched(line.text)
        numbers = [number for number in self._candidates.of(text) if number in self._ends]
        return self._first(numbers, text, line) is not None

    def may_be_asked(self, text: str) -> bool:
        """Take a text; return whether a signature may ask for such a line, whatever its digits are."""
        return any(number < len(self._asked) for number in self._candidates.of(text)[:1])

    def may_be_known(self, text: str) -> bool:
        """Take a text; return whether the table may know such a line, whatever its digits are."""
        return any(number >= len(self._asked) for number in self._candidates.of(text)[-1:])

    def asked(self, line: Line) -> Iterator[Event]:
        """Take a line; yield an event for each signature that asked for such a line."""
        text = _searched(line.text)
        for number in self._candidates.of(text):
            if number >= len(self._asked):
                return
            found = _found(self._rows[number], text, line)
            if found is not None:
                yield _event(line, self._rows[number], found)

    def known(self, line: Line) -> Event | None:
        """Take a line; return the event of the first row of knowledge that it fits."""
        text = _searched(line.text)
        hit = self._first([n for n in self._candidates.of(text) if n >= len(self._asked)], text, line)
        return _event(line, *hit) if hit else None

    def guess(self, line: Line) -> Event | None:
        """Take a line that nothing else took; return an event if it calls itself an error or quotes an exception."""
        text = line.text[:_SEARCHED]
        quoted = self._bare.search(text) if any(w in text for w in _QUOTED) else None
        word = self._error.match(text) if any(w in text[:48] for w in self._words) else None
        severe = line.severity is not None and line.severity <= 3
        if quoted is None and word is None and not severe:
            return None
        if self.noise.covers(text):
            return None
        event = _event(line, LinePattern("message/error", (), level=self._error_level), {})
        if quoted is not None:
            event.rule, event.level = "message/exception", self._bare_level
            message = (quoted["message"] or "").strip()
            event.exception = ExceptionInfo(quoted["type"], message[:TEXT_LIMIT])
            alone = not text[: quoted.start("type")].strip(" :[]>\"'")
            if alone:
                event.data["alone"] = "1"
        elif word is not None and word["word"] in self._strong:
            event.level = self._strong_level
        return event

    def _first(self, numbers: Iterable[int], text: str, line: Line) -> tuple[LinePattern, dict[str, str]] | None:
        for number in numbers:
            found = _found(self._rows[number], text, line)
            if found is not None:
                return self._rows[number], found
        return None


def _row(row: Any) -> LinePattern:
    tags = frozenset(tag for tag in ("request", "lost", "soft", "pending", "stall") if row.get(tag))
    return LinePattern(
        id=row["id"],
        literals=tuple(row["any"]),
        regex=row.get("re"),
        kind=row.get("kind", "message"),
        level=row.get("level"),
        role=row.get("role"),
        fatal=bool(row.get("fatal")),
        origin=row.get("origin"),
        tags=tags,
    )


def _searched(text: str) -> str:
    return text if len(text) <= _SEARCHED else text[: _SEARCHED // 2] + "\n" + text[-_SEARCHED // 2 :]


def _speaks(pattern: LinePattern, line: Line) -> bool:
    return pattern.origin is None or pattern.origin == line.origin


def _search(pattern: LinePattern, text: str) -> dict[str, str] | None:
    if pattern.regex is None:
        return {}
    compiled = _compiled(pattern.regex)
    found = compiled.search(text) if compiled else None
    if found is None:
        return None
    return {name.rstrip("2"): value for name, value in found.groupdict().items() if value is not None}


def _found(pattern: LinePattern, text: str, line: Line) -> dict[str, str] | None:
    if any(word in text for word in pattern.literals) and _speaks(pattern, line):
        return _search(pattern, text)
    return None


def _event(line: Line, pattern: LinePattern, data: dict[str, str]) -> Event:
    for tag in pattern.tags:
        data = {**data, tag: "1"} if tag != "soft" or data.get("soft") is None else data
    return Event(
        kind=pattern.kind,
        rule=pattern.id,
        at=position(line),
        stream=line.stream,
        text=line.text[:TEXT_LIMIT],
        level=pattern.level,
        role=pattern.role,  # type: ignore[arg-type]  # rows are checked against the known roles by a test
        fatal=pattern.fatal,
        wrapper=pattern.wrapper,
        evidence=[evidence(line)],
        ranks=[line.rank] if line.rank else [],
        unit=line.unit,
        invocation=line.invocation,
        data=data,
        end=line.time,
        order=line.number,
    )
