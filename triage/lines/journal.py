"""What the fields of a journal entry say of its lines: who wrote them, under which unit, and who speaks.

Field meanings: systemd.journal-fields(7). Fields that begin with `_` are set by journald and cannot be forged by the
service; the others can, so they count only where journald's own fields agree.
"""

from __future__ import annotations

from triage.lines.ranks import from_title
from triage.lines.said import NO_RANK, Origin, Said
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Entry

COREDUMP = "fc2e22bc6ee647b6b90729ab34a250b1"

_ABOUT = (
    "UNIT",
    "USER_UNIT",
    "COREDUMP_UNIT",
    "COREDUMP_USER_UNIT",
    "OBJECT_SYSTEMD_UNIT",
    "OBJECT_SYSTEMD_USER_UNIT",
)
_READ = (
    *_ABOUT,
    "_TRANSPORT",
    "_PID",
    "_UID",
    "_COMM",
    "_HOSTNAME",
    "_SYSTEMD_UNIT",
    "_SYSTEMD_USER_UNIT",
    "_SYSTEMD_INVOCATION_ID",
    "_CMDLINE",
    "PRIORITY",
    "SYSLOG_IDENTIFIER",
    "INVOCATION_ID",
    "USER_INVOCATION_ID",
    "MESSAGE_ID",
    "CONTAINER_NAME",
)
_TITLE_TRUST = 2
_KEPT = 20000
_HOST_SERVICES = ("systemd-journald.service", "systemd-oomd.service")


class Speakers:
    """Tells who wrote each entry; remembers what equal entries said."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, ...], Said] = {}

    def of(self, entry: Entry) -> Said:
        """Take an entry; return what its fields say (the same object for entries of the same writer)."""
        fields = entry.fields
        key = tuple([fields.get(name) for name in _READ])
        said = self._known.get(key)
        if said is None:
            if len(self._known) > _KEPT:
                self._known.clear()
            said = self._known[key] = _said(fields)
        return said


def _said(fields: dict[str, str]) -> Said:
    origin = _origin(fields)
    host = fields.get("_HOSTNAME") or None
    pid = _number(fields.get("_PID"))
    if origin == "manager":
        unit = _first(fields, _ABOUT)
        invocation = _first(fields, ("INVOCATION_ID", "USER_INVOCATION_ID"))
    elif origin == "kernel":
        unit = invocation = None
    else:
        unit = _first(fields, ("_SYSTEMD_USER_UNIT", "_SYSTEMD_UNIT"))
        invocation = fields.get("_SYSTEMD_INVOCATION_ID")
    container = fields.get("CONTAINER_NAME")
    rank = from_title(fields.get("_CMDLINE"))
    return Said(
        stream=":".join(part or "" for part in (host, unit, invocation, str(pid or ""), container or "")),
        host=host,
        unit=unit,
        invocation=invocation,
        pid=pid,
        ident=container or fields.get("SYSLOG_IDENTIFIER") or fields.get("_COMM"),
        rank=rank,
        trust=_TITLE_TRUST if rank else NO_RANK,
        severity=_severity(fields.get("PRIORITY")),
        origin=origin,
        named=True,
    )


def _origin(fields: dict[str, str]) -> Origin:
    ident = fields.get("SYSLOG_IDENTIFIER") or ""
    unit = fields.get("_SYSTEMD_UNIT")
    if fields.get("_TRANSPORT") == "kernel":
        # systemd writes to the kernel's log while journald is not up yet; the kernel's own lines say `kernel`.
        return "manager" if ident == "systemd" or _is_child(ident) else "kernel"
    if fields.get("_PID") == "1" and unit in (None, "init.scope"):
        return "manager"
    # The child that systemd forked for a service, before it became the service's program.
    if "UNIT" in fields and unit in (None, "init.scope", fields["UNIT"]) and _is_child(ident):
        return "manager" if fields.get("_UID", "0") == "0" else "service"
    user_unit = fields.get("_SYSTEMD_USER_UNIT")
    if "USER_UNIT" in fields and (unit is None or unit.startswith("user@")):
        if fields.get("_COMM") in ("systemd", "(systemd)") and user_unit in (None, "init.scope"):
            return "manager"
        if _is_child(ident) and user_unit in (None, "init.scope", fields["USER_UNIT"]):
            return "manager"
    if unit in _HOST_SERVICES or _is_coredump(fields):
        return "manager"
    if user_unit == "init.scope" or (unit is None and fields.get("_TRANSPORT") in ("syslog", "journal", "audit")):
        return "service" if "CONTAINER_NAME" in fields else "other"
    return "service"


def _is_child(ident: str) -> bool:
    return ident.startswith("(") and ident.endswith(")")


def _is_coredump(fields: dict[str, str]) -> bool:
    """Say whether systemd-coredump wrote this: as the kernel's helper, which has no unit, or as a unit of its own."""
    unit = fields.get("_SYSTEMD_UNIT")
    if unit is None:
        return fields.get("_COMM", "").startswith("systemd-coredum") and fields.get("_UID") == "0"
    return unit.startswith("systemd-coredump@") and fields.get("MESSAGE_ID") == COREDUMP


def _first(fields: dict[str, str], names: tuple[str, ...]) -> str | None:
    return next((fields[name] for name in names if fields.get(name)), None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) < 12 else None


def _severity(text: str | None) -> int | None:
    number = _number(text)
    return number if number is not None and number < 8 else None
