"""torchrun's own account of which rank died and how (`torch/distributed/elastic/multiprocessing`).

The agent logs `failed (exitcode: -9) local_rank: 1 (pid: 597) of binary: /opt/venv/bin/python`. The message of its
ChildFailedError is a table with a block for each rank: under `Failures:` those that followed, under `Root Cause (first
observed failure):` the first one; a block has lines such as `  rank      : 1 (local_rank: 1)`, `  exitcode  : -9 (pid:
597)` and `  traceback : Signal 9 (SIGKILL) received by PID 597`. Lines of a message are only observed here.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from triage.events.native_shapes import NUMBERS
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Evidence, Line
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAILED = regex(
    r"failed \(exitcode: (?P<code>-?\d{1,5})\) local_rank: (?P<local_rank>\d{1,7}) \(pid: (?P<pid>\d{1,10})\) "
    r"of binary: .*"
)
_FIELD = regex(r"\s{1,4}(?P<name>time|host|rank|exitcode|error_file|traceback) *: (?P<value>.*)")
_RANK = regex(r"(?P<rank>\d{1,7})(?: \(local_rank: (?P<local_rank>\d{1,7})\))?")
_EXIT = regex(r"(?P<code>-?\d{1,5})(?: \(pid: (?P<pid>\d{1,10})\))?")
_SIGNAL = regex(r"Signal \d+ \((?P<signal>SIG\w+)\)")
_MAX_OPEN = 1024
_MAX_KNOWN = 20_000


@dataclass(slots=True)
class _Table(Record):
    """The block of one rank as far as it has been read."""

    line: Line
    root: bool
    fields: dict[str, str] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class TorchElastic:
    """Takes torchrun's lines and gives out one event for each rank that it names as failed."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, tuple[bool, _Table | None]] = OrderedDict()
        self._known: OrderedDict[tuple[str | None, str], Event] = OrderedDict()
        self._done: deque[Event] = deque()

    def may_want(self, text: str) -> bool:
        """Take a text; return whether such a line may name a failed rank, whatever its digits are."""
        return "failed (exitcode: " in text

    def single(self, line: Line) -> Event | None:
        """Take a line outside of any message; return the failed rank that it names, None if it names none."""
        if not self.may_want(line.text):
            return None
        found = _FAILED.search(line.text[:TEXT_LIMIT])
        if found is None:
            return None
        # The agent stops at the first failure that it observes, and that is the one it logs.
        data = {name: found[name] for name in ("code", "local_rank", "pid")} | {"root": "1"}
        event = self._event(line, data, found[0], [evidence(line)])
        if line.rank is None:
            # On one node, or the first of several, it is the rank itself; the table corrects it.
            event.ranks = [f"rank{found['local_rank']}"]
            event.at.rank = event.ranks[0]
        return self._once(event)

    def feed(self, line: Line) -> bool:
        """Take a line outside of any message; return whether it names a failed rank (`drain` then gives it out)."""
        event = self.single(line)
        if event is not None:
            self._done.append(event)
        return event is not None

    def feed_message(self, line: Line) -> None:
        """Take a line of an exception's message; torchrun's table is read out of it."""
        text = line.text[:TEXT_LIMIT]
        if text.startswith(("Failures:", "Root Cause (first observed failure):")):
            self._flush(line.stream)
            self._tables[line.stream] = (text.startswith("Root"), None)
            self._tables.move_to_end(line.stream)
            if len(self._tables) > _MAX_OPEN:
                self._flush(next(iter(self._tables)))
            return
        state = self._tables.get(line.stream)
        if state is None:
            return
        root, table = state
        if text.startswith("["):
            self._flush(line.stream)
            self._tables[line.stream] = (root, _Table(line, root))
            return
        if text[:1] in "-=" and text[:5] in ("-----", "====="):
            self._flush(line.stream)
            if text[:1] == "-":
                self._tables[line.stream] = (root, None)
            return
        found = _FIELD.match(text)
        if found is not None and table is not None:
            table.fields[found["name"]] = found["value"].strip()
            if found["name"] in ("rank", "exitcode", "traceback", "host"):
                table.evidence.append(evidence(line))
                table.text.append(text.strip())
            if found["name"] == "traceback":
                self._flush(line.stream)
                self._tables[line.stream] = (root, None)

    def drain(self) -> Iterator[Event]:
        """Yield the ranks whose blocks have been read."""
        while self._done:
            yield self._done.popleft()

    def close(self) -> Iterator[Event]:
        """Yield the rest; a block that was cut off counts as far as it goes."""
        for stream in list(self._tables):
            self._flush(stream)
        yield from self.drain()

    def _flush(self, stream: str) -> None:
        state = self._tables.pop(stream, None)
        if state is None or state[1] is None:
            return
        table = state[1]
        data: dict[str, str] = {}
        for name, pattern in (("rank", _RANK), ("exitcode", _EXIT)):
            found = pattern.match(table.fields.get(name, ""))
            if found is not None:
                data.update({key: value for key, value in found.groupdict().items() if value is not None})
        if "code" not in data:
            return
        if table.root:
            data["root"] = "1"
        if table.fields.get("host"):
            data["host"] = table.fields["host"][:255]
        signal = _SIGNAL.search(table.fields.get("traceback", ""))
        if signal is not None:
            data["signal"] = signal["signal"]
        event = self._event(table.line, data, "\n".join(table.text), table.evidence[:12])
        if "rank" in data:
            event.ranks = [f"rank{data['rank']}"]
            event.at.rank = event.ranks[0]
        kept = self._once(event)
        if kept is not None:
            self._done.append(kept)

    def _once(self, event: Event) -> Event | None:
        """One event for a process: the log line comes first, the table adds the rank and the signal's name."""
        pid = event.data.get("pid")
        if pid is None:
            return event
        key = (event.at.host, pid)
        known = self._known.get(key)
        if known is None or known.data["code"] != event.data["code"]:
            self._known[key] = event
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
            return event
        known.data.update(event.data)
        known.ranks = event.ranks or known.ranks
        known.at.rank = known.ranks[0] if known.ranks else None
        known.evidence.extend(event.evidence[: 12 - len(known.evidence)])
        if event.text not in known.text:
            known.text = f"{known.text}\n{event.text}"[:TEXT_LIMIT]
        return None

    @staticmethod
    def _event(line: Line, data: dict[str, str], text: str, shown: list[Evidence]) -> Event:
        code = int(data["code"])
        if code < 0 and "signal" not in data and -code in NUMBERS:
            data["signal"] = NUMBERS[-code]
        from triage.events.native_levels import verdict

        judged = verdict("torchelastic", f"exitcode {code}")
        return Event(
            kind="exit",
            rule="torchelastic/failure",
            at=position(line),
            stream=line.stream,
            text=text[:TEXT_LIMIT],
            level=judged.level,
            role=judged.role,
            fatal=judged.fatal,
            evidence=shown,
            ranks=[line.rank] if line.rank else [],
            unit=line.unit,
            invocation=line.invocation,
            data=data,
            end=line.time,
            order=line.number,
        )
