"""What to read of the journal, and the matches that say so to libsystemd and to journalctl alike."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.model import TriageError
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from triage.sources.remote import Remote

Group: TypeAlias = tuple[tuple[str, str], ...]
"""Matches that hold together: all fields, of a field named several times any value (sd_journal_add_match(3))."""

COREDUMP = "fc2e22bc6ee647b6b90729ab34a250b1"
KERNEL: Group = (("_TRANSPORT", "kernel"),)

_MATCH = regex(r"(_?[A-Z0-9][A-Z0-9_]{0,63})=(.*)", re.DOTALL)
_MACHINE = regex(r"\.?[A-Za-z0-9][A-Za-z0-9._-]{0,254}")
_NAMESPACE = regex(r"\*|\+?[A-Za-z0-9:_.@-]{1,255}")
# The cgroup of systemd-coredump's own processes, which nothing but systemd can enter.
_COREDUMP_SLICE = ("_SYSTEMD_SLICE", r"system-systemd\x2dcoredump.slice")


@dataclass(slots=True)
class JournalQuery:
    """What `triage journal` was asked for; names and meanings are journalctl's.

    `units` are names with or without their suffix, or glob patterns. `matches` are `FIELD=VALUE`, and `+` between two
    groups of them. `boot` is None for all, an offset such as `0` or `-1`, or a boot id. `invocation` is None for the
    last `attempts` invocations of each unit, `all`, an invocation id, or a number: 0 the last, -1 the one before, 1 the
    first. `kernel` adds the kernel's lines of the same time. `remote` is the host to ask instead of this one, opened.
    """

    units: Sequence[str] = ()
    matches: Sequence[str] = ()
    directory: str | Path | None = None
    files: Sequence[str | Path] = field(default_factory=list)
    boot: str | None = None
    since: str | None = None
    until: str | None = None
    user: bool = False
    machine: str | None = None
    namespace: str | None = None
    invocation: str | None = None
    kernel: bool = True
    attempts: int = 20
    remote: Remote | None = None

    def check(self) -> None:
        """Raise `TriageError` for values that cannot be right, whatever the journal holds."""
        if self.directory and self.files:
            raise TriageError("give either -D or --file")
        if self.machine is not None and (self.directory or self.files):
            raise TriageError("-M reads a container's own journal, so it goes with neither -D nor --file")
        if self.machine is not None and not _MACHINE.fullmatch(self.machine):
            raise TriageError(f"{self.machine!r} cannot be the name of a container")
        if self.namespace is not None and not _NAMESPACE.fullmatch(self.namespace):
            raise TriageError(f"{self.namespace!r} cannot be the name of a journal namespace")
        if self.remote is not None and (self.directory or self.files or self.machine is not None):
            raise TriageError("-H reads another host's own journal, so it goes with none of -D, --file and -M")
        if self.namespace is not None and (self.files or self.machine is not None):
            raise TriageError("--namespace goes with neither --file nor -M")

    @property
    def elsewhere(self) -> bool:
        """Whether journalctl finds the journal, in a container or on another host, so that no file is looked at."""
        return self.machine is not None or self.remote is not None

    @property
    def live(self) -> bool:
        """Whether this host's own journal is read, so that what systemd says now belongs to it."""
        return not (self.directory or self.files or self.machine or self.remote)


def match_groups(matches: Sequence[str]) -> list[Group]:
    """Take `FIELD=VALUE` words, groups parted by `+`; return the groups. Raises `TriageError` for a malformed word."""
    groups: list[Group] = []
    current: list[tuple[str, str]] = []
    for word in matches:
        if word == "+":
            if current:
                groups.append(tuple(current))
            current = []
            continue
        found = _MATCH.fullmatch(word)
        if found is None or "\0" in word:
            raise TriageError(f"{word!r} is no match: write FIELD=VALUE, for example _PID=4242")
        current.append((found[1], found[2]))
    if current:
        groups.append(tuple(current))
    return groups


def output_groups(unit: str, *, user: bool = False, uid: int | None = None) -> list[Group]:
    """Take a unit's full name; return the match for what its own processes print.

    With `user` it is a unit of user managers, of the user `uid` only where that is given.
    """
    if user:
        return [(("_SYSTEMD_USER_UNIT", unit), *_uid(uid))]
    groups: list[Group] = [(("_SYSTEMD_UNIT", unit),)]
    if unit.endswith(".slice"):
        groups.append((("_SYSTEMD_SLICE", unit),))
    return groups


def manager_groups(unit: str, *, user: bool = False, uid: int | None = None) -> list[Group]:
    """Take a unit's full name; return the match for what systemd says about it.

    Without `_PID=1`, as journalctl has it: the exec child that says why a program could not be started is not PID 1,
    and often not yet in the unit's cgroup.
    """
    return [(("USER_UNIT", unit), *_uid(uid))] if user else [(("UNIT", unit), ("_UID", "0"))]


def other_groups(unit: str, *, user: bool = False) -> list[Group]:
    """Take a unit's full name; return the matches for core dumps and for what journald says that it dropped."""
    core = "COREDUMP_USER_UNIT" if user else "COREDUMP_UNIT"
    dropped = "OBJECT_SYSTEMD_USER_UNIT" if user else "OBJECT_SYSTEMD_UNIT"
    return [
        (("MESSAGE_ID", COREDUMP), (core, unit), _COREDUMP_SLICE),
        (("MESSAGE_ID", COREDUMP), (core, unit), ("_UID", "0")),
        ((dropped, unit), ("_UID", "0")),
    ]


def invocation_groups(invocation: str) -> list[Group]:
    """Take an invocation id; return the matches for its output and for what system and user managers say of it."""
    return [
        (("_SYSTEMD_INVOCATION_ID", invocation),),
        (("INVOCATION_ID", invocation), ("_UID", "0")),
        (("USER_INVOCATION_ID", invocation),),
    ]


def conjoin(one: Group, other: Group) -> Group | None:
    """Take two groups; return the group of entries that both match, None where a field can't have both values."""
    joined: dict[str, set[str]] = {}
    for group in (one, other):
        values: dict[str, set[str]] = {}
        for name, value in group:
            values.setdefault(name, set()).add(value)
        for name, wanted in values.items():
            joined[name] = joined[name] & wanted if name in joined else wanted
    if not all(joined.values()):
        return None
    return tuple((name, value) for name, wanted in joined.items() for value in sorted(wanted))


def conjoin_all(groups: Sequence[Group], others: Sequence[Group]) -> list[Group]:
    """Take two lists of alternatives; return those for what matches both. An empty list matches everything."""
    if not groups or not others:
        return [*groups, *others]
    pairs = (conjoin(one, other) for one in groups for other in others)
    return list(dict.fromkeys(pair for pair in pairs if pair is not None))


def matches(groups: Sequence[Group], fields: Mapping[str, object]) -> bool:
    """Take alternatives and an entry's fields (text or bytes); return whether one of the alternatives holds."""
    for group in groups:
        wanted: dict[str, set[str]] = {}
        for name, value in group:
            wanted.setdefault(name, set()).add(value)
        if all(_text(fields.get(name)) in values for name, values in wanted.items()):
            return True
    return False


def _text(value: object) -> str | None:
    if isinstance(value, list) and value:
        value = value[0]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value if isinstance(value, str) else None


def _uid(uid: int | None) -> Group:
    return () if uid is None else (("_UID", str(uid)),)
