"""Pods and events as kubectl prints them for people: `kubectl describe pod`, `kubectl get events`, `kubectl events`.

Layouts as of kubectl 1.20 to 1.34. Ages (`5m`) are relative to a moment that nobody knows, so they give no times.
"""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.sources.pods import Container, Ended, Pod, Said

_LINES = 200_000
_LONGEST = 4_000
_HEADER = regex(r"(?:NAMESPACE\s+)?LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+.*MESSAGE", re.MULTILINE)
_ROW = regex(
    r"(?P<age>.{0,80}?)\s*\b(?P<type>Normal|Warning)\s+(?P<reason>\w{1,80})\s+"
    r"(?P<kind>[A-Za-z]{1,40})(?:\.\S+)?/(?P<name>\S{1,253})\s+(?P<message>.*)"
)
_NAME = regex(r"Name: +(\S+)")
_PAIR = regex(r"( *)([A-Za-z][\w ./-]{0,80}?):(?: +(.*)|$)")
_EVENT = regex(
    r" +(?P<type>Normal|Warning) +(?P<reason>\w{1,80}) +(?P<age>\S+(?: \(.{1,40}?\))?) +(?P<from>\S+) +(?P<message>.*)"
)
_TIMES = regex(r"\(x(\d{1,9}) over")


def is_table(text: str) -> bool:
    """Take a text; return whether it is a table of events."""
    return _HEADER.search(text[:20_000]) is not None


def table(text: str) -> list[Said]:
    """Take a table of events; return them in its order."""
    rows = (_ROW.match(line[:_LONGEST]) for line in text.splitlines()[:_LINES])
    return [
        Said(
            found["reason"], found["message"].strip(), found["type"] == "Warning", count=_count(found["age"]),
            kind=found["kind"][:1].upper() + found["kind"][1:], name=found["name"],
        )
        for found in rows
        if found is not None
    ]  # fmt: skip


def is_description(text: str) -> bool:
    """Take a text; return whether it is what `kubectl describe pod` prints."""
    return bool(_NAME.match(text.lstrip()) and re.search(r"^(?:Containers|Events):", text, re.MULTILINE))


def descriptions(text: str) -> list[Pod]:
    """Take what `kubectl describe pod` printed, of one pod or several; return the pods with their events."""
    pods: list[Pod] = []
    reader: _Description | None = None
    for raw in text.splitlines()[:_LINES]:
        line = raw[:_LONGEST].rstrip()
        name = _NAME.fullmatch(line)
        if name is not None:
            reader = _Description(Pod(name[1]))
            pods.append(reader.pod)
        elif reader is not None and line.strip():
            reader.read(line)
    return pods


class _Description:
    """Reads the lines of one pod; `_section` is where it is in the outer level, `_part` within a container."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self._section = self._part = ""
        self._container: Container | None = None

    def read(self, line: str) -> None:
        found = _PAIR.match(line)
        if found is not None and not found[1]:
            self._section, self._container = found[2], None
            self._top(found[2], (found[3] or "").strip())
        elif self._section == "Events":
            self._event(line)
        elif self._section in ("Containers", "Init Containers"):
            self._inside(line, found)

    def _top(self, name: str, value: str) -> None:
        if name == "Node" and value and value != "<none>":
            self.pod.node = value.partition("/")[0]
        elif name == "Status":
            self.pod.phase = value.partition(" ")[0]
            self.pod.deleted = value.startswith("Terminating")
        elif name == "Reason":
            self.pod.reason = value
        elif name == "Message":
            self.pod.message = value

    def _event(self, line: str) -> None:
        found = _EVENT.match(line)
        if found is not None:
            self.pod.said.append(
                Said(
                    found["reason"],
                    found["message"].strip(),
                    found["type"] == "Warning",
                    count=_count(found["age"]),
                    name=self.pod.name,
                )
            )

    def _inside(self, line: str, found: re.Match[str] | None) -> None:
        depth = len(line) - len(line.lstrip(" "))
        if depth == 2 and line.endswith(":"):
            self._container = Container(line.strip()[:-1], init=self._section == "Init Containers")
            self.pod.containers.append(self._container)
            self._part = ""
            return
        container = self._container
        if container is None:
            return
        if depth == 4 and found is not None:
            self._part = found[2]
            self._value(container, found[2], (found[3] or "").strip())
        elif depth > 4:
            self._deeper(container, line.strip(), found)

    def _value(self, container: Container, name: str, value: str) -> None:
        if name == "Image":
            container.image = value
        elif name == "Restart Count" and value.isdecimal():
            container.restarts = int(value[:9])
        elif name == "State":
            container.state = value.lower()
            container.ended = Ended() if container.state == "terminated" else None
        elif name == "Last State":
            container.last = Ended() if value == "Terminated" else None

    def _deeper(self, container: Container, text: str, found: re.Match[str] | None) -> None:
        name, value = (found[2], (found[3] or "").strip()) if found is not None else (text, "")
        if self._part in ("Command", "Args"):
            container.command.append(text)
        elif self._part == "Limits":
            container.limits[name] = value
        elif self._part == "Requests":
            container.requests[name] = value
        elif self._part == "Environment":
            if not value.startswith("<"):
                container.environment[name] = value
        elif self._part in ("State", "Last State"):
            self._state(container, name, value)

    def _state(self, container: Container, name: str, value: str) -> None:
        ended = container.last if self._part == "Last State" else container.ended
        if ended is not None:
            if name == "Exit Code" and value.lstrip("-").isdecimal():
                ended.code = int(value[:9])
            elif name in ("Reason", "Message"):
                setattr(ended, name.lower(), value)
            elif name in ("Started", "Finished"):
                setattr(ended, name.lower(), _seconds(value))
        if self._part == "State":
            if name in ("Reason", "Message"):
                setattr(container, name.lower(), value)
            elif name == "Started":
                container.started = _seconds(value)


def _count(age: str) -> int:
    found = _TIMES.search(age)
    return max(int(found[1]), 1) if found is not None else 1


def _seconds(text: str) -> float | None:
    """Read `Thu, 06 Nov 2025 02:09:53 +0000`."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
