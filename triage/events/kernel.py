"""What the kernel says of the service's processes and of the machine: OOM kills, Xids, crashes, failing hardware.

Only lines whose origin is the kernel come to `KernelReader`: a service can print anything. A plain text file may hold a
copy of dmesg, though; of that, `parse_text` takes the few shapes that nothing else has, and marks them `quoted`.

Sources: NVIDIA's Xid documentation (knowledge/xid.yaml) and its open kernel modules, which print
`NVRM: Xid (PCI:..): N, pid=.., name=.., ...`; the kernel's own texts are in knowledge/native.yaml, those of the OOM
killer in `kernel_oom`.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from functools import cache

from triage.data import knowledge
from triage.events.candidates import may_be_copy
from triage.events.cgroup import owner
from triage.events.kernel_oom import OomReader, near
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.model import Line

_PREFIX = regex(
    r"(?:<\d{1,3}>|\w{2,8} *:\w{2,8} *: )?(?:\[ *\d{1,9}\.\d{1,6}\] ?|\[\w{3} \w{3} +\d{1,2} [\d:]{8} \d{4}\] ?)"
)
_XID = regex(
    r"(?:NVRM: )?Xid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]{4,20})\): (?P<xid>\d{1,4})(?:, (?P<detail>.*))?", re.DOTALL
)
_XID_PARTS = (
    regex(r"pid='?(?P<pid>\d+|<unknown>)'?,? ?"),
    regex(r"name=(?P<process>[^,]{1,64}),? ?"),
)
_UNKNOWN_XID = 0.4
_QUOTABLE = ("Out of memory: ", "Memory cgroup out of memory: ", "oom-kill:constraint=", "NVRM: Xid (PCI:")
_MAX_KNOWN = 4096


class KernelReader:
    """Takes the kernel's lines in their order and makes events of them."""

    def __init__(self) -> None:
        self._oom = OomReader()
        self._known: OrderedDict[tuple[str, ...], Event] = OrderedDict()

    def feed(self, line: Line) -> list[Event]:
        """Take a line of the kernel; return the events that it completes, usually none or one."""
        text = _stripped(line.text[:TEXT_LIMIT])
        victims = self._oom.read(line, text)
        if victims is not None:
            return victims
        event = _single(line, text)
        return [event] if event is not None and self._is_new(event, line) else []

    def close(self) -> list[Event]:
        """Return the OOM kills whose last line never came."""
        return self._oom.close()

    def _is_new(self, event: Event, line: Line) -> bool:
        """What the kernel says again within a minute only counts."""
        data = event.data
        key = (line.stream, event.rule, *(data.get(name, "") for name in ("xid", "pci", "pid", "device", "sxid")))
        known = self._known.get(key)
        if known is not None and near(known, line):
            known.data["count"] = str(int(known.data.get("count", "1")) + 1)
            known.end = line.time if line.time is not None else known.end
            return False
        self._known[key] = event
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)
        return True


def parse(line: Line) -> Event | None:
    """Take a single line of the kernel; return the event that it is by itself, None if it is none."""
    reader = KernelReader()
    events = reader.feed(line) or reader.close()
    return events[0] if events else None


def parse_text(line: Line) -> Event | None:
    """Take a line of a plain file; return an OOM kill or an Xid if it is a copy of the kernel's own line.

    Only whole lines of unmistakable shape count, and `data["quoted"]` says that a copy was read.
    """
    if not may_be_copy(line.text) or not _stripped(line.text[:TEXT_LIMIT]).startswith(_QUOTABLE):
        return None
    event = parse(line)
    if event is not None:
        event.data["quoted"] = "1"
    return event


def xid_row(number: str) -> dict[str, Any] | None:
    """Take an Xid's number; return its row of knowledge/xid.yaml (name, class, means, first), None if it is unknown."""
    return _xids()[0].get(number)


def _stripped(text: str) -> str:
    found = _PREFIX.match(text)
    return text[found.end() :] if found else text


def _single(line: Line, text: str) -> Event | None:
    if "Xid (" in text:
        event = _xid(line, text)
        if event is not None:
            return event
    for literals, pattern, row in _rows():
        found = pattern.match(text) if any(word in text for word in literals) else None
        if found is None:
            continue
        data = {name.rstrip("23"): value for name, value in found.groupdict().items() if value is not None}
        data |= row.get("data", {})
        if "memcg" in data:
            data.update(owner(data["memcg"]))
        return _event(line, (row["rule"], row["level"], bool(row.get("fatal"))), text, data)
    return None


def _xid(line: Line, text: str) -> Event | None:
    found = _XID.match(text)
    if found is None:
        return None
    number = str(int(found["xid"]))
    data = {"xid": number, "pci": found["pci"].lower()}
    detail = found["detail"] or ""
    for pattern in _XID_PARTS:
        part = pattern.match(detail)
        if part is not None:
            data.update({name: value for name, value in part.groupdict().items() if value != "<unknown>"})
            detail = detail[part.end() :]
    data["detail"] = detail[:500]
    row = xid_row(number)
    level: float | None = _UNKNOWN_XID
    if row is not None:
        data |= {"name": row["name"], "class": row["class"]}
        level = row["level"] if "level" in row else _xids()[1][row["class"]]
    return _event(line, ("kernel/xid", level, False), text, data)


@cache
def _xids() -> tuple[dict[str, Any], dict[str, float]]:
    table = knowledge("xid")
    # The number is an integer in the YAML and a string once the table is cached as JSON.
    return {str(number): row for number, row in table["xids"].items()}, table["levels"]


@cache
def _rows() -> tuple[tuple[tuple[str, ...], re.Pattern[str], dict[str, Any]], ...]:
    return tuple((tuple(row["any"]), regex(row["re"]), row) for row in knowledge("native")["kernel"])


def _event(line: Line, row: tuple[str, float | None, bool], text: str, data: dict[str, str]) -> Event:
    rule, level, fatal = row
    return Event(
        kind="kernel",
        rule=rule,
        at=position(line),
        stream=line.stream,
        text=text,
        level=level,
        fatal=fatal,
        evidence=[evidence(line)],
        unit=data.get("unit"),
        data=data,
        end=line.time,
        order=line.number,
    )
