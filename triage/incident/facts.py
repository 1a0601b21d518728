"""Facts of a run out of its events: launch arguments by their ServerArgs names, and what later lines correct.

SGLang never logs its version: where nothing else says which release a run was of, its tracebacks do.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.model import Event, Failure, Frame, Incident

_INT = regex(r"-?\d{1,18}")
_FLOAT = regex(r"-?\d{1,18}\.\d{1,18}(?:e-?\d{1,3})?")
# Of more failures the first say as well which release it was.
_MOST = 200
_SIZES = regex(r"\b(PP|TP|DP|EP)(\d{1,5})\b")


def typed(text: str) -> object:
    """Take a value as text; return the number or truth value that it spells, else the text itself."""
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return {"True": True, "False": False, "true": True, "false": False}.get(text, text)


def gather(events: Iterable[Event]) -> dict[str, object]:
    """Take a run's events; return its facts. The first banner counts (children print theirs too), later lines of other
    kinds correct it: SGLang resolves its attention backend only after printing its arguments up to 0.5.3. What a
    command line above the log says counts where nothing else says it.
    """
    facts: dict[str, object] = {}
    seen: dict[str, int] = {}
    commands: dict[str, object] = {}
    for event in events:
        if event.rule == "arguments":
            for name, value in event.data.items():
                facts.setdefault(name, typed(value))
        elif event.rule == "facts":
            for name, value in event.data.items():
                facts[name] = typed(value)
        elif event.rule == "command":
            for name, value in event.data.items():
                commands.setdefault(name, typed(value))
        for rank in event.ranks:
            for kind, number in _SIZES.findall(rank):
                seen[kind] = max(seen.get(kind, 0), int(number) + 1)
    facts = {**commands, **facts}
    for kind, size in seen.items():
        if size > 1 or f"{kind.lower()}_size" in facts:
            known = facts.get(f"{kind.lower()}_size")
            if not isinstance(known, int):
                facts[f"{kind.lower()}_size_at_least"] = size
    for name in ("sglang", "vllm"):
        if name in facts:
            facts.setdefault("engine", name)
    return facts


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
