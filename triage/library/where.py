"""The small language of `where:`: comparisons over captures and numeric facts, with units.

    where     = and-term { "or" and-term }          and-term = not-term { "and" not-term }
    not-term  = [ "not" ] compared                  compared = sum [ ("<" "<=" ">" ">=" "==" "!=") sum ]
    sum       = product { ("+" | "-") product }     product  = value { ("*" | "/") value }
    value     = number [ unit ] | name | "-" value | "(" where ")"

Three-valued: a name that is not known, a unit that does not fit and a division by zero make the result None. Its own
parser, bounded in length and depth; nothing is ever evaluated as Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache

from triage.lazy import regex
from triage.library.conditions import UNITS, Quantity, quantity
from triage.records import FrozenRecord, dataclass
from triage.typed import Union

MAX_LENGTH = 400
MAX_DEPTH = 20

_TOKEN = regex(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_][\w.]*)|(<=|>=|==|!=|[<>+\-*/()]))")


@dataclass(frozen=True, slots=True)
class Name(FrozenRecord):
    """A capture or a fact."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation(FrozenRecord):
    """An operator with its one or two operands; `truth` says that its result is a truth value."""

    operator: str
    operands: tuple[Term, ...]
    truth: bool


Term = Union[Quantity, Name, Operation]  # noqa: UP007 - evaluated at run time on 3.10
Lookup = Callable[[str], object]


class WhereError(ValueError):
    """The text is not in the language of `where:`."""


@lru_cache(maxsize=512)
def parse(text: str) -> Operation:
    """Take an expression that is true or false; return its tree. Raises `WhereError` with what is wrong."""
    if len(text) > MAX_LENGTH:
        raise WhereError(f"longer than {MAX_LENGTH} characters")
    parser = _Parser(_tokens(text))
    term = parser.either(0)
    if parser.peek():
        raise WhereError(f"{parser.peek()!r} is not expected here")
    if not (isinstance(term, Operation) and term.truth):
        raise WhereError("compares nothing: an expression such as `requested > available` is wanted")
    return term


def names(term: Term) -> set[str]:
    """Return the names of captures and facts in an expression."""
    if isinstance(term, Name):
        return {term.name}
    return set().union(*map(names, term.operands)) if isinstance(term, Operation) else set()


def holds(term: Term, lookup: Lookup) -> bool | None:
    """Take an expression and what gives a name's value (None if not known); return its truth, None if not known."""
    result = _value(term, lookup)
    return result if isinstance(result, bool) else None


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise WhereError(f"{text[at:].strip()[:20]!r} cannot be read")
        tokens.append(found[0].strip())
        at = found.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at = tokens, 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        token = self.peek()
        if token not in wanted:
            return ""
        self.at += 1
        return token

    def either(self, depth: int) -> Term:
        return self._chain(self._both, ("or",), True, depth)

    def _both(self, depth: int) -> Term:
        return self._chain(self._negated, ("and",), True, depth)

    def _negated(self, depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise WhereError("nested too deeply")
        if self.take("not"):
            return Operation("not", (_truth(self._negated(depth + 1)),), True)
        left = self._sum(depth)
        if operator := self.take("<", "<=", ">", ">=", "==", "!="):
            return Operation(operator, (_number(left), _number(self._sum(depth))), True)
        return left

    def _sum(self, depth: int) -> Term:
        return self._chain(self._product, ("+", "-"), False, depth)

    def _product(self, depth: int) -> Term:
        return self._chain(self._primary, ("*", "/"), False, depth)

    def _chain(self, part: Callable[[int], Term], operators: tuple[str, ...], truth: bool, depth: int) -> Term:
        term = part(depth)
        kind = _truth if truth else _number
        while operator := self.take(*operators):
            term = Operation(operator, (kind(term), kind(part(depth))), truth)
        return term

    def _primary(self, depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise WhereError("nested too deeply")
        word = self.peek()
        self.at += 1
        if word == "(":
            inner = self.either(depth + 1)
            if not self.take(")"):
                raise WhereError("a ')' is missing")
            return inner
        if word == "-":
            return Operation("-", (_number(self._primary(depth + 1)),), False)
        if word[:1].isdigit():
            unit = UNITS.get(self.peek())
            if unit is None:
                return Quantity(float(word))
            self.at += 1
            return Quantity(float(word) * unit[0], unit[1])
        if re.match(r"[A-Za-z_]", word) and word not in ("and", "or", "not"):
            return Name(word)
        raise WhereError(f"a value is missing before {word!r}" if word else "a value is missing at the end")


def _truth(term: Term) -> Term:
    if not (isinstance(term, Operation) and term.truth):
        raise WhereError("and, or, not take comparisons")
    return term


def _number(term: Term) -> Term:
    if isinstance(term, Operation) and term.truth:
        raise WhereError("a comparison cannot be computed with or compared")
    return term


def _value(term: Term, lookup: Lookup) -> Quantity | bool | None:
    if isinstance(term, Quantity):
        return term
    if isinstance(term, Name):
        return quantity(lookup(term.name))
    values = [_value(operand, lookup) for operand in term.operands]
    if term.operator in ("and", "or", "not"):
        return _logic(term.operator, [value if isinstance(value, bool) else None for value in values])
    numbers = [value for value in values if isinstance(value, Quantity)]
    if len(numbers) < len(values):
        return None
    if len(numbers) == 1:
        return Quantity(-numbers[0].value, numbers[0].unit)
    return _compare(term.operator, *numbers) if term.truth else _compute(term.operator, *numbers)


def _logic(operator: str, values: list[bool | None]) -> bool | None:
    if operator == "not":
        return None if values[0] is None else not values[0]
    decisive = operator == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


def _compare(operator: str, left: Quantity, right: Quantity) -> bool | None:
    if left.unit != right.unit:
        return None
    a, b = left.value, right.value
    same = math.isclose(a, b, rel_tol=1e-12)
    return {
        "<": a < b and not same,
        "<=": a < b or same,
        ">": a > b and not same,
        ">=": a > b or same,
        "==": same,
        "!=": not same,
    }[operator]


def _compute(operator: str, left: Quantity, right: Quantity) -> Quantity | None:
    a, b = left.value, right.value
    if operator in "+-":
        return Quantity(a + b if operator == "+" else a - b, left.unit) if left.unit == right.unit else None
    if operator == "*":
        return Quantity(a * b, left.unit or right.unit) if not (left.unit and right.unit) else None
    if b == 0 or (right.unit and right.unit != left.unit):
        return None
    return Quantity(a / b, "" if right.unit else left.unit)
