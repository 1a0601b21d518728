"""Which boot, which invocations, and so which span of time a query is about."""

from __future__ import annotations

from pathlib import Path

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triage.model import Entry
    from triage.sources.query import Group
    from triage.sources.reader import Reader

_BOOT = regex(r"([0-9a-f]{32})?([+-]?\d{1,6})?")
_OFFSET = regex(r"[+-]?\d{1,6}")
_INVOCATION = regex(r"[0-9a-f]{32}")
# Lines of systemd that are looked through for invocations: some five for each start of a unit.
_MOST_LINES = 5000


def find_boot(reader: Reader, wanted: str, *, live: bool) -> str:
    """Take what -b was given; return the boot's id.

    As in journalctl: an empty text or 0 is the last boot (on the host itself the present one), -1 the one before it, 1
    the first, ID or ID-1 one by its id. Raises `TriageError` for a boot that is not there.
    """
    found = _BOOT.fullmatch(wanted)
    if found is None:
        raise TriageError(f"-b {wanted}: neither a boot's id nor an offset such as -1")
    base, offset = found[1], int(found[2] or 0)
    if base is None and offset == 0 and live:
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip().replace("-", "")
        except OSError:
            pass
    if base is not None and offset == 0:
        return base
    boots = reader.boots()
    if base is not None:
        at = boots.index(base) + offset if base in boots else -1
    else:
        at = offset - 1 if offset > 0 else len(boots) - 1 + offset
    if not 0 <= at < len(boots):
        raise TriageError(f"-b {wanted}: no such boot, the journal holds {len(boots)}")
    return boots[at]


def invocation_of(entry: Entry) -> str | None:
    """Take a line of a service manager; return the invocation that it is about."""
    return entry.fields.get("INVOCATION_ID") or entry.fields.get("USER_INVOCATION_ID")


def recent(
    reader: Reader, manager: Sequence[Group], count: int, since: int | None, until: int | None
) -> tuple[int | None, int]:
    """Take the matches for what systemd says of a unit; find the last `count` invocations.

    Return the time at which the first of them begins, None if there are no more than that, and how many are left out
    (at least that many, where systemd said more than 5000 lines about the unit).
    """
    kept: set[str] = set()
    left: set[str] = set()
    start: int | None = None
    for entry in reader.read(manager, since, until, newest_first=True, limit=_MOST_LINES):
        invocation = invocation_of(entry)
        if invocation is None or (left and invocation in kept):
            continue
        if invocation in kept or len(kept) < count:
            kept.add(invocation)
            start = entry.realtime
        else:
            left.add(invocation)
    return (start, len(left)) if left else (None, 0)


def find_invocation(reader: Reader, manager: Sequence[Group], wanted: str, unit: str) -> str:
    """Take what --invocation was given (but not `all`) and the matches for what systemd says of a unit; return the id.

    As in journalctl: 0 is the last invocation, -1 the one before it, 1 the first. Raises `TriageError` for one that is
    not there.
    """
    if _INVOCATION.fullmatch(wanted):
        return wanted
    if not _OFFSET.fullmatch(wanted):
        raise TriageError(f"--invocation {wanted}: neither an invocation id, nor a number such as -1, nor all")
    offset = int(wanted)
    at = offset - 1 if offset > 0 else -offset
    number = 0
    for number, invocation in enumerate(_invocations(reader, manager, newest_first=offset <= 0), 1):
        if number > at:
            return invocation
    raise TriageError(f"--invocation {wanted}: the journal knows {number} invocations of {unit}")


def _invocations(reader: Reader, manager: Sequence[Group], *, newest_first: bool) -> Iterator[str]:
    seen: set[str] = set()
    for entry in reader.read(manager, newest_first=newest_first):
        invocation = invocation_of(entry)
        if invocation and invocation not in seen:
            seen.add(invocation)
            yield invocation
