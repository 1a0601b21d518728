"""What matching needs to know of the run around a failure: its other failures, what could not be read, time spent."""

from __future__ import annotations

from functools import cache, cached_property

from triage.library.expressions import REGEX_SECONDS
from triage.matching.subject import Subject
from triage.model import Gap
from triage.records import FrozenRecord, dataclass, field
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.model import Failure, Incident, Position

_UNREADABLE = ("truncated", "suppressed", "rotated")


@cache
def _compiled(pattern: str) -> Any:
    """Return a signature's pattern under `regex`, which can stop after a time; None if it does not take it."""
    import regex

    try:
        return regex.compile(pattern, regex.MULTILINE)
    except regex.error:
        return None


@dataclass(frozen=True, slots=True)
class Found(FrozenRecord):
    """Whether a regex was found (None: it took too long), where, and what its named groups captured."""

    state: bool | None
    start: int = 0
    captures: dict[str, str] = field(default_factory=dict)


class Context:
    """One incident while its failures are matched.

    `fuzzy` lets a message or frame that is nearly there count as not observable, for near matches.
    """

    def __init__(self, incident: Incident) -> None:
        self.incident = incident
        self.gaps: list[Gap] = []
        self.fuzzy = False
        self._subjects: dict[int, Subject] = {}
        self._slow: set[str] = set()

    def subject(self, failure: Failure) -> Subject:
        """Return a failure prepared for matching, prepared once."""
        found = self._subjects.get(id(failure))
        if found is None:
            found = self._subjects[id(failure)] = Subject(failure)
        return found

    @cached_property
    def unreadable(self) -> bool:
        """Say whether lines are missing, so that what was not seen may still have happened."""
        return any(gap.kind in _UNREADABLE for gap in self.incident.gaps)

    @cached_property
    def units(self) -> dict[str, str]:
        """What all lines of the service manager together say of the unit's end; earlier ones count."""
        known: dict[str, str] = {}
        for failure in self.incident.failures:
            if failure.kind == "unit":
                for key, value in failure.data.items():
                    known.setdefault(key, value)
        if (end := self.incident.exit) is not None:
            code = None if end.code is None else str(end.code)
            said = {"result": end.result, "signal": end.signal, "exit": code}
            known = {**{key: value for key, value in said.items() if value}, **known}
        return known

    def search(self, pattern: str, text: str) -> Found:
        """Search a regex in a text, `^` and `$` at line ends too; a pattern that took too long is not tried again."""
        if pattern in self._slow:
            return Found(None)
        compiled = _compiled(pattern)
        if compiled is None:
            return Found(False)
        try:
            hit = compiled.search(text, timeout=REGEX_SECONDS)
        except TimeoutError:
            self._slow.add(pattern)
            self.gaps.append(Gap("timeout", f"a signature's pattern took over {REGEX_SECONDS} s: {pattern[:80]}"))
            return Found(None)
        if hit is None:
            return Found(False)
        named = {name: value for name, value in hit.groupdict().items() if value is not None}
        return Found(True, hit.start(), named)


def near(one: Failure, other: Failure, within: float | None, scope: str) -> bool | None:
    """Say whether two failures are at most `within` seconds apart and on the same rank or host; None if not known."""
    placed = _same(one, other, scope)
    if placed is False or within is None:
        return placed
    if one.first.time is None or other.first.time is None:
        return None
    times = [at.time for at in (other.first, other.last) if at is not None and at.time is not None]
    close = min(abs(one.first.time - time) for time in times) <= within
    return placed if close else False


def _same(one: Failure, other: Failure, scope: str) -> bool | None:
    if scope == "run":
        return True
    if scope == "host":
        hosts = one.first.host, other.first.host
        return None if None in hosts else hosts[0] == hosts[1]
    if one.ranks and other.ranks:
        return not set(one.ranks).isdisjoint(other.ranks)
    if one.first.pid is not None and other.first.pid is not None:
        return _process(one.first) == _process(other.first)
    return True if not one.streams.isdisjoint(other.streams) else None


def _process(at: Position) -> tuple[str | None, int | None]:
    return at.host, at.pid
