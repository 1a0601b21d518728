"""Names of units: completed, expanded, and near ones for a name that is not there."""

from __future__ import annotations

from fnmatch import fnmatchcase

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from triage.sources.query import JournalQuery
    from triage.sources.reader import Reader

SUFFIXES = (
    "service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope",
)  # fmt: skip
_NAME = regex(r"[A-Za-z0-9:_.\\@-]{1,255}")  # systemd's VALID_CHARS and UNIT_NAME_MAX
_PATTERN = regex(r"[A-Za-z0-9:_.\\@*?\[\]!^-]{1,255}")
_GLOB = regex(r"[*?\[]")
_SYSTEM_FIELDS = ("_SYSTEMD_UNIT", "UNIT", "COREDUMP_UNIT")
_USER_FIELDS = ("_SYSTEMD_USER_UNIT", "USER_UNIT", "COREDUMP_USER_UNIT")
_NEAR = 5
_ENGINES = ("sglang", "sgl-", "vllm")
_ALIKE = 60  # of rapidfuzz's 100


def complete(name: str) -> str:
    """Take a unit's name as systemctl takes it; return it with its suffix, `.service` if it has none.

    Raises `TriageError` for what cannot be a unit's name.
    """
    if not _NAME.fullmatch(name):
        raise TriageError(f"{name!r} cannot be the name of a unit")
    return name if name.rpartition(".")[2] in SUFFIXES and "." in name else f"{name}.service"


def is_pattern(name: str) -> bool:
    """Take a name; return whether it is a glob pattern."""
    return _GLOB.search(name) is not None


def list_units(query: JournalQuery) -> list[str]:
    """Take a query; return the names of all units that its journal has lines of, sorted.

    With `query.user` those of user managers. Raises `TriageError` where the journal cannot be read.
    """
    from triage.sources.source import choose_reader, files_of

    query.check()
    files_of(query)
    return sorted(known_units(choose_reader(query), user=query.user))


def known_units(reader: Reader, *, user: bool) -> set[str]:
    """Take a journal's reader; return the names of all units, or of all user managers' units, that it has lines of."""
    return set().union(*(reader.unique(name) for name in (_USER_FIELDS if user else _SYSTEM_FIELDS)))


def resolve_units(names: Sequence[str], known: Collection[str]) -> list[str]:
    """Take names and patterns, and the names that there are; return full names, each once, in the order asked for.

    A pattern stands for the known units that it fits, with and without `.service`; a name is only completed. Raises
    `TriageError` for a pattern that fits none.
    """
    found: dict[str, None] = {}
    for name in names:
        if not is_pattern(name):
            found[complete(name)] = None
            continue
        if not _PATTERN.fullmatch(name):
            raise TriageError(f"{name!r} cannot be a pattern of unit names")
        patterns = [name] if name.rpartition(".")[2] in SUFFIXES else [name, f"{name}.service"]
        fitting = sorted(unit for unit in known if any(fnmatchcase(unit, pattern) for pattern in patterns))
        services = [unit for unit in fitting if unit.endswith(".service")]
        if not fitting:
            raise TriageError(f"no unit in this journal fits {name!r}{_hint(near(name, known))}")
        found.update(dict.fromkeys(services or fitting))
    return list(found)


def near(name: str, known: Iterable[str]) -> list[str]:
    """Take a name and the names that there are; return up to five that may have been meant, the likeliest first."""
    from rapidfuzz import fuzz, process

    bare = {unit: unit.removesuffix(".service").lower() for unit in sorted(known)}
    wanted = _GLOB.sub("", name).removesuffix(".service").lower()
    scores = {unit: score for _, score, unit in process.extract(wanted, bare, scorer=fuzz.ratio, limit=None)}
    for unit, short in bare.items():
        if len(wanted) > 2 and (wanted in short or short in wanted):
            scores[unit] = max(scores.get(unit, 0.0), 80.0)
    likely = [unit for unit, score in scores.items() if score >= _ALIKE]
    return sorted(likely, key=lambda unit: (-scores[unit], not unit.endswith(".service"), unit))[:_NEAR]


def unknown_unit(name: str, known: Collection[str], elsewhere: Collection[str], *, user: bool) -> TriageError:
    """Take a full name that the journal has nothing of, the units that there are, and those of the other managers.

    Return the error that says so and what may have been meant.
    """
    if name in elsewhere:
        where = "the system's manager: leave out --user" if user else "a user's service manager: add --user"
        return TriageError(f"{name} is a unit of {where}")
    if found := near(name, known):
        return TriageError(f"no unit {name} in this journal{_hint(found)}")
    shown = _some(known)
    there = f"; there are {shown}" if shown else ", nor any other"
    return TriageError(f"no unit {name} in this journal{there}")


def no_unit(known: Collection[str]) -> TriageError:
    """Take the units that a journal has lines of; return the error for a command that named none of them."""
    shown = _some(known)
    return TriageError(f"which unit? `triage journal NAME`{f'; there are {shown}' if shown else ''}")


def _some(known: Collection[str]) -> str:
    """Return the first few services of a journal, those that sound like an engine's before all others."""
    services = [unit for unit in known if unit.endswith(".service")] or known
    order = sorted(services, key=lambda unit: (not any(word in unit.lower() for word in _ENGINES), unit))
    return ", ".join(order[:_NEAR]) + (f" and {len(order) - _NEAR} more" if len(order) > _NEAR else "")


def _hint(names: Sequence[str]) -> str:
    return f"; did you mean {', '.join(names)}?" if names else ""
