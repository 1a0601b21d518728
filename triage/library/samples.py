"""Values for which a condition may hold: what decides whether it ever can, and whether one condition implies another.

A comparison changes its answer only at the values that it names. So it is enough to try these values, what lies beside
and between them, and values that nobody named.
"""

from __future__ import annotations

import re
from itertools import pairwise

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triage.library.conditions import Condition

_OTHER = "a value that nobody named"
_BOUND = regex(r"(?:>=|<=|==|!=|~=|===|>|<)\s*([^,\s]+)")


def satisfiable(wanted: Condition, *, release: bool = False) -> bool:
    """Say whether any value fits a condition; `release` compares by PEP 440."""
    return any(wanted.holds(value, release=release) for value in _values([wanted], release=release))


def narrower(one: Condition, other: Condition, *, release: bool = False) -> bool:
    """Say whether every value that fits `one` fits `other` too."""
    values = _values([one, other], release=release)
    return all(other.holds(value, release=release) for value in values if one.holds(value, release=release))


def meet(one: Sequence[str], other: Sequence[str] = (">=0",)) -> bool:
    """Take two lists of PEP 440 ranges, each meaning any of its ranges; say whether a release lies in both."""
    from triage.library.releases import contains

    return any(contains(one, version) and contains(other, version) for version in _versions([*one, *other]))


def within(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether every release in the ranges `one` lies in the ranges `other` too."""
    from triage.library.releases import contains

    return all(contains(other, version) for version in _versions([*one, *other]) if contains(one, version))


def _values(conditions: Iterable[Condition], *, release: bool) -> list[object]:
    named = [value for one in conditions for group in one.wanted for _, value in group]
    values: list[object] = [*named, None, True, False, _OTHER]
    values.extend(value.replace("*", "") for value in named if isinstance(value, str))
    if release:
        texts = [f"=={value}" for value in named if isinstance(value, str) and re.match(r"\d", value)]
        return [*values, *_versions(texts)]
    return [*values, *_numbers(named)]


def _numbers(named: Iterable[object]) -> list[object]:
    """Return numbers below, beside, between and above those that are named, in the units in which they are."""
    from triage.library.conditions import quantity

    by_unit: dict[str, set[float]] = {}
    for value in named:
        if (found := quantity(value)) is not None:
            by_unit.setdefault(found.unit, set()).add(found.value)
    spelt = {"": "", "bytes": " B", "seconds": " s"}
    numbers: list[object] = []
    for unit, values in by_unit.items():
        known = sorted(values)
        tried = [known[0] - 1, known[-1] + 1, *((low + high) / 2 for low, high in pairwise(known))]
        numbers.extend(_spelt(value, spelt.get(unit, "")) for value in tried)
    return numbers


def _spelt(value: float, unit: str) -> object:
    number: object = int(value) if value == int(value) and abs(value) < 1e15 else round(value, 6)
    return f"{number}{unit}" if unit else number


def _versions(ranges: Iterable[str]) -> list[str]:
    """Return releases at, just before, just after and far from every bound of some ranges."""
    from triage.library.releases import parse

    versions = {"0.0.1", "99999.0"}
    for bound in (found[1].removesuffix(".*") for text in ranges for found in _BOUND.finditer(text)):
        version = parse(bound)
        if version is None:
            continue
        parts = list(version.release)
        before = [*parts[:-1], parts[-1] - 1] if parts[-1] else [*parts[:-2], max(1, *parts[-2:-1], 1) - 1, 999]
        after = [*parts[:-1], parts[-1] + 1]
        post = version.post + 1 if version.post is not None else 1
        versions.add(version.public)
        versions.add(f"{version.base_version}.post{post}")
        versions.update(".".join(map(str, several)) for several in (parts, before, after, [*parts, 1], [*before, 1]))
    return sorted(versions)
