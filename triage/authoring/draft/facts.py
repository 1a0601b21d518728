"""Which facts of a run plausibly decide its failure: from where it failed, what it says, and which ranks it hit."""

from __future__ import annotations

import re

from triage.data import knowledge
from triage.library.releases import parse
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Failure, Incident

_MOST = 3


def deciding(failure: Failure, incident: Incident) -> dict[str, object]:
    """Take a root failure and its incident; return conditions for `when`, three at most, by the names of facts."""
    table = knowledge("deciding")
    unsaid = {str(value).lower() for value in table["unsaid"]}
    facts = {name: value for name, value in incident.facts.items() if str(value).lower() not in unsaid}
    places, said = _traces(failure)
    found: dict[str, object] = {}
    for name in table["values"]:
        value = facts.get(name)
        word = re.escape(str(value).lower())
        if (
            isinstance(value, str)
            and len(value) > 1
            and re.search(rf"(?<![a-z0-9]){word}(?![a-z0-9])", f"{places} {said}")
        ):
            found[name] = value
    for row in table["places"]:
        value = facts.get(row["fact"])
        if row["word"] in places and isinstance(value, (str, bool, int)):
            found.setdefault(row["fact"], value)
    for kind, name in table["sizes"].items():
        numbers = [int(number) for rank in failure.ranks for number in re.findall(rf"\b{kind}(\d{{1,6}})\b", rank)]
        size = facts.get(name, facts.get(f"{name}_at_least"))
        if numbers and min(numbers) > 0 and isinstance(size, int) and size > 1:
            found[name] = ">1"
    return {name: value for name, value in list(found.items())[:_MOST] if len(str(value)) <= 100}


def releases(incident: Incident) -> dict[str, str]:
    """Take an incident; return a range for `releases` from the engine's release on, empty where it is not known."""
    engine = incident.facts.get("engine")
    version = incident.facts.get(str(engine)) if engine in ("sglang", "vllm") else None
    found = parse(version)
    return {str(engine): f">={found.public}"} if found is not None and not found.is_prerelease else {}


def _traces(failure: Failure) -> tuple[str, str]:
    frames = (failure.exception.frames if failure.exception else []) or failure.frames
    places = " ".join(f"{frame.file}:{frame.function}" for frame in frames[-40:]).lower()
    message = failure.exception.message if failure.exception else failure.text
    # `_` joins words in names of files and functions.
    return places.replace("_", " ") + " " + places, message[:2000].lower()
