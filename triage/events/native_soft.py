"""Single native lines that no traceback took: device asserts, NCCL WARN, glog, torch's watchdog, compilers, C++ stacks.

Equal lines fold into one event with their number in `data["count"]`: a device-side assert prints one line for each of
up to thousands of GPU threads. An event is given out when no line has joined it for some hundred lines.

Sources: PyTorch (`c10/cuda`, `ProcessGroupNCCL.cpp`, `c10/util/Logging.cpp`), NCCL (`debug.cc`), glog and abseil
(`E1124 12:00:00.123456 PID file.cc:N] text`).
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque

from triage.events.native import NCCL_WARN
from triage.events.native_compiler import compiler_error, is_context
from triage.events.native_frames import MAX_FRAMES, Frames
from triage.events.native_levels import Verdict, verdict
from triage.events.native_shapes import LONGEST, inner_of, rank_in
from triage.events.positions import EVIDENCE_LIMIT, TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Kind, Line
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTLED = 256
_STACK = 64
_CONTEXT = 4
_MAX_FOLDS = 2000
# syslog's severity (syslog(3)).
_ERROR = 3
_MAX_EVIDENCE = 12
_SHOWN_EQUAL = 3

_DEVICE = regex(
    r"(?P<file>[^\s:][^:]{0,300}):(?P<line>\d{1,7}): (?P<function>.{1,600}?): block: \[[\d,]+\], thread: \[[\d,]+\] "
    r"(?:Device-side assertion|Assertion) [`'](?P<what>.*)[`'] failed"
)
_HOST_ASSERT = regex(r"Assertion failed: (?P<file>[^\s:,]{1,300}):(?P<line>\d{1,7}), condition: (?P<what>.*)")
_NCCL = regex(
    r"(?:\[[^\]]{0,40}\] )?(?:[^\s:]{1,255}:(?P<pid>\d{1,10}):(?P<tid>\d{1,10}) \[(?P<device>-?\d+)\] )?"
    r"(?:(?P<at>\S{1,200}:\d{1,7}) )?NCCL WARN (?P<what>.*)"
)
_SOURCE = r"[\w./+-]{1,200}\.(?:cc|cpp|cxx|cu|cuh|h|hpp):\d{1,6}"
_CPP = regex(_SOURCE + "$")
_GLOG = regex(
    rf"(?P<severity>[EF])\d{{4}} [\d:.]{{8,18}} +(?P<pid>\d{{1,10}}) (?P<where>{_SOURCE})\] ?(?P<what>.*)", re.DOTALL
)
_TORCH = regex(r"\[[EWF](?:\d{3,4} [\d:.]{8,18})? [\w./-]{1,200}:\d{1,6}\] ?(?P<what>.*)", re.DOTALL)
_WORK = regex(r"Work\w+\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+).{0,300}?Timeout\(ms\)=(?P<timeout_ms>\d+)\)")
_DUMPED_BY = regex(r"due to a collective timeout from +rank (\d+)")
_HINTS = ("NCCL", "atchdog", "eartbeat", "entire process", "dump signal", "PG status")
_WATCHDOG = (
    "Watchdog caught collective operation timeout",
    "watchdog thread terminated with exception",
    "watchdog got stuck for",
    "watchdog at work:",
    "Timeout at NCCL work:",
    "Some NCCL operations have failed or timed out",
    "we are taking the entire process down",
    "detected by watchdog",
    "Heartbeat monitor timed out",
    "HeartbeatMonitor",
    "eceived a dump signal due to a collective timeout",
    "PG status: last enqueued work",
)
_VOLATILE = regex(r"0x[0-9a-fA-F]+|\d+|/(?:tmp|dev/shm)/[^\s:,)]*")


@dataclass(frozen=True, slots=True)
class _Sort:
    kind: Kind
    rule: str
    verdict: Verdict


@dataclass(slots=True)
class _Fold:
    event: Event
    count: int
    tick: int


class NativeSingles:
    """Recognises and folds single native lines."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._folds: OrderedDict[tuple[str, ...], _Fold] = OrderedDict()
        self._done: deque[Event] = deque()
        self._clock = 0
        # Whose the C++ stack or the compiler's context is that follows: stream and clock of its last line.
        self._owner: tuple[_Fold, str, int] | None = None
        self._compiled: tuple[str, int] = ("", -100)

    def feed(self, line: Line, clock: int) -> bool:
        """Take a line and the number of lines read so far; return whether it is one of these lines."""
        self._clock = clock
        text = line.text if len(line.text) <= LONGEST else line.text[:LONGEST]
        if line.record and (line.severity is None or line.severity > _ERROR):
            return self._nccl(line, text)
        return (
            self._assertion(line, text)
            or self._nccl(line, text)
            or self._stack(line, text)
            or self._logged(line, text)
            or self._compiler(line, text)
        )

    def owns_stack(self, stream: str, since: int) -> bool:
        """Take a stream and a clock; return whether a line since then announced a C++ stack in that stream."""
        if self._owner is None or self._owner[2] <= since:
            return False
        own = self._owner[1]
        return own == stream or own.startswith(stream + "/")

    def drain(self, clock: int) -> Iterator[Event]:
        """Take the number of lines read so far; yield the events that no line has joined for a while."""
        self._clock = clock
        while self._folds:
            fold = next(iter(self._folds.values()))
            if self._clock - fold.tick <= _SETTLED and len(self._folds) <= _MAX_FOLDS:
                break
            self._folds.popitem(last=False)
            self._done.append(_counted(fold))
        while self._done:
            yield self._done.popleft()

    def close(self) -> Iterator[Event]:
        """Yield all events that are left."""
        self._done.extend(_counted(fold) for fold in self._folds.values())
        self._folds.clear()
        self._owner = None
        while self._done:
            yield self._done.popleft()

    # --- the kinds of line ------------------------------------------------------------------------------------------

    def _assertion(self, line: Line, text: str) -> bool:
        if "ssertion" not in text:
            return False
        found = _DEVICE.match(text) or _HOST_ASSERT.match(text)
        if found is None:
            return False
        groups = found.groupdict()
        what = groups["what"]
        key = ("assert", line.stream, groups["file"], groups["line"], what)
        fold = self._fold(_native("device-assert", verdict("device-assert", text)), key, line, {"what": what})
        if fold.count == 1:
            fold.event.frames = [self._frames.get(groups["file"], int(groups["line"]), groups.get("function") or "")]
        return True

    def _nccl(self, line: Line, text: str) -> bool:
        if NCCL_WARN not in text:
            return False
        found = _NCCL.match(text)
        data = {name: value for name, value in found.groupdict().items() if value} if found else {}
        what = data.get("what") or text.partition(NCCL_WARN)[2].strip()
        data["what"] = what
        key = ("nccl", line.stream, line.rank or "", _masked(what))
        self._fold(_message("nccl-warn", verdict("nccl-warn", what)), key, line, data)
        return True

    def _logged(self, line: Line, text: str) -> bool:
        """Errors of glog, and the lines of torch's NCCL watchdog in whatever head they come."""
        if any(word in text for word in _HINTS) and any(word in text for word in _WATCHDOG):
            return self._watchdog(line, text)
        found = _GLOG.match(text) if text[:1] in ("E", "F") else None
        if found is not None:
            severity, where, what, pid = found["severity"], found["where"], found["what"], found["pid"]
        elif (
            line.where is not None and line.severity is not None and line.severity <= _ERROR and _CPP.match(line.where)
        ):
            severity, where, what, pid = "E" if line.severity == _ERROR else "F", line.where, text, str(line.pid or "")
        else:
            return False
        data = {"what": what[:TEXT_LIMIT], "severity": severity, "at": where}
        if pid:
            data["pid"] = pid
        key = ("glog", line.stream, where, _masked(what))
        judged = verdict("glog-fatal" if severity == "F" else "glog", what)
        fold = self._fold(_message("glog", judged), key, line, data)
        if fold.count == 1:
            file, _, number = where.rpartition(":")
            fold.event.frames = [self._frames.get(file, int(number[:9]), "")]
        return True

    def _watchdog(self, line: Line, text: str) -> bool:
        found = _TORCH.match(text)
        what = found["what"] if found else text
        rank = line.rank or rank_in(what)
        judged = verdict("torch-watchdog", what)
        key = ("watchdog", line.stream, rank or "")
        open_fold = self._folds.get(key)
        if open_fold is not None and (judged.level is None or judged.level >= (open_fold.event.level or 0)):
            # The watchdog says the same thing several times over: what follows belongs to what it said first.
            self._join(open_fold, line, key)
            open_fold.count -= 1
            if len(open_fold.event.evidence) < _MAX_EVIDENCE:
                open_fold.event.evidence.append(evidence(line))
            self._announce(open_fold, line, what)
            return True
        if open_fold is not None:
            self._done.append(_counted(self._folds.pop(key)))
        data = {"what": what[:TEXT_LIMIT], "name": judged.name}
        work = _WORK.search(what)
        if work is not None:
            data.update(work.groupdict())
        blamed = _DUMPED_BY.search(what)
        if blamed is not None:
            data["blamed"] = f"rank{blamed[1]}"
        fold = self._fold(_message("torch-watchdog", judged), key, line, data)
        if rank and not fold.event.ranks:
            fold.event.ranks = [rank]
            fold.event.at.rank = fold.event.at.rank or rank
        self._announce(fold, line, what)
        return True

    def _announce(self, fold: _Fold, line: Line, what: str) -> None:
        """Only the line that names the exception goes on with its C++ stack, which carries no label of its own."""
        if "terminated with exception" in what:
            self._owner = (fold, line.stream, self._clock)

    def _stack(self, line: Line, text: str) -> bool:
        """A C++ stack of torch outside of a crash, and a `what():` whose head was lost."""
        if not ("frame #" in text or "Exception raised from" in text or "what():" in text):
            return False
        inner = inner_of(text)
        kind, found = inner or ("", None)
        if found is None or kind not in ("c10", "raised", "what"):
            return False
        if kind == "what":
            what: str = found["what"]
            data = {"what": what[:TEXT_LIMIT], "signal": "SIGABRT"}
            key: tuple[str, ...] = ("what", line.stream, _masked(what))
            fold = self._fold(_native("terminate", verdict("terminate", what)), key, line, data)
            fold.event.assembly = "partial"
            rank = rank_in(what)
            if rank and not fold.event.ranks:
                fold.event.ranks = [rank]
            self._owner = (fold, line.stream, self._clock)
            return True
        if self._owner is None or not self.owns_stack(line.stream, self._clock - _STACK):
            key = ("c10", line.stream)
            fold = self._fold(_native("c10", Verdict("c10", None, None, fatal=False)), key, line, {})
            fold.event.assembly = "partial"
            self._owner = (fold, line.stream, self._clock)
        fold, stream, _ = self._owner
        self._owner = (fold, stream, self._clock)
        if len(fold.event.frames) < MAX_FRAMES:
            groups = found.groupdict()
            function = groups.get("function") or groups.get("symbol") or ""
            number = int(groups["line"][:9]) if groups.get("line") else None
            frame = self._frames.get(groups.get("file") or "<unknown>", number, function)
            # C++ frames are printed innermost first; the place where the exception was raised stands before them all.
            fold.event.frames.insert(0 if kind == "c10" else len(fold.event.frames), frame)
        return True

    def _compiler(self, line: Line, text: str) -> bool:
        error = compiler_error(text)
        if error is not None:
            data = {"what": error.what[:TEXT_LIMIT]}
            key = ("compiler", line.stream, _masked(error.what))
            fold = self._fold(_message("compiler", verdict("compiler", text)), key, line, data)
            if fold.count == 1 and error.file:
                fold.event.frames = [self._frames.get(error.file, error.line, "")]
        elif self._compiled[0] != line.stream or self._clock - self._compiled[1] > _CONTEXT or not is_context(text):
            return False
        self._compiled = (line.stream, self._clock)
        return True

    # --- folding ----------------------------------------------------------------------------------------------------

    def _fold(self, sort: _Sort, key: tuple[str, ...], line: Line, data: dict[str, str]) -> _Fold:
        fold = self._folds.get(key)
        if fold is not None:
            self._join(fold, line, key)
            if fold.count <= _SHOWN_EQUAL and len(fold.event.evidence) < _MAX_EVIDENCE:
                fold.event.evidence.append(evidence(line))
            return fold
        event = Event(
            kind=sort.kind,
            rule=sort.rule,
            at=position(line),
            stream=line.stream,
            text=line.text[:TEXT_LIMIT],
            level=sort.verdict.level,
            role=sort.verdict.role,
            fatal=sort.verdict.fatal,
            evidence=[evidence(line)],
            ranks=[line.rank] if line.rank else [],
            unit=line.unit,
            invocation=line.invocation,
            data=data,
            end=line.time,
            order=line.number,
        )
        fold = self._folds[key] = _Fold(event, 1, self._clock)
        return fold

    def _join(self, fold: _Fold, line: Line, key: tuple[str, ...]) -> None:
        fold.count += 1
        fold.tick = self._clock
        fold.event.end = line.time if line.time is not None else fold.event.end
        if line.rank and line.rank not in fold.event.ranks and len(fold.event.ranks) < 64:
            fold.event.ranks.append(line.rank)
        self._folds.move_to_end(key)


def _native(name: str, judged: Verdict) -> _Sort:
    return _Sort("native", f"native/{name}", judged)


def _message(name: str, judged: Verdict) -> _Sort:
    return _Sort("message", f"native/{name}", judged)


def _counted(fold: _Fold) -> Event:
    fold.event.data["count"] = str(fold.count)
    return fold.event


def _masked(text: str) -> str:
    return _VOLATILE.sub("#", text[:EVIDENCE_LIMIT])
