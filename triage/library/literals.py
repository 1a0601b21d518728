"""Literal text that a regex cannot match without, as YARA's atoms: what a fast scan looks for before any regex runs."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

from triage.lazy import regex
from triage.library.expressions import weight
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from re import _constants as _op  # type: ignore[attr-defined]
    from re import _parser as _sre  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as _op
    import sre_parse as _sre

MIN_LENGTH = 4
MAX_ALTERNATIVES = 16
MAX_LITERAL = 120

_ATOMIC = getattr(_op, "ATOMIC_GROUP", None)
UNBOUNDED = _op.MAXREPEAT
REPEATS = (_op.MAX_REPEAT, _op.MIN_REPEAT, getattr(_op, "POSSESSIVE_REPEAT", None))
_BREAK = regex(r"[^\S ]+| {2,}")
Literals = tuple[str, ...]


@lru_cache(maxsize=4096)
def literals_of(expression: str) -> Literals:
    """Take a regex in Python's syntax; return literals of which every match holds at least one, () if there are none.

    A literal has no line ends and no doubled blanks, so that it is found in folded text as well as in the line itself.
    Raises `re.error` if the regex is none.
    """
    nodes = parsed(expression)
    if nodes.state.flags & re.IGNORECASE:
        return ()
    return _best(_runs(nodes))


# What is checked, indexed and put into words is parsed once.
@lru_cache(maxsize=64)
def parsed(expression: str) -> Any:
    """Return the nodes of a regex as Python's own parser reads it. Raises `re.error` if it is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _sre.parse(expression)


def piece_of(text: str) -> str:
    """Return the longest part of a literal text that stands in one line and has no doubled blanks."""
    return max((piece.strip() for piece in _BREAK.split(text)), key=len)[:MAX_LITERAL].rstrip()


def _best(candidates: list[Literals]) -> Literals:
    found: Literals = ()
    for candidate in candidates:
        pieces = tuple(dict.fromkeys(map(piece_of, candidate)))
        if len(pieces) <= MAX_ALTERNATIVES and weight(pieces) > weight(found):
            found = pieces
    return found if weight(found) >= MIN_LENGTH else ()


def _runs(nodes: Any) -> list[Literals]:
    """Return sets of alternatives, each of which is needed for a match of this sequence of nodes."""
    runs: list[Literals] = []
    text = ""
    for operator, argument in _needed(nodes.data):
        if operator is _op.LITERAL:
            text += chr(argument)
            continue
        if text:
            runs.append((text,))
            text = ""
        if operator is _op.BRANCH:
            branches = [_best(_runs(branch)) for branch in argument[1]]
            if all(branches):
                runs.append(tuple(literal for branch in branches for literal in branch))
    return [*runs, (text,)]


def _needed(nodes: list[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Yield the nodes that a match must go through: groups opened, assertions dropped, repeats walked once."""
    for node in nodes:
        operator, argument = node
        if operator is _op.LITERAL:
            yield node
        elif operator is _op.AT:
            continue
        elif operator is _op.SUBPATTERN and not argument[1] & re.IGNORECASE:
            yield from _needed(argument[3].data)
        elif operator is _ATOMIC:
            yield from _needed(argument.data)
        elif operator in REPEATS and argument[0] >= 1:
            yield from ((_op.ANY, None), *_needed(argument[2].data), (_op.ANY, None))
        else:
            yield node
