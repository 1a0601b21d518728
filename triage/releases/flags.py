"""Launch flags of SGLang's releases: whether one exists there, how that release spells it, what it accepts."""

from __future__ import annotations

import json
from functools import lru_cache

from triage.data import knowledge
from triage.records import FrozenRecord, dataclass
from triage.releases.table import Table, table, value_at
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


EVERY = "of every release"


@dataclass(frozen=True, slots=True)
class Option(FrozenRecord):
    """A launch argument as `triage.releases.collect.arguments` describes it."""

    names: list[str]
    dest: str
    type: str
    nargs: str
    choices: list[Any] | None
    state: str
    instead: str


@dataclass(frozen=True, slots=True)
class FlagReading(FrozenRecord):
    """What a release makes of a flag.

    `exists` is None for a release that is not in the table. `spelling` is how the release has it: as asked for, or what
    does the same there, '' if nothing does. `option` is the argument that `spelling` stands for, None without one.
    """

    exists: bool | None
    spelling: str
    option: Option | None = None

    @property
    def refused(self) -> bool:
        """Say whether the flag is only there to stop the launch with a hint at its successor."""
        return self.option is not None and self.option.state == "refused"

    def accepts(self, value: str) -> bool:
        """Say whether a value may be given; True where the release does not list what may."""
        choices = self.option.choices if self.option else None
        return choices is None or any(str(choice) == value for choice in choices)


@lru_cache(maxsize=256)
def flag_in(release: str, flag: str, known_table: Table | None = None) -> FlagReading:
    """Take a release and a flag (`--tp`, without a value); return what the release makes of it.

    Abbreviations count as argparse has them: where only one flag begins so.
    """
    found = known_table or table()
    number = found.number(release) if found else None
    if found is None or number is None:
        return FlagReading(None, flag)
    option = _named(flag, _options_in(found, number, flag))
    if option is not None and option.state != "refused":
        return FlagReading(True, flag, option)
    for other in successors(flag, found):
        name, _, value = other.partition("=")
        here = _options_in(found, number, name)
        there = next((one for one in here if name in one.names and one.state != "refused"), None)
        if there is not None:
            return FlagReading(option is not None, f"{name}={value}" if value else name, there)
    return FlagReading(option is not None, "", option)


def successors(flag: str, known_table: Table | None = None) -> list[str]:
    """Take a flag; return what does the same as it in other releases, `--flag` or `--flag=value`, the likeliest first.

    That is what releases themselves name in its place, then other names of the same value.
    """
    found = known_table or table()
    own = [option for option, _ in _options(found, flag) if flag in option.names] if found else []
    named = [option.instead for option in reversed(own)]
    dests = {option.dest for option in own} or {knowledge("flags")["facts"].get(flag, "")}
    plain = {option.type == "bool" for option in own}
    every = [option for option, _ in _options(found, *sorted(dests))] if found and any(dests) else []
    alike = [
        option for option in reversed(every) if option.dest in dests and ((option.type == "bool") in plain or not plain)
    ]
    named += [name for option in alike for name in _plain_first(option)]
    return [name for name in dict.fromkeys(named) if name.startswith("--") and name != flag and "{" not in name]


def releases_with(flag: str, known_table: Table | None = None) -> list[str]:
    """Take a flag; return the releases that have it under just this name, oldest first."""
    found = known_table or table()
    if found is None:
        return []
    spans = [span for option, spans in _options(found, flag) if flag in option.names for span in spans]
    return found.sorted({number for first, last in spans for number in range(first, last + 1)})


def newest() -> str:
    """Return the newest release that is known, '' without a table."""
    found = table()
    return found.releases[found.order[-1]] if found else ""


@lru_cache(maxsize=256)
def flag_range(flag: str, known_table: Table | None = None) -> str:
    """Take a flag; return the range of releases that have it, `>=0.5.14` or `>=0.5.10,<0.5.20`.

    Where it was away in between, that of the last ones. `EVERY` where all have it, '' where none has.
    """
    found = known_table or table()
    there = set(releases_with(flag, found))
    if found is None or not there:
        return ""
    every = [found.releases[number] for number in found.order]
    last = max(index for index, release in enumerate(every) if release in there)
    first = last
    while first and every[first - 1] in there:
        first -= 1
    bounds = [f">={every[first]}"] if first else []
    bounds += [f"<{every[last + 1]}"] if last + 1 < len(every) else []
    return ",".join(bounds) or EVERY


def flag_names() -> set[str]:
    """Return every spelling of every launch flag of all releases."""
    found = table()
    return {name for option, _ in _options(found) for name in option.names} if found else set()


def pins(release: str, known_table: Table | None = None) -> dict[str, str]:
    """Take a release; return what it asks of the packages that matter, by their names: `{"torch": "==2.9.1", ...}`."""
    found = known_table or table()
    number = found.number(release) if found else None
    if found is None or number is None:
        return {}
    said = {name: value_at(runs, number) for name, runs in map(json.loads, found.lines("pins"))}
    return {name: text for name, text in said.items() if text}


def _options_in(found: Table, number: int, flag: str) -> list[Option]:
    """Return the options of a release that have a name, or another one that begins so."""
    every = _options(found, flag)
    return [option for option, spans in every if any(first <= number <= last for first, last in spans)]


def _options(found: Table, *words: str) -> Iterator[tuple[Option, list[list[int]]]]:
    """Yield the options that have a name or a value which begins with one of the words, among others maybe; without
    words all. Each comes with the spans of releases that have it.
    """
    asked = [f'"{word}' for word in words]
    for line in _lines(found):
        if not asked or any(word in line for word in asked):
            yield _option(line)


@lru_cache(maxsize=4)
def _lines(found: Table) -> list[str]:
    return found.lines("flags")


@lru_cache(maxsize=1024)
def _option(line: str) -> tuple[Option, list[list[int]]]:
    option, spans = json.loads(line)
    return Option(*option), spans


def _named(flag: str, options: Iterable[Option]) -> Option | None:
    exact = [(name, option) for option in options for name in option.names if name.startswith(flag)]
    same = [option for name, option in exact if name == flag]
    return same[0] if same else exact[0][1] if len(exact) == 1 else None


def _plain_first(option: Option) -> list[str]:
    plain = f"--{option.dest.replace('_', '-')}"
    return sorted(option.names, key=lambda name: name != plain)
