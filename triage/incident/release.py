"""Which release of SGLang a run was of, where only its tracebacks say it: SGLang never logs its version."""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.model import Failure, Frame, Incident

# Of more failures the first say it as well.
_MOST = 200


def read_release(incident: Incident) -> None:
    """Add to an incident's facts which release its frames of SGLang come from, if nothing else said it.

    One release becomes the fact `sglang`, several become `sglang_candidates`, oldest first; `sglang_from` is
    `traceback`. Of a source checkout, which may hold more or less than the release that it resembles, nothing more
    than `sglang_probably` is known: the candidates then are those releases and their neighbours, and `sglang_from` is
    `checkout`.
    """
    facts = incident.facts
    if facts.get("sglang") is not None or facts.get("engine") not in (None, "sglang"):
        return
    stacks = [stack for failure in incident.failures[:_MOST] for stack in _stacks(failure) if _is_own(stack)]
    if not stacks:
        return
    from triage.releases import releases_of, table

    reading = releases_of(*stacks)
    known = table()
    if not reading.candidates or known is None:
        return
    facts.setdefault("engine", "sglang")
    facts["sglang_from"] = "checkout" if reading.probable else "traceback"
    if reading.probable:
        around = {near for release in reading.candidates for near in known.around(release)}
        facts["sglang_probably"] = reading.candidates
        facts["sglang_candidates"] = [
            known.releases[number] for number in known.order if known.releases[number] in around
        ]
    elif len(reading.candidates) == 1:
        facts["sglang"] = reading.candidates[0]
    else:
        facts["sglang_candidates"] = reading.candidates


def _stacks(failure: Failure) -> Iterator[list[Frame]]:
    if failure.exception is not None:
        yield failure.exception.frames
        yield from (link.frames for link in failure.exception.chain)
    yield failure.frames


def _is_own(stack: list[Frame]) -> bool:
    return any("sglang/" in frame.file for frame in stack)
