"""What a native line is worth as a root: rows of knowledge/native.yaml, the first that fits counts."""

from __future__ import annotations

from functools import cache

from triage.data import knowledge
from triage.lazy import regex
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from triage.model import Role


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row's name, level, role and whether the process dies of it (see `triage.model.Event`)."""

    name: str
    level: float | None
    role: Role | None
    fatal: bool


@dataclass(frozen=True, slots=True)
class _Row:
    any: tuple[str, ...]
    regex: re.Pattern[str] | None
    verdict: Verdict


def verdict(section: str, text: str) -> Verdict:
    """Take a section of knowledge/native.yaml's `levels` and the text to judge; return the first row that fits."""
    text = text[:4000]
    for row in _rows(section):
        if row.any and not any(word in text for word in row.any):
            continue
        if row.regex is None or row.regex.search(text):
            return row.verdict
    return Verdict("unknown", None, None, False)


@cache
def _rows(section: str) -> tuple[_Row, ...]:
    return tuple(
        _Row(
            tuple(row.get("any", ())),
            regex(row["re"]) if "re" in row else None,
            Verdict(row["name"], row["level"], row.get("role"), bool(row.get("fatal"))),
        )
        for row in knowledge("native")["levels"][section]
    )


@cache
def words(name: str) -> tuple[str, ...]:
    """Take the name of a list in knowledge/native.yaml; return its words."""
    return tuple(knowledge("native")[name])


@cache
def names(name: str) -> frozenset[str]:
    """Take the name of a list in knowledge/native.yaml; return it as a set, for whole names."""
    return frozenset(words(name))
