"""The OOM killer's report in the kernel's log: one event for each victim.

The report begins with `X invoked oom-killer`; a stack, the memory and a table of tasks follow, then
`oom-kill:constraint=CONSTRAINT_MEMCG,..,task_memcg=/system.slice/X.service,task=..,pid=..` and
`Memory cgroup out of memory: Killed process ..` or, of the whole machine, `Out of memory: Killed process ..`
(`mm/oom_kill.c`, 3.10 to 6.12). Any part can be missing: older kernels print no `oom-kill:`, rate limits cut the rest.
"""

from __future__ import annotations

from collections import OrderedDict

from triage.events.cgroup import owner
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from triage.model import Evidence, Line

_INVOKED = regex(r"(?P<invoker>.{1,32}?) invoked oom-killer: ")
_USAGE = regex(r"memory: usage (?P<usage>\d+kB), limit (?P<limit>\d+kB)")
_GROUP = regex(r"Tasks in (?P<group>\S+) are going to be killed due to memory\.oom\.group set")
_CHOSEN = regex(r"oom-kill:(?P<fields>constraint=\S.*)")
_KILLED = regex(
    r"(?P<how>Out of memory[^:]{0,40}|Memory cgroup out of memory): (?:Kill|Killed) process (?P<pid>\d{1,10})"
    r"(?:,? \((?P<process>[^)]{0,64})\)|, UID \d+, \((?P<process2>[^)]{0,64})\))(?P<sizes>.{0,400})"
)
_KILLED_ONLY = regex(
    r"Killed process (?P<pid>\d{1,10})(?:,? UID \d+,?)? \((?P<process>[^)]{0,64})\):? (?P<sizes>total-vm:.{0,400})"
)
_REAPED = regex(r"oom_reaper: reaped process (?P<pid>\d{1,10}) ")
_SIZES = {
    "rss": regex(r"anon-rss:(\d+kB)"),
    "shmem": regex(r"shmem-rss:(\d+kB)"),
    "total": regex(r"total-vm:(\d+kB)"),
}
_OF_GROUP = ("memcg", "unit", "pod", "container")
_OF_VICTIM = ("pid", "process", "rss", "shmem", "total", "reaped", *_OF_GROUP)
_REPORT_LINES = 400
_MAX_STREAMS = 256
_MAX_VICTIMS = 4096
_MAX_EVIDENCE = 12
_SAME = 60.0


@dataclass(slots=True)
class _Report:
    """What a report has said so far, until its next victim: its first line, data, and the victim already chosen."""

    first: Line | None = None
    evidence: list[Evidence] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)
    waiting: Event | None = None
    before: Event | None = None
    lines: int = 0


class OomReader:
    """Reads the reports of all streams of kernel lines."""

    def __init__(self) -> None:
        self._reports: OrderedDict[str, _Report] = OrderedDict()
        self._victims: OrderedDict[tuple[str, str], Event] = OrderedDict()
        self._late: list[Event] = []

    def read(self, line: Line, text: str) -> list[Event] | None:
        """Take a line of the kernel and its text without a stamp; return the victims that it completes.

        None if it is no line of a report.
        """
        report = self._reports.get(line.stream)
        if report is not None:
            report.lines += 1
            if report.lines > _REPORT_LINES:
                return [*self._drop(line.stream), *(self.read(line, text) or [])]
        if "oom" not in text and "Kill" not in text and not text.startswith("memory: usage"):
            return None
        invoked = _INVOKED.match(text)
        if invoked is not None:
            left = self._drop(line.stream)
            self._report(line).data["invoker"] = invoked["invoker"]
            self._report(line).first = line
            self._report(line).evidence.append(evidence(line))
            return left
        for pattern in (_USAGE, _GROUP):
            found = pattern.match(text)
            if found is not None:
                self._report(line).data.update({name: value[:1000] for name, value in found.groupdict().items()})
                return []
        chosen = _CHOSEN.match(text)
        if chosen is not None:
            return self._chosen(line, text, chosen["fields"])
        killed = _KILLED.match(text) or _KILLED_ONLY.match(text)
        if killed is not None:
            return self._killed(line, text, killed)
        reaped = _REAPED.match(text)
        if reaped is None:
            return None
        victim = self._victims.get((line.stream, reaped["pid"]))
        if victim is not None:
            victim.data["reaped"] = "1"
        return []

    def close(self) -> list[Event]:
        """Return the victims whose last line never came."""
        late, self._late = self._late, []
        return late + [event for stream in list(self._reports) for event in self._drop(stream)]

    def _report(self, line: Line) -> _Report:
        report = self._reports.get(line.stream)
        if report is None:
            if len(self._reports) >= _MAX_STREAMS:
                self._late += self._drop(next(iter(self._reports)))
            report = self._reports[line.stream] = _Report()
        return report

    def _drop(self, stream: str) -> list[Event]:
        report = self._reports.pop(stream, None)
        return [report.waiting] if report is not None and report.waiting is not None else []

    def _victim(self, report: _Report, line: Line) -> Event:
        first = report.first or line
        event = Event(
            kind="kernel",
            rule="kernel/oom",
            at=position(first),
            stream=line.stream,
            text="",
            level=0,
            fatal=True,
            evidence=report.evidence,
            data=dict(report.data),
            order=first.number,
        )
        # A second victim of the same report is an event of its own, with lines of its own.
        report.first, report.evidence = None, []
        return event

    def _chosen(self, line: Line, text: str, fields: str) -> list[Event]:
        report = self._report(line)
        left = [report.waiting] if report.waiting is not None else []
        event = report.waiting = report.before = self._victim(report, line)
        _read_fields(event, fields)
        _add(event, line, text)
        return left

    def _killed(self, line: Line, text: str, killed: re.Match[str]) -> list[Event]:
        pid = killed["pid"]
        known = self._victims.get((line.stream, pid))
        if known is not None and near(known, line):
            # Kernels before 4.19 print `Kill process ..` and then `Killed process ..`.
            _add(known, line, text)
            _read_sizes(known, killed["sizes"])
            return []
        report = self._reports.get(line.stream) or _Report()
        done: list[Event] = []
        event = report.waiting
        if event is None or event.data.get("pid", pid) != pid:
            done = [event] if event is not None else []
            event = self._victim(report, line)
            if report.before is not None:
                _inherit(event, report.before)
        report.waiting = None
        groups = killed.groupdict()
        event.data["pid"] = pid
        event.data["process"] = groups.get("process") or groups.get("process2") or event.data.get("process", "")
        if (groups.get("how") or "").startswith("Memory cgroup"):
            event.data["oom"] = "memcg"
        event.data.setdefault("oom", "global")
        _add(event, line, text)
        _read_sizes(event, killed["sizes"])
        self._victims[line.stream, pid] = event
        if len(self._victims) > _MAX_VICTIMS:
            self._victims.popitem(last=False)
        return [*done, event]


def near(event: Event, line: Line) -> bool:
    """Take an event and a line; return whether the line is within a minute of it, as far as times are known."""
    return line.time is None or event.at.time is None or abs(line.time - event.at.time) <= _SAME


def _inherit(event: Event, before: Event) -> None:
    """A further victim of one report: of the same limit, and, if the whole group is killed, of the same unit."""
    whole = "group" in event.data
    for name, value in before.data.items():
        if name not in _OF_VICTIM or (whole and name in _OF_GROUP):
            event.data.setdefault(name, value)
    event.unit = event.data.get("unit")


def _add(event: Event, line: Line, text: str) -> None:
    event.text = f"{event.text}\n{text}".strip()[:TEXT_LIMIT]
    event.end = line.time
    if len(event.evidence) < _MAX_EVIDENCE:
        event.evidence.append(evidence(line))


def _read_fields(event: Event, fields: str) -> None:
    """Read what stands after `oom-kill:`; a process's name may hold commas, it ends at the last `,pid=`."""
    head, _, tail = fields.partition(",task=")
    named = dict(part.partition("=")[::2] for part in head.split(","))
    process, _, rest = tail.rpartition(",pid=")
    pid = rest.partition(",")[0]
    event.data["constraint"] = named.get("constraint", "")[:64]
    event.data["oom"] = "memcg" if event.data["constraint"] == "CONSTRAINT_MEMCG" else "global"
    if process:
        event.data["process"] = process[:64]
    if pid.isdigit():
        event.data["pid"] = pid
    if named.get("task_memcg"):
        event.data["memcg"] = named["task_memcg"][:1000]
        event.data.update(owner(named["task_memcg"]))
        event.unit = event.data.get("unit")
    if named.get("oom_memcg"):
        event.data["limited"] = named["oom_memcg"][:1000]


def _read_sizes(event: Event, sizes: str) -> None:
    for name, pattern in _SIZES.items():
        found = pattern.search(sizes)
        if found is not None:
            event.data[name] = found[1]
