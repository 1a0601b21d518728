"""`with:` and `without:`: other events of the attempt that must have happened, or must not."""

from __future__ import annotations

from triage.library import worth
from triage.matching.context import near
from triage.matching.evaluate import evaluate
from triage.matching.result import Result, leaf
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.library.signature import Match, Other, Signature
    from triage.matching.context import Context
    from triage.matching.subject import Subject

_UNREADABLE = "lines are missing from the log"


def elsewhere(signature: Signature, subject: Subject, context: Context) -> list[Result]:
    """Return what came of every `with:` of a signature."""
    results = []
    for other in signature.with_:
        found = _there(other, subject, context)
        phrase = f"with {'; '.join(found.matched or _asked(other.match))}"
        state = found.state
        if state is False and context.unreadable:
            state, phrase = None, f"{phrase} ({_UNREADABLE})"
        results.append(leaf(state, phrase, worth.WITH, captures=found.captures))
    return results


def nowhere(signature: Signature, subject: Subject, context: Context) -> list[Result]:
    """Return what came of every `without:`: what was not seen is absent only where every line could be read."""
    results = []
    for other in signature.without:
        found = _there(other, subject, context)
        phrase = f"without {'; '.join(found.matched or _asked(other.match))}"
        state = None if found.state is None else not found.state
        if state and context.unreadable:
            state, phrase = None, f"{phrase} ({_UNREADABLE})"
        results.append(leaf(state, phrase, worth.WITHOUT, counts=0))
    return results


def _there(other: Other, subject: Subject, context: Context) -> Result:
    """Look for another event: in what belongs to the failure itself, then in every other failure near enough."""
    unsure = Result(False)
    if other.match.log:
        own, _ = evaluate(other.match, subject, context)
        if own.state:
            return own
    for failure in context.incident.failures:
        if failure is subject.failure:
            continue
        close = near(subject.failure, failure, other.within, other.scope)
        if close is False:
            continue
        found, _ = evaluate(other.match, context.subject(failure), context)
        if found.state and close:
            return found
        if found.state is not False and ((found.state is None and found.held) or close is None):
            unsure = Result(None, found.matched)
    return unsure


def _asked(match: Match) -> list[str]:
    """Return in words what an event would have to be."""
    said = [f"exception {' or '.join(match.exception)}"] if match.exception else []
    said += [f'message "{text}"' for text in (match.message, match.message_is, match.message_re) if text]
    said += [f"frame {frame.text}" for frame in match.frames]
    if match.log:
        said += [f'log line "{part.line or part.line_re}"' for part in match.log.parts]
    said += [name for name in ("native", "unit", "kernel", "silence") if getattr(match, name)]
    inner = [" and ".join(_asked(one)) for one in match.any]
    said += [" or ".join(inner)] if inner else []
    return said + [phrase for one in match.all for phrase in _asked(one)]
