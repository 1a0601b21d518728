"""A regex as text that a person reads: what it wants word for word, with `*` for the rest."""

from __future__ import annotations

import re
from functools import lru_cache

from triage.library.literals import REPEATS, parsed
from triage.typed import Any

try:
    from re import _constants as _op  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as _op

_ANY = "*"
_SHORT = 60
_STARS = re.compile(r"(?:\* ?)+\*")
_BLANKS = re.compile(r"\s+")
_WORD = re.compile(r"\w+$")


@lru_cache(maxsize=1024)
def spoken(regex: str) -> str:
    r"""Take a regex in Python's syntax; return it in words, the regex itself if it is none.

    >>> spoken(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)")
    'failed (exitcode: *) local_rank: *'
    """
    try:
        text = _said(parsed(regex))
    except (re.error, RecursionError):
        return regex
    return _STARS.sub(_ANY, _BLANKS.sub(" ", text)).strip() or regex


def _said(nodes: Any, before: str = "") -> str:
    """Return what the nodes want after `before`, with that."""
    text = before
    for operator, argument in nodes:
        if operator is _op.SUBPATTERN:
            text = _said(argument[3], text)
        elif operator is _op.BRANCH:
            # The parser puts what all branches begin with before them: "th" before "is" and "e".
            word = _WORD.search(text)
            begun = word[0] if word else ""
            text = text[: len(text) - len(begun)] + _either([begun + _said(branch) for branch in argument[1]])
        else:
            text += _one(operator, argument)
    return text


def _one(operator: Any, argument: Any) -> str:
    if operator is _op.LITERAL:
        return chr(argument)
    if operator is _op.IN:
        return _set(argument)
    if operator in REPEATS:
        least, _, inner = argument
        said = _said(inner)
        if said == " ":
            return said
        # What may be missing is no part of what is wanted; a single sign that may be there is not worth a word.
        return _ANY if least or len(inner) != 1 or inner[0][0] is not _op.LITERAL else ""
    return "" if operator in (_op.AT, _op.ASSERT, _op.ASSERT_NOT) else _ANY


def _either(said: list[str]) -> str:
    said = list(dict.fromkeys(said))
    joined = " or ".join(said) if any(" " in one for one in said) else "/".join(said)
    if len(joined) <= _SHORT and all(said):
        return joined
    return _ANY if said[0] in ("", _ANY) else f"{said[0]} or {_ANY}"


def _set(members: Any) -> str:
    """Return a blank for white space, the letter for one in either case, else anything."""
    if [operator for operator, _ in members] == [_op.CATEGORY] and members[0][1] is _op.CATEGORY_SPACE:
        return " "
    letters = {chr(argument).lower() for operator, argument in members if operator is _op.LITERAL}
    if len(letters) == 1 and len(members) == 2:
        return letters.pop()
    return _ANY
