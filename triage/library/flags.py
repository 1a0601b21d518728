"""Launch flags: which fact each one sets, and how a release spells it (knowledge/flags.yaml)."""

from __future__ import annotations

from triage.data import knowledge
from triage.library.releases import in_words, release_of
from triage.records import FrozenRecord, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def fact_of(flag: str) -> str:
    """Take a flag such as `--tp`; return the fact that it sets, by its name in ServerArgs (`tp_size`)."""
    named: dict[str, str] = knowledge("flags")["facts"]
    return named.get(flag, flag.lstrip("-").replace("-", "_"))


def known(flag: str) -> bool:
    """Say whether any release of SGLang or vLLM that triage knows has a flag of this name."""
    from triage.releases.flags import flag_names

    named: dict[str, str] = knowledge("flags")["facts"]
    if flag in named or any(name.startswith(flag) for name in flag_names()):
        return True
    return fact_of(flag) in knowledge("facts")["vllm_arguments"]


@dataclass(frozen=True, slots=True)
class Spelling(FrozenRecord):
    """A flag as a release has it, with its value; `note` names the other spelling where the release is not known,
    `gone` says why it cannot be used there.
    """

    text: str
    note: str = ""
    gone: str = ""


def spelt(text: str, facts: Mapping[str, object], *, given: bool = True) -> Spelling:
    """Take `--flag` or `--flag=value`; return how the release at hand has it. Without `given` it is to be left out."""
    from triage.releases.flags import flag_in, flag_range

    name, _, value = text.partition("=")
    if facts.get("engine") == "vllm" or not (flag_range(name) or name in knowledge("flags")["facts"]):
        return Spelling(text)
    release = release_of(facts, "sglang")
    versions = release if isinstance(release, list) else [release] if isinstance(release, str) else []
    readings = [reading for one in versions if (reading := flag_in(one, name)).exists is not None]
    if not readings or len(readings) < len(versions):
        return _unsure(name, value)
    spellings = list(dict.fromkeys(_with_value(reading.spelling, value) for reading in readings if reading.spelling))
    if not spellings:
        there = flag_range(name)
        lacks = "refuses" if all(reading.refused for reading in readings) else "has no"
        return Spelling(text, gone=f"sglang {in_words(release)} {lacks} {name} (there in {there})" if there else "")
    if len(spellings) == 1 and given and value and not any(reading.accepts(value) for reading in readings):
        flag = spellings[0].partition("=")[0]
        return Spelling(spellings[0], gone=f"{flag} of sglang {in_words(release)} does not take {value}")
    return Spelling(spellings[0], " or ".join(spellings[1:]) + " in some of these releases" if spellings[1:] else "")


def _with_value(spelling: str, value: str) -> str:
    return spelling if "=" in spelling or not value else f"{spelling}={value}"


def _unsure(name: str, value: str) -> Spelling:
    """Return a flag for who does not know the release: with the other spelling and where that holds, if there is one;
    in place of an abbreviation that the newest release refuses, the whole name.
    """
    from triage.releases.flags import EVERY, flag_in, flag_range, newest, releases_with, successors

    text = _with_value(name, value)
    there = set(releases_with(name))
    if not there:
        reading = flag_in(newest(), name)
        return Spelling(text if reading.exists else _with_value(reading.spelling or name, value))
    for other in successors(name) if flag_range(name) != EVERY else ():
        flag = other.partition("=")[0]
        if not there.issuperset(releases_with(flag)):
            return Spelling(text, f"{_with_value(other, value)} for sglang {flag_range(flag)}")
    return Spelling(text)
