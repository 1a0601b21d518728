"""Facts of a run out of its events: launch arguments by their ServerArgs names, and what later lines correct."""

from __future__ import annotations

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.model import Event

_INT = regex(r"-?\d{1,18}")
_FLOAT = regex(r"-?\d{1,18}\.\d{1,18}(?:e-?\d{1,3})?")
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
