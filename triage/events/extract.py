"""Lines to events: who may look at a line, and in which order.

systemd's and the kernel's own lines go to their readers and nowhere else. Of the service's lines, an open or starting
native block comes first (its frames look like a traceback's), then tracebacks, then single native lines, then what the
engine tells of its run, then decisive lines; what nobody knows may become a process's last words.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage.events import coredump, kernel
from triage.events.message import MessageReader
from triage.events.native import NativeAssembler
from triage.events.positions import evidence
from triage.events.server import ServerReader
from triage.events.torchelastic import TorchElastic
from triage.events.traceback import TracebackAssembler
from triage.events.unit import UnitReader
from triage.fingerprint import mask_volatile
from triage.model import Event, Evidence, Gap, Line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.patterns import LinePattern

# Of equal events of one run so many are kept whole; the rest only count.
_KEPT_EQUAL = 64
_KEPT_DISTINCT = 20_000


@dataclass(slots=True)
class Track:
    """One writer of the service: a stream, and a rank where its lines named one.

    `first` and `last_number` are the running numbers of its first and last line, `words` its last lines that nobody
    knew, oldest first.
    """

    stream: str
    rank: str | None
    pid: int | None
    host: str | None
    unit: str | None
    invocation: str | None
    first: int
    last_number: int
    last: Evidence
    count: int = 1
    command: str | None = None
    words: deque[tuple[int, Evidence]] = field(default_factory=lambda: deque(maxlen=4))


@dataclass(slots=True)
class Extraction:
    """All that the lines said: events in the order of their lines, tracks of writers, gaps, the number of lines."""

    events: list[Event] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    lines: int = 0
    first_time: float | None = None
    last_time: float | None = None
    zoned: bool = False


def extract(lines: Iterable[Line], patterns: Iterable[LinePattern] = ()) -> Extraction:
    """Take lines in the order of reading and the log patterns of signatures; return what they say."""
    extractor = _Extractor(patterns)
    for line in lines:
        extractor.feed(line)
    return extractor.close()


class _Extractor:
    def __init__(self, patterns: Iterable[LinePattern]) -> None:
        self._messages = MessageReader(patterns)
        self._native = NativeAssembler()
        self._tracebacks = TracebackAssembler(self._ends)
        self._elastic = TorchElastic()
        self._server = ServerReader()
        self._units = UnitReader()
        self._kernel = kernel.KernelReader()
        self._out = Extraction()
        self._tracks: dict[tuple[str, str | None], Track] = {}
        self._equal: dict[tuple[str, ...], list[Event]] = {}
        self._transported = False

    def feed(self, line: Line) -> None:
        line.number = self._out.lines
        self._out.lines += 1
        if line.time is not None:
            self._clock(line)
        if line.origin == "manager":
            self._transported = True
            dump = coredump.parse(line)
            self._keep(dump if dump is not None else self._units.parse(line))
            return
        if line.origin == "kernel":
            self._transported = True
            self._keep_all(self._kernel.feed(line))
            return
        track = self._track(line)
        asked = list(self._messages.asked(line))
        if self._native.feed(line):
            self._keep_all(self._native.drain())
            self._belongs(asked)
            return
        took = self._tracebacks.feed(line)
        if took is not None:
            if took == "message":
                self._inside(line)
            self._keep_all(self._tracebacks.drain())
            self._belongs(asked)
            return
        if self._single(line, track):
            self._belongs(asked)
        else:
            self._keep_all(asked)

    def _belongs(self, asked: list[Event]) -> None:
        """Lines that a signature asked for and that are part of another event: kept to be found, no more."""
        for event in asked:
            event.level = None
            event.data["inside"] = "1"
            self._keep(event)

    def _single(self, line: Line, track: Track) -> bool:
        """Read a line that stands for itself; return whether it became a failure of its own."""
        if not line.text.strip():
            return False
        if self._native.soft(line):
            self._keep_all(self._native.drain())
            return True
        heard = list(self._server.feed(line))
        self._keep_all(heard)
        known = self._messages.known(line)
        if known is None and not self._transported:
            known = kernel.parse_text(line)
        if known is None:
            known = self._elastic.single(line)
        if known is None and not heard:
            known = self._messages.guess(line)
        self._keep(known)
        if not (heard or known is not None or line.record) and not self._messages.noise.covers(line.text):
            track.words.append((line.number, evidence(line)))
        return known is not None

    def _inside(self, line: Line) -> None:
        """A line inside an exception's message: it is the exception's own, but what it says counts too."""
        self._elastic.feed_message(line)
        self._keep_all(self._elastic.drain())
        event = self._messages.known(line)
        if event is not None:
            event.data["inside"] = "1"
            self._keep(event)

    def _ends(self, line: Line) -> bool:
        return line.origin in ("manager", "kernel") or self._native.starts(line) or self._messages.ends(line)

    def _track(self, line: Line) -> Track:
        key = (line.stream, line.rank)
        track = self._tracks.get(key)
        if track is None:
            track = self._tracks[key] = Track(
                stream=line.stream,
                rank=line.rank,
                pid=line.pid,
                host=line.host,
                unit=line.unit,
                invocation=line.invocation,
                first=line.number,
                last_number=line.number,
                last=evidence(line),
            )
        else:
            track.count += 1
            track.last_number = line.number
            if line.text.strip():
                track.last = evidence(line)
        return track

    def _clock(self, line: Line) -> None:
        if self._out.first_time is None:
            self._out.first_time, self._out.zoned = line.time, line.zoned
        self._out.last_time = line.time

    def _keep_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._keep(event)

    def _keep(self, event: Event | None) -> None:
        if event is None:
            return
        if not event.rule.startswith("serving/"):
            self._server.interrupt()
        if event.data.get("banner") or event.rule == "systemd/started":
            self._turn(event)
        detail = event.exception.message if event.exception else event.text
        key = (event.rule, event.unit or "", event.invocation or "", mask_volatile(detail[:300]))
        same = self._equal.get(key)
        if same is None:
            if len(self._equal) >= _KEPT_DISTINCT:
                return
            same = self._equal[key] = []
        if len(same) >= _KEPT_EQUAL:
            last = same[-1]
            last.data["repeats"] = str(int(last.data.get("repeats", "0")) + 1)
            last.data["last"] = str(max(event.order, int(last.data.get("last", "0"))))
            last.end = event.end or last.end
            return
        same.append(event)
        self._out.events.append(event)

    def _turn(self, event: Event) -> None:
        """A start: writers seen so far may end here, so that each attempt keeps its own last lines."""
        going = [key for key, track in self._tracks.items() if track.last_number < event.order]
        if event.invocation is None:
            for key in going:
                self._out.tracks.append(self._tracks.pop(key))

    def close(self) -> Extraction:
        self._keep_all(self._kernel.close())
        self._keep_all(self._native.close())
        self._keep_all(self._tracebacks.close())
        self._keep_all(self._elastic.drain())
        self._out.tracks.extend(self._tracks.values())
        self._out.events.sort(key=lambda event: event.order)
        if len(self._equal) >= _KEPT_DISTINCT:
            self._out.gaps.append(
                Gap("truncated", f"more than {_KEPT_DISTINCT} different messages; the rest was not kept")
            )
        return self._out
