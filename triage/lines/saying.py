"""What a prefix says: its groups read as host, process, rank, severity and speaker."""

from __future__ import annotations

from triage.data import knowledge
from triage.lazy import regex
from triage.lines.ranks import from_process
from triage.lines.rows import RECORD, TRANSPORT, Learned, Row
from triage.lines.said import NO_RANK, Said
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from triage.lines.said import Origin

_IN_STREAM = ("host", "ident", "pid", "name", "ip", "pod", "container", "out", "where")
_UNIT = r"[\w@:.\\-]+\.(?:service|scope|socket|mount|target|timer|slice|device|swap|path)"
# Units under whose name `-o with-unit` prints what is said about others.
_MANAGERS = ("user@", "systemd-coredump@", "systemd-journald.service", "systemd-oomd.service")
_IS_UNIT = regex(_UNIT)
_LONGEST_PID = 12
_ABOUT_UNIT = regex(rf"(?P<named>{_UNIT}): |[A-Z][a-z]+(?: [a-z]+){{0,2}} (?P<done>{_UNIT})(?: - |\.|$)")


class Sayings:
    """Reads the matches of rows."""

    def __init__(self, learned: Learned) -> None:
        table = knowledge("prefixes")
        self._learned = learned
        self._levels: dict[str, int] = table["levels"]
        self._speakers: dict[str, Origin] = {
            ident: origin for origin, idents in table["speakers"].items() for ident in idents
        }

    def read(self, row: Row, found: re.Match[str]) -> Said | None:
        """Take a row and its match; return what it says, None where the match is mere text."""
        groups = found.groupdict()
        if not self._learned.admits(row, groups):
            return None
        pid = groups.get("pid")
        ident = groups.get("ident") or groups.get("name") or groups.get("container") or row.ident
        unit, origin = self._speaker(ident, pid) if row.level == TRANSPORT else (None, "service")
        rank, trust = _rank(row, groups)
        parts = [groups[key] or "" for key in _IN_STREAM if key in groups] if row.level < RECORD else []
        if rank is not None and groups.get("rank") and row.level < RECORD:
            parts.append(rank)
        pri = groups.get("pri")
        return Said(
            stream=":".join(parts),
            host=groups.get("pod") or groups.get("ip") or groups.get("host"),
            unit=unit,
            pid=int(pid) if pid and pid.isdecimal() and len(pid) < _LONGEST_PID else None,
            ident=ident,
            rank=rank,
            trust=trust,
            severity=int(pri) & 7 if pri else self._levels.get(groups.get("level") or ""),
            origin=origin,
            named=row.level == TRANSPORT and bool(parts or row.ident),
            record=row.level == RECORD,
            partial=groups.get("flag") == "P",
            journal=row.learn == "hosts",
            where=groups.get("where") if row.level == RECORD else None,
            carrier=row.id if row.level == TRANSPORT and parts else "",
        )

    def _speaker(self, ident: str | None, pid: str | None) -> tuple[str | None, Origin]:
        """Return the unit that an identifier of a text journal names, and who speaks under it."""
        if ident is None:
            return None, "service"
        if ident == "kernel" and pid is None:
            return None, "kernel"
        if ident in self._speakers:
            return None, self._speakers[ident]
        if ident.startswith("(") and ident.endswith(")"):
            return None, "manager"
        last = ident.rpartition("/")[2]
        if not _IS_UNIT.fullmatch(last):
            return None, "service"
        if last == "init.scope" or (last == ident and last.startswith(_MANAGERS)):
            return None, "manager"
        return last, "service"


def _rank(row: Row, groups: dict[str, str | None]) -> tuple[str | None, int]:
    labels = (groups.get("labels") or "").strip()
    if labels:
        return labels, row.trust
    if groups.get("gpu"):
        return f"gpu{groups['gpu']}", row.trust
    if groups.get("rank"):
        return f"rank{groups['rank']}", row.trust
    name = from_process(groups.get("name") or "")
    return name, row.trust if name else NO_RANK


def unit_in(text: str) -> str | None:
    """Take a line of systemd's; return the unit it is about (`x.service: Failed ..`, `Started x.service - ..`)."""
    found = _ABOUT_UNIT.match(text)
    return (found["named"] or found["done"]) if found else None
