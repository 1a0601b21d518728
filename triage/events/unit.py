"""What systemd says about a unit (knowledge/systemd.yaml): starts, ends, results, steps that failed.

Only lines whose origin is the service manager come here: a service can print anything, so its own text never speaks for
systemd. Fields of journal entries (systemd.journal-fields(7), sd-messages.h) win over what the text says.
"""

from __future__ import annotations

from triage.data import knowledge
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Line
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re

_FIELDS = {
    "EXIT_CODE": "code",
    "EXIT_STATUS": "exit",
    "UNIT_RESULT": "result",
    "JOB_RESULT": "job",
    "N_RESTARTS": "restarts",
    "N_DROPPED": "count",
    "EXECUTABLE": "executable",
    "COMMAND": "command",
}


class UnitReader:
    """Recognises the lines of systemd that matter."""

    def __init__(self, table: Any = None) -> None:
        self._rows: list[tuple[Any, re.Pattern[str]]] = []
        self._by_id: dict[str, list[tuple[Any, re.Pattern[str]]]] = {}
        for row in (table or knowledge("systemd"))["rows"]:
            entry = (row, regex(row["re"]))
            self._rows.append(entry)
            if "message_id" in row:
                self._by_id.setdefault(row["message_id"], []).append(entry)

    def parse(self, line: Line) -> Event | None:
        """Take a line of the service manager; return what it says, None where it says nothing that matters."""
        fields = line.fields or {}
        rows = self._by_id.get(fields.get("MESSAGE_ID", ""), self._rows)
        text = line.text[:TEXT_LIMIT]
        hit = _find(rows, text) or (_find(self._rows, text) if rows is not self._rows else None)
        if hit is None:
            return None
        row, found = hit
        data = {name.rstrip("2"): value for name, value in found.items() if value is not None}
        for field, name in _FIELDS.items():
            if fields.get(field):
                data.setdefault(name, fields[field])
        exit_of(data)
        return Event(
            kind="unit",
            rule=row["id"],
            at=position(line),
            stream=line.stream,
            text=line.text[:TEXT_LIMIT],
            level=row.get("level"),
            role=row.get("role"),
            fatal=bool(row.get("fatal")),
            evidence=[evidence(line)],
            unit=line.unit or data.get("unit"),
            invocation=line.invocation,
            data=data,
            end=line.time,
            order=line.number,
        )


def _find(rows: list[tuple[Any, re.Pattern[str]]], text: str) -> tuple[Any, dict[str, str | None]] | None:
    for row, pattern in rows:
        found = pattern.search(text)
        if found:
            return row, found.groupdict()
    return None


def exit_of(data: dict[str, str]) -> dict[str, str]:
    """Take `code` and `status` as systemd prints them (`killed`, `9/KILL`); add `signal`, or `exit` and `step`."""
    status = data.get("status")
    if not status or "code" not in data:
        return data
    number, _, name = status.partition("/")
    if data["code"] in ("killed", "dumped"):
        data["signal"] = f"SIG{name}" if name and name != "n" else number
    else:
        data["exit"] = number
        if name and name not in ("FAILURE", "n", "SUCCESS") and int(number) >= 200:
            data.setdefault("step", name)
    return data
