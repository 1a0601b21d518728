"""Texts that make a regex work hard, made from the regex itself, and whether it bears them.

Each repeat that may go on for long is fed what it takes, over and over, behind what must stand before it, and then
something that the rest cannot go on with; and the whole is fed nearly what it wants, over and over. That finds repeats
in repeats, repeats side by side that take the same characters, and alternatives that overlap.
"""

from __future__ import annotations

from triage.library import literals as tree
from triage.library.expressions import REGEX_SECONDS, TEXT_LIMIT
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from re import _constants as _op  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as _op

# A repeat of fewer times than this is not worth an attack of its own.
_LONG = 50
_ATTACKS = 12
_END = "\x00"
_CLASSES = {"CATEGORY_DIGIT": "1", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_SPACE": "a",
            "CATEGORY_NOT_DIGIT": "a", "CATEGORY_NOT_WORD": " "}  # fmt: skip


def too_slow(pattern: str) -> int:
    """Take a regex; return the length of a text on which it takes longer than a match may, 0 if it bears all of them.

    A length of a few thousand means that the time grows exponentially. The limits are those of matching.
    """
    import regex

    compiled = regex.compile(pattern, regex.MULTILINE)
    needed = tree.literals_of(pattern)
    for attack in _attacks(pattern):
        for size in (TEXT_LIMIT // 16, TEXT_LIMIT):
            text = f"{needed[0]}\n" if needed else ""
            text += attack[0] + attack[1] * max(1, (size - len(attack[0])) // len(attack[1])) + _END
            try:
                compiled.search(text, timeout=REGEX_SECONDS)
            except TimeoutError:
                return len(text)
    return 0


def _attacks(pattern: str) -> list[tuple[str, str]]:
    """Return what stands before a long repeat, and what it repeats; a pattern that is no regex raises `re.error`."""
    nodes = tree.parsed(pattern)
    almost = _sample(nodes)[:-1]
    found = dict.fromkeys([*_walk(nodes, ""), *([("", almost)] if almost else [])])
    return list(found)[:_ATTACKS]


def _walk(nodes: Any, before: str) -> Iterator[tuple[str, str]]:
    for operator, argument in nodes:
        if operator in tree.REPEATS:
            body = _sample(argument[2])
            if argument[1] >= _LONG and body:
                yield before, body
            yield from _walk(argument[2], before)
            before += body * argument[0]
            continue
        for part in _parts(operator, argument):
            yield from _walk(part, before)
        before += _sample([(operator, argument)])


def _parts(operator: Any, argument: Any) -> list[Any]:
    if operator is _op.BRANCH:
        return list(argument[1])
    if operator is _op.SUBPATTERN:
        return [argument[3]]
    return [argument] if operator is getattr(_op, "ATOMIC_GROUP", None) else []


def _sample(nodes: Any) -> str:
    """Return a short text that some nodes match, as far as that can be told without trying."""
    text = ""
    for operator, argument in nodes:
        if operator is _op.LITERAL:
            text += chr(argument)
        elif operator is _op.NOT_LITERAL:
            text += "a" if argument != ord("a") else "b"
        elif operator is _op.ANY:
            text += "a"
        elif operator is _op.IN:
            text += _member(argument)
        elif operator in tree.REPEATS:
            text += _sample(argument[2]) * max(1, argument[0])
        else:
            parts = _parts(operator, argument)
            text += _sample(parts[0]) if parts else ""
    return text


def _member(argument: Any) -> str:
    if argument and argument[0][0] is _op.NEGATE:
        out = {one[1] for one in argument if one[0] is _op.LITERAL}
        return next((char for char in "a1 _-.:" if ord(char) not in out), "a")
    operator, value = argument[0]
    if operator is _op.RANGE:
        return chr(value[0])
    if operator is _op.CATEGORY:
        return _CLASSES.get(str(value), "a")
    return chr(value)
