"""What a signature asks for as alternatives of plain terms, and when one term implies another.

`any` gives alternatives, `all` adds terms. A term holds wherever a term that implies it holds: a shorter text where a
longer one stands, a longer list of types, fewer frames. What cannot be told here is not implied.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import product

from triage.library import worth
from triage.library.expressions import weight
from triage.library.globs import path_fits
from triage.library.literals import literals_of
from triage.library.samples import narrower, within
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.library.signature import (
        FramePattern,
        Kernel,
        LinePart,
        Log,
        Match,
        Native,
        Other,
        Signature,
        Silence,
        Unit,
    )

MAX_ALTERNATIVES = 64
FACTS = ("fact", "phase", "rank", "where", "release", "engine")
_LEAVES = ("exception", "message", "message_is", "message_re", "frames", "native", "log", "unit", "kernel", "silence")
_TEXTS = frozenset(("message", "message_is", "message_re"))
_SCOPES = ("rank", "host", "run")


@dataclass(frozen=True, slots=True)
class Term:
    """One condition: its kind, what it is about (a fact's or package's name), what it asks for."""

    kind: str
    value: Any
    about: str = ""

    @property
    def worth(self) -> float:
        """How much it adds to the score where it holds and can be confirmed; a negation and an engine add nothing."""
        return _worth(self.kind, self.value)


Terms = tuple[Term, ...]


def alternatives(signature: Signature) -> list[Terms]:
    """Take a signature; return the ways in which it can match, each all that must hold; [] if there are too many."""
    rest = [Term("with", other) for other in signature.with_]
    rest += [Term("without", other) for other in signature.without]
    rest += [Term("fact", wanted, name) for name, wanted in signature.when.facts]
    rest += [Term("rank", wanted, name) for name, wanted in signature.when.rank]
    rest += [Term("phase", signature.when.phase)] if signature.when.phase else []
    rest += [Term("where", signature.when.where)] if signature.when.where else []
    rest += [Term("release", ranges, package) for package, ranges in signature.releases.items()]
    rest += [Term("engine", signature.engine)] if signature.engine not in (None, "any") else []
    return [(*terms, *rest) for terms in of_match(signature.match)]


def of_match(match: Match) -> list[Terms]:
    """Take a match; return its alternatives, [] if there are too many to look at."""
    terms: list[Term] = []
    for kind in _LEAVES:
        value = getattr(match, kind)
        if value is not None and value != ():
            terms.append(Term(kind, value))
    terms += [Term("not", one) for one in match.negated]
    branches = [[tuple(terms)], *(of_match(one) for one in match.all)]
    if match.any:
        branches.append([terms for one in match.any for terms in of_match(one)])
    count = 1
    for branch in branches:
        count *= len(branch)
    if not 0 < count <= MAX_ALTERNATIVES:
        return []
    return [tuple(term for part in parts for term in part) for parts in product(*branches)]


def implies(one: Term, other: Term) -> bool:
    """Say whether `other` holds of every failure of which `one` holds."""
    if one == other:
        return True
    if one.kind in _TEXTS and other.kind in _TEXTS:
        return _text_implies(one, other)
    if one.kind != other.kind or one.about != other.about:
        return False
    a, b = one.value, other.value
    if one.kind == "exception":
        return all(any(_type_implies(name, wanted) for wanted in b) for name in a)
    if one.kind == "frames":
        return _frames_imply(a, b)
    if one.kind == "log":
        return _log_implies(a, b)
    if one.kind in ("native", "unit", "kernel", "silence"):
        return _machine_implies(a, b)
    if one.kind in ("fact", "phase", "rank"):
        return narrower(a, b, release=one.kind == "fact" and _is_release(one.about))
    if one.kind == "release":
        return within(a, b)
    if one.kind == "not":
        return match_implies(b, a)
    if one.kind == "with":
        return match_implies(a.match, b.match) and _nearer(a, b)
    return one.kind == "without" and match_implies(b.match, a.match) and _nearer(b, a)


def match_implies(one: Match, other: Match) -> bool:
    """Say whether every failure that fits `one` fits `other` too."""
    wide = of_match(other)
    narrow = of_match(one)
    return bool(narrow) and all(any(all_implied(terms, wanted) for wanted in wide) for terms in narrow)


def all_implied(terms: Terms, wanted: Terms) -> bool:
    """Say whether each of the terms `wanted` is implied by one of `terms`."""
    return all(any(implies(term, one) for term in terms) for one in wanted)


def _text_implies(one: Term, other: Term) -> bool:
    if one.kind == "message_re":
        literals = literals_of(one.value)
        wanted = _fold(other.value)
        return other.kind == "message" and bool(literals) and all(wanted in _fold(literal) for literal in literals)
    text = _fold(one.value)
    if other.kind == "message":
        return _fold(other.value) in text
    if other.kind == "message_is":
        return one.kind == "message_is" and _fold(other.value) == text
    whole = one.kind == "message_is" or not re.search(r"\\[bBAZ]|[\^$]|\(\?[=!<]", other.value)
    return whole and bool(_search(other.value, text))


def _search(pattern: str, text: str) -> bool:
    literals = literals_of(pattern)
    if literals and not any(literal in text for literal in literals):
        return False
    import regex

    try:
        return regex.search(pattern, text, regex.MULTILINE, timeout=0.25) is not None
    except (regex.error, TimeoutError):
        return False


def _type_implies(name: str, wanted: str) -> bool:
    return name == wanted if "." in wanted else name.rpartition(".")[2] == wanted


def _frames_imply(one: Sequence[FramePattern], other: Sequence[FramePattern]) -> bool:
    stack = iter(one)
    return all(any(_frame_implies(frame, wanted) for frame in stack) for wanted in other)


def _frame_implies(frame: FramePattern, wanted: FramePattern) -> bool:
    if frame == wanted:
        return True
    if "*" in frame.path or "*" in frame.function:
        return False
    return path_fits(wanted.path, frame.path) and fnmatchcase(
        frame.function.rpartition(".")[2], wanted.function.rpartition(".")[2]
    )


def _log_implies(one: Log, other: Log) -> bool:
    if len(one.parts) != 1 or len(other.parts) != 1:
        return False
    return _text_implies(_text(one.parts[0]), _text(other.parts[0]))


def _text(part: LinePart) -> Term:
    return Term("message", part.line) if part.line is not None else Term("message_re", part.line_re)


def _machine_implies(one: Native | Unit | Kernel | Silence, other: Native | Unit | Kernel | Silence) -> bool:
    """Each field that the other names must be named at least as narrowly."""
    for name in other.__dataclass_fields__:
        a, b = getattr(one, name), getattr(other, name)
        if name == "thread" or b in (None, (), a):
            continue
        if isinstance(b, tuple):
            if not a or not set(a) <= set(b):
                return False
        elif b is True:
            if a in (None, False):
                return False
        elif not (name in ("message", "segfault") and isinstance(a, str) and _fold(str(b)) in _fold(a)):
            return False
    return True


def _nearer(one: Other, other: Other) -> bool:
    wide = other.within is None or (one.within is not None and one.within <= other.within)
    return wide and _SCOPES.index(one.scope) <= _SCOPES.index(other.scope)


def _is_release(name: str) -> bool:
    from triage.data import knowledge

    return name in knowledge("facts")["releases"]


@lru_cache(maxsize=4096)
def _fold(text: str) -> str:
    return " ".join(text.split())


def _worth(kind: str, value: Any) -> float:
    if kind == "exception":
        return worth.DOTTED_EXCEPTION if any("." in name for name in value) else worth.EXCEPTION
    if kind == "message":
        return worth.MESSAGE + worth.length(len(_fold(value)))
    if kind == "message_is":
        return worth.WHOLE_MESSAGE + worth.length(len(_fold(value)))
    if kind == "message_re":
        return worth.MESSAGE + worth.length(weight(literals_of(value)))
    if kind == "frames":
        return worth.FRAME * len(value)
    if kind == "log":
        return sum(worth.LINE + worth.length(len(part.line or part.line_re or "")) for part in value.parts)
    if kind == "native":
        parts = ((value.signal, worth.SIGNAL), (value.message, worth.NATIVE_TEXT), (value.symbol, worth.SYMBOL))
        return sum(score for there, score in (*parts, (value.library, worth.LIBRARY)) if there)
    if kind == "unit":
        status = bool(value.exit_status) + bool(value.step)
        return worth.UNIT_STATUS * status + worth.UNIT_RESULT * (bool(value.result) + bool(value.signal))
    if kind == "kernel":
        score = worth.SEGFAULT_IN if isinstance(value.segfault, str) else worth.KERNEL
        return score + (worth.PROCESS if value.process else 0.0)
    if kind == "silence":
        return worth.SILENCE_IN_PHASE if value.phase else worth.SILENCE
    return {"with": worth.WITH, "without": worth.WITHOUT, "not": 0.0, "engine": 0.0}.get(kind, worth.FACT)
