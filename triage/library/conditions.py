"""The conditions of `when:`, three-valued: a fact that is not in the log makes a condition unknown, never false.

Where only a lower bound of a size is known (`pp_size_at_least`, from the ranks that spoke), it decides where it can.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

from triage.lazy import regex
from triage.records import FrozenRecord, Record, dataclass, field
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Plain = bool | int | float | str | None
_MISSING = object()
_COMPARISON = regex(r"\s*(>=|<=|==|!=|~=|>|<|=)\s*(.*?)\s*\Z", re.DOTALL)
_LABEL = regex(r"([A-Za-z][A-Za-z_]*?)[ =]?(\d{1,6})")
_QUANTITY = regex(r"\s*([+-]?\d[\d,_]{0,30}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?)\s*([A-Za-z]{1,8})?\s*\Z")
UNITS: dict[str, tuple[float, str]] = {
    **dict.fromkeys(("B", "byte", "bytes", "Bytes"), (1.0, "bytes")),
    **{f"{prefix}iB": (1024.0**power, "bytes") for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}B": (1000.0**power, "bytes") for power, prefix in enumerate("KMGT", 1)},
    "kB": (1000.0, "bytes"),
    **dict.fromkeys(("s", "sec", "second", "seconds"), (1.0, "seconds")),
    "us": (1e-6, "seconds"),
    "ms": (1e-3, "seconds"),
    "min": (60.0, "seconds"),
    "h": (3600.0, "seconds"),
}
_WORDS: dict[str, Plain] = {"null": None, "none": None, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Quantity(FrozenRecord):
    """A number in bytes, in seconds, or plain (`unit` empty)."""

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Condition(FrozenRecord):
    """What one fact is compared with: any of `wanted`, each a list of (operator, value) that must all hold."""

    wanted: tuple[tuple[tuple[str, Plain], ...], ...]
    text: str

    def holds(self, value: object, *, release: bool = False) -> bool | None:
        """Say whether a fact's value fits; None where the two cannot be compared. `release` compares by PEP 440."""
        answers = {_all(_compare(one, wanted, value, release) for one, wanted in group) for group in self.wanted}
        return True if True in answers else None if None in answers else False


@dataclass(frozen=True, slots=True)
class When(FrozenRecord):
    """The conditions that must hold beside the match: facts and captures by name, phase, ranks, an expression."""

    facts: tuple[tuple[str, Condition], ...] = ()
    phase: Condition | None = None
    rank: tuple[tuple[str, Condition], ...] = ()
    where: str | None = None

    def __bool__(self) -> bool:
        """Say whether there is any condition."""
        return bool(self.facts or self.phase or self.rank or self.where)


@dataclass(slots=True)
class Situation(Record):
    """What is known where a failure happened: facts of the run, captures of the match, the failing ranks, the phase."""

    facts: Mapping[str, object]
    captures: Mapping[str, str] = field(default_factory=dict)
    ranks: Sequence[str] = ()
    phase: str | None = None

    def value(self, name: str) -> object:
        """Return a capture or fact, None if it is not known (or known to be None)."""
        return self.captures[name] if name in self.captures else self.facts.get(name)


@dataclass(frozen=True, slots=True)
class Checked(FrozenRecord):
    """One condition: whether it holds, as a phrase, and where it does not, what would be needed."""

    state: bool | None
    phrase: str
    needed: str = ""


def quantity(value: object) -> Quantity | None:
    """Take a fact or a captured text such as `20.5 GiB` or `1,024`; return the quantity, None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return Quantity(float(value)) if abs(value) < 1e30 else None
    found = _QUANTITY.match(value) if isinstance(value, str) and len(value) < 80 else None
    if found is None:
        return None
    number = float(found[1].replace(",", "").replace("_", ""))
    if found[2] is None:
        return Quantity(number)
    unit = UNITS.get(found[2])
    return Quantity(number * unit[0], unit[1]) if unit else None


def condition(value: Any) -> Condition:
    """Take what a signature says of one fact: a value, a comparison such as `">1"`, or a list of these.

    Raises `ValueError` where a comparison lacks its value.
    """
    parts = value if isinstance(value, list) else [value]
    return Condition(tuple(_group(part) for part in parts), " or ".join(_word(part) for part in parts))


def check(when: When, situation: Situation) -> list[Checked]:
    """Return every condition of `when`, checked."""
    checked = [_fact(name, wanted, situation) for name, wanted in when.facts]
    if when.phase:
        checked.append(_named("phase", when.phase, situation.phase or _MISSING))
    checked.extend(_rank(name, wanted, situation.ranks) for name, wanted in when.rank)
    if when.where:
        checked.append(_where(when.where, situation))
    return checked


def labels(rank: str) -> dict[str, int]:
    """Take a rank label such as `PP3 TP1` or `rank1`; return its numbers by lower-case name."""
    return {name.lower(): int(number) for name, number in _LABEL.findall(rank)}


def _group(part: Plain) -> tuple[tuple[str, Plain], ...]:
    if not isinstance(part, str) or not _COMPARISON.match(part):
        return (("==", part),)
    group = []
    for one in part.split(","):
        found = _COMPARISON.match(one)
        if found is None or not found[2]:
            raise ValueError(f"{part!r} is no comparison such as '>1' or '!=fa3'")
        group.append(("==" if found[1] == "=" else found[1], _WORDS.get(found[2].lower(), found[2])))
    return tuple(group)


def _word(part: object) -> str:
    if part is None:
        return "not set"
    return str(part).lower() if isinstance(part, bool) else str(part)[:80]


def _all(answers: Iterable[bool | None]) -> bool | None:
    seen = set(answers)
    return False if False in seen else None if None in seen else True


def _compare(operator: str, wanted: Plain, value: object, release: bool) -> bool | None:
    if operator == "!=":
        same = _compare("==", wanted, value, release)
        return None if same is None else not same
    if wanted is None:
        return value is None
    if value is None:
        return None
    if isinstance(value, (list, tuple)) and not release:
        return any(_compare(operator, wanted, one, release) for one in value)
    if operator == "==" and (isinstance(wanted, bool) or isinstance(value, bool)):
        return str(value).lower() == str(wanted).lower()
    if release and isinstance(wanted, str) and re.match(r"\d", wanted):
        from triage.library import releases

        return releases.contains([f"{operator}{wanted}"], value)
    left, right = quantity(value), quantity(wanted)
    if left and right and left.unit == right.unit:
        a, b = left.value, right.value
        return {"==": a == b, ">": a > b, "<": a < b, ">=": a >= b, "<=": a <= b}.get(operator)
    return fnmatchcase(str(value).lower(), str(wanted).lower()) if operator == "==" else None


def _fact(name: str, wanted: Condition, situation: Situation) -> Checked:
    if name in situation.captures:
        return _named(name, wanted, situation.captures[name])
    value = situation.facts.get(name, _MISSING)
    if name in _releases() and value in (None, _MISSING):
        value = situation.facts.get(f"{name}_candidates", _MISSING)
    if value is _MISSING and isinstance(least := situation.facts.get(f"{name}_at_least"), int):
        return _bounded(name, wanted, least)
    return _named(name, wanted, value, release=name in _releases())


def _named(name: str, wanted: Condition, value: object, *, release: bool = False) -> Checked:
    if value is _MISSING:
        return Checked(None, f"{name} not in the log (wanted: {wanted.text})")
    state = wanted.holds(value, release=release)
    if isinstance(value, (list, tuple)) and release:
        from triage.library.releases import in_words

        shown = in_words(value)
    else:
        shown = _word(value)
    if state is None:
        return Checked(None, f"{name} = {shown}, which cannot be compared with {wanted.text}")
    if state:
        return Checked(
            True, f"{name} = {shown}" if shown == wanted.text else f"{name} = {shown} ({_spaced(wanted.text)})"
        )
    return Checked(False, f"{name} = {shown}", f"would match if {name} were {wanted.text}; this log shows {shown}")


def _bounded(name: str, wanted: Condition, least: int) -> Checked:
    """Check a size of which only a lower bound is known, from rank labels."""
    ordered = all(operator in (">", ">=", "<", "<=") for group in wanted.wanted for operator, _ in group)
    answers = {wanted.holds(least), wanted.holds(1 << 30)} if ordered and len(wanted.wanted) == 1 else set()
    if answers == {True}:
        return Checked(True, f"{name} at least {least} ({_spaced(wanted.text)})")
    if answers == {False}:
        needed = f"would match if {name} were {wanted.text}; ranks of this log show at least {least}"
        return Checked(False, f"{name} at least {least}", needed)
    return Checked(None, f"{name} not in the log, at least {least} (wanted: {wanted.text})")


def _spaced(text: str) -> str:
    return re.sub(r"^(>=|<=|==|!=|>|<)\s*", r"\1 ", text)


def _rank(name: str, wanted: Condition, ranks: Sequence[str]) -> Checked:
    numbers = sorted({found[name] for found in map(labels, ranks) if name in found})
    if not numbers:
        return Checked(None, f"{name} rank not in the log (wanted: {wanted.text})")
    fitting = [number for number in numbers if wanted.holds(number)]
    if fitting:
        return Checked(True, f"{name} rank {fitting[0]} ({_spaced(wanted.text)})")
    shown = ", ".join(map(str, numbers[:8]))
    return Checked(
        False, f"{name} rank {shown}", f"would match on {name} rank {wanted.text}; this failure is of {shown}"
    )


def _where(text: str, situation: Situation) -> Checked:
    from triage.library import where

    term = where.parse(text)
    state = where.holds(term, situation.value)
    values = {name: situation.value(name) for name in sorted(where.names(term))}
    shown = ", ".join(f"{name} = {value}" for name, value in values.items() if value is not None)
    if state is None:
        unknown = [name for name, value in values.items() if value is None]
        return Checked(None, f"{text} not known: {', '.join(unknown) or 'the values'} not in the log")
    if state:
        return Checked(True, f"{text} ({shown})")
    return Checked(False, shown, f"would match if {text}; this log shows {shown}")


@cache
def _releases() -> frozenset[str]:
    from triage.data import knowledge

    return frozenset(knowledge("facts")["releases"])
