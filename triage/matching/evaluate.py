"""A signature's match, held against one exception of one failure."""

from __future__ import annotations

from functools import lru_cache

from triage.library import worth
from triage.matching import frames as stacks
from triage.matching import machine, sequence
from triage.matching.result import Result, best, every, leaf, opposite, quoted
from triage.matching.subject import fold
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.library.signature import Match
    from triage.matching.context import Context
    from triage.matching.subject import Link, Subject

_NEAR_MESSAGE = 88.0
_NEAR_FRAME = 82.0
_NEAR_LENGTH = 16


def evaluate(match: Match, subject: Subject, context: Context, *, whole: bool = False) -> tuple[Result, int]:
    """Hold a match against every exception of a failure; return the best result and which exception it is of.

    Without `whole` a result that is false tells only the first reason for that.
    """
    results = [_on(match, subject, link, context, whole=whole) for link in subject.links]
    chosen = best(results)
    return chosen, subject.links[results.index(chosen)].number


def _on(match: Match, subject: Subject, link: Link, context: Context, *, whole: bool) -> Result:
    parts: list[Result] = []
    for part in _parts(match, subject, link, context, whole=whole):
        parts.append(part)
        if part.state is False and not whole:
            return part
    return every(parts)


def _parts(match: Match, subject: Subject, link: Link, context: Context, *, whole: bool) -> Iterator[Result]:
    """Yield the result of each condition, those first that cost least."""
    if match.exception:
        yield _exception(match.exception, link)
    if match.message is not None:
        yield _message(match.message, subject, link, context)
    if match.message_is is not None:
        wanted = fold(match.message_is)
        there = wanted == (link.message if link.type else subject.text)
        yield leaf(
            there or (None if _cut(subject, link) else False),
            f"message is {quoted(wanted)}",
            worth.WHOLE_MESSAGE + worth.length(len(wanted)),
        )
    if match.message_re is not None:
        yield _message_re(match.message_re, subject, link, context)
    if match.frames:
        yield _frames(match, subject, link, context)
    if match.native:
        yield machine.native(match.native, subject)
    if match.log:
        yield sequence.log(match.log, subject, context)
    if match.unit:
        yield machine.unit(match.unit, subject, context)
    if match.kernel:
        yield machine.kernel(match.kernel, subject)
    if match.silence:
        yield machine.silence(match.silence, subject)
    for one in match.all:
        yield _on(one, subject, link, context, whole=whole)
    if match.any:
        yield best([_on(one, subject, link, context, whole=whole) for one in match.any])
    for one in match.negated:
        inner = _on(one, subject, link, context, whole=whole)
        yield opposite(inner, "not: " + "; ".join(inner.matched or inner.missing))


def _exception(wanted: tuple[str, ...], link: Link) -> Result:
    phrase = "exception " + " or ".join(wanted)
    if not link.type:
        return leaf(None if link.frames or link.raw else False, phrase, worth.EXCEPTION, counts=0)
    hit = next((name for name in wanted if _type_fits(name, link.type)), None)
    score = worth.DOTTED_EXCEPTION if hit and "." in hit else worth.EXCEPTION
    return leaf(hit is not None, f"exception {hit}" if hit else phrase, score, counts=0)


def _type_fits(wanted: str, there: str) -> bool:
    if "." not in wanted or "." not in there:
        return wanted.rpartition(".")[2] == there.rpartition(".")[2]
    return there == wanted or there.endswith(f".{wanted}")


def _message(text: str, subject: Subject, link: Link, context: Context) -> Result:
    wanted = fold(text)
    phrase, score = f"message {quoted(wanted)}", worth.MESSAGE + worth.length(len(wanted))
    if wanted in (link.message if link.type else subject.text) or (link.type and wanted in subject.attached):
        return leaf(True, phrase, score)
    if _cut(subject, link):
        return leaf(None, f"{phrase} (the traceback is cut off)", score)
    if context.fuzzy and len(wanted) >= _NEAR_LENGTH and _alike(wanted, link.message) >= _NEAR_MESSAGE:
        return leaf(None, f"{phrase} (the log says {quoted(link.message)})", score)
    return leaf(False, phrase, score)


def _cut(subject: Subject, link: Link) -> bool:
    """Say whether the line with the exception and its message was cut off."""
    return subject.partial and subject.failure.exception is not None and not link.message


def _message_re(pattern: str, subject: Subject, link: Link, context: Context) -> Result:
    from triage.library.expressions import literals_of, spoken, weight

    literals = literals_of(pattern)
    phrase, score = f"message {quoted(spoken(pattern))}", worth.MESSAGE + worth.length(weight(literals))
    texts = (
        [(link.message, link.raw), (subject.attached, subject.attached)] if link.type else [(subject.text, subject.raw)]
    )
    state: bool | None = None if _cut(subject, link) else False
    for folded, raw in texts:
        if literals and not any(literal in folded for literal in literals):
            continue
        for text in dict.fromkeys((folded, raw)):
            found = context.search(pattern, text)
            if found.state:
                return leaf(True, phrase, score, captures=found.captures)
            if found.state is None:
                return leaf(None, f"{phrase} (not tested: took too long)", score)
    return leaf(state, phrase, score)


def _frames(match: Match, subject: Subject, link: Link, context: Context) -> Result:
    hits = stacks.found(match.frames, link.frames)
    bare = not link.frames and bool(link.type)
    cut = subject.partial and any(hits)
    parts = []
    for pattern, hit in zip(match.frames, hits, strict=True):
        phrase = f"frame {pattern.text}"
        state: bool | None = hit or (None if bare or cut else False)
        if bare:
            phrase += " (the log has no traceback)"
        elif state is False and context.fuzzy and link.frames:
            likeness, name = stacks.similar(pattern, link.frames)
            if likeness >= _NEAR_FRAME:
                state, phrase = None, f"{phrase} (the log has {name})"
        parts.append(leaf(state, phrase, worth.FRAME))
    return every(parts)


def _alike(wanted: str, message: str) -> float:
    from rapidfuzz import fuzz

    return fuzz.partial_ratio(_masked(wanted), _masked(message[:2000]))


@lru_cache(maxsize=1024)
def _masked(text: str) -> str:
    from triage.fingerprint import mask_volatile

    return mask_volatile(text)
