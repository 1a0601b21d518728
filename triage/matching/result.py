"""What came of holding a condition against a failure, and how such results add up."""

from __future__ import annotations

from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 200


@dataclass(slots=True)
class Result(Record):
    """A condition or several: true, false or not observable (None).

    `matched` and `missing` are phrases. `score` counts how telling what matched is, `held` how many conditions matched
    beside an exception's type, `asked` how many there were.
    """

    state: bool | None
    matched: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    captures: dict[str, str] = field(default_factory=dict)
    score: float = 0.0
    held: int = 0
    asked: int = 0


def leaf(
    state: bool | None, phrase: str, score: float, *, counts: int = 1, captures: dict[str, str] | None = None
) -> Result:
    """Return the result of one condition that says `phrase`."""
    if state:
        return Result(True, [phrase], [], captures or {}, score, counts, counts)
    return Result(state, [], [phrase], asked=counts)


def every(results: Iterable[Result]) -> Result:
    """All must be true."""
    total = Result(True)
    for one in results:
        total.state = False if False in (total.state, one.state) else None if None in (total.state, one.state) else True
        total.matched += one.matched
        total.missing += one.missing
        total.captures = {**one.captures, **total.captures}
        total.score += one.score
        total.held += one.held
        total.asked += one.asked
    return total


def best(results: Sequence[Result]) -> Result:
    """One must be true: the most telling of those that are; else of those that could not be observed, else of all."""
    rank = {True: 2, None: 1, False: 0}
    return max(results, key=lambda one: (rank[one.state], one.score))


def opposite(result: Result, phrase: str) -> Result:
    """The condition must be false."""
    if result.state:
        return Result(False, missing=[phrase], asked=1)
    return Result(None if result.state is None else True, missing=[phrase] if result.state is None else [])


def quoted(text: str) -> str:
    """Return a text as it stands in a phrase: quoted, and without its end where it is very long."""
    return f'"{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."}"'
