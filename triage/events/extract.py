"""Lines to events: who may look at a line, and in which order.

systemd's and the kernel's own lines go to their readers and nowhere else. Of the service's lines, an open or starting
native block comes first (its frames look like a traceback's), then tracebacks, then single native lines, then what the
engine tells of its run, then decisive lines; what nobody knows may become a process's last words.
"""

from __future__ import annotations

from functools import cached_property

from triage.events.arguments import CommandReader, goes_on
from triage.events.candidates import Wanted, may_be_copy
from triage.events.message import MessageReader
from triage.events.native import NativeAssembler
from triage.events.native_shapes import may_start
from triage.events.positions import evidence
from triage.events.server import ServerReader
from triage.events.status import StatusReader
from triage.events.torchelastic import TorchElastic
from triage.events.traceback import TracebackAssembler, may_begin
from triage.events.tracks import Moments, Track, Tracks
from triage.fingerprint import mask_volatile
from triage.lines.decode import TOO_LONG
from triage.model import Event, Gap
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triage.events.kernel import KernelReader
    from triage.events.unit import UnitReader
    from triage.model import Line
    from triage.patterns import LinePattern
    from triage.repeats import Repeats

# Of equal events of one run so many are kept whole; the rest only count.
_KEPT_EQUAL = 64
_KEPT_DISTINCT = 20_000
# Under this name triage writes what it found into the journal (`triage.beside`), and its reports stand in one.
_SELF = "triage"
# syslog's severity: what its writer calls less than a warning is no process's last words.
_ERROR, _WARNING = 3, 4
# Who may want a line for the words in it (`triage.events.candidates`).
_ASKED, _NATIVE, _SERVER, _COMMAND, _STATUS, _KNOWN, _COPY, _ELASTIC, _GUESS, _SINGLE, _TRACEBACK = (
    1 << bit for bit in range(11)
)


@dataclass(slots=True)
class Extraction(Record):
    """All that the lines said: events in the order of their lines, tracks of writers, gaps, the number of lines.

    `moments` are pairs of a line's running number and its time, both rising.
    """

    events: list[Event] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    moments: list[tuple[int, float]] = field(default_factory=list)
    lines: int = 0
    first_time: float | None = None
    last_time: float | None = None
    zoned: bool = False


def extract(lines: Iterable[Line], patterns: Iterable[LinePattern] = (), repeats: Repeats | None = None) -> Extraction:
    """Take lines in the order of reading, the log patterns of signatures, and the repeats that were left out of the
    lines; return what they say.
    """
    extractor = Extractor(patterns, repeats)
    feed = extractor.feed
    for line in lines:
        feed(line)
    extractor.flush()
    return extractor.result()


class Extractor:
    """Takes lines in the order of reading. What they say so far can be asked for at any time, and reading goes on.

    `failures` counts what may be a failure, repeats included, and `deaths` the deaths of units.
    """

    def __init__(self, patterns: Iterable[LinePattern] = (), repeats: Repeats | None = None) -> None:
        """Take the log patterns of signatures and the repeats that are left out of the lines."""
        self._repeats = repeats
        self.failures = self.deaths = 0
        self._messages = MessageReader(patterns)
        self._native = NativeAssembler()
        self._tracebacks = TracebackAssembler(self._ends)
        self._elastic = TorchElastic()
        self._server = ServerReader()
        self._status = StatusReader()
        self._commands = CommandReader()
        messages = self._messages
        self._wanted = Wanted(
            [
                (_GUESS, messages.guess_words), (_SERVER, self._server.words), (_COMMAND, self._commands.words),
            ],
            [
                (_ASKED, messages.may_be_asked), (_KNOWN, messages.may_be_known),
                (_NATIVE, may_start), (_COMMAND, goes_on), (_STATUS, self._status.may_want), (_COPY, may_be_copy),
                (_ELASTIC, self._elastic.may_want), (_SINGLE, self._native.may_be_record), (_TRACEBACK, may_begin),
            ],
        )  # fmt: skip
        self._out = Extraction()
        self._tracks = Tracks()
        self._moments = Moments()
        self._equal: dict[tuple[str, ...], list[Event]] = {}
        self._transported = False
        # Whether nothing is open that a line may go on with; False where that is to be seen.
        self._calm = False

    def feed(self, line: Line) -> None:
        """Take the next line; its running number is set."""
        out = self._out
        line.number = number = out.lines
        out.lines = number + 1
        time = line.time
        if time is not None:
            if out.first_time is None:
                out.first_time, out.zoned = time, line.zoned
            out.last_time = time
            if time > self._moments.after:
                self._moments.add(number, time)
        if line.ident == _SELF:
            return
        if line.origin == "manager":
            self._transported = True
            self._keep(self._managed(line))
            return
        if line.origin == "kernel":
            self._transported = True
            self._keep_all(self._kernel.feed(line))
            return
        track = self._tracks.take(line)
        text = line.text
        if text == TOO_LONG:
            track.left_out += 1
            return
        wanted = self._wanted.of(text)
        if wanted == _SERVER and (self._calm or self._rests()) and line.record and not _severe(line):
            # Most lines of most logs: nothing is open that they may belong to, and they say how the service fares.
            self._calm = True
            self._native.lines += 1
            self._tracebacks.pass_by(line)
            for event in self._server.feed(line):
                self._keep(event)
            return
        self._calm = False
        asked = list(self._messages.asked(line)) if wanted & _ASKED else ()
        if self._native.feed(line, may_start=bool(wanted & _NATIVE)):
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
        if self._single(line, track, wanted):
            self._belongs(asked)
        elif asked:
            self._keep_all(asked)

    def _rests(self) -> bool:
        """Whether nothing is open that a line may go on with."""
        return not (self._tracebacks.open or self._native.open or self._commands.first or self._status.unit)

    def _belongs(self, asked: Sequence[Event]) -> None:
        """Lines that a signature asked for and that are part of another event: kept to be found, no more."""
        for event in asked:
            event.level = None
            event.data["inside"] = "1"
            self._keep(event)

    # Most logs hold no line of systemd's or the kernel's: their readers are loaded when one comes.

    @cached_property
    def _units(self) -> UnitReader:
        from triage.events.unit import UnitReader

        return UnitReader()

    @cached_property
    def _kernel(self) -> KernelReader:
        from triage.events.kernel import KernelReader

        return KernelReader()

    def _managed(self, line: Line) -> Event | None:
        """Read a line of systemd's: a core dump, or what became of a unit."""
        from triage.events import coredump

        dump = coredump.parse(line)
        return dump if dump is not None else self._units.parse(line)

    def _single(self, line: Line, track: Track, wanted: int) -> bool:
        """Read a line that stands for itself; return whether it became a failure of its own.

        `wanted` says which readers its words may concern; some have a block open that it may go on with.
        """
        if not line.text.strip():
            return False
        if self._native.soft(line):
            self._keep_all(self._native.drain())
            return True
        heard = self._server.feed(line) if wanted & _SERVER else []
        if wanted & (_COMMAND | _STATUS) or self._commands.first or self._status.unit:
            heard += self._pasted(line)
        if heard:
            self._keep_all(heard)
        known = self._messages.known(line) if wanted & _KNOWN else None
        if known is None and wanted & _COPY and not self._transported:
            from triage.events import kernel

            known = kernel.parse_text(line)
        if known is None and wanted & _ELASTIC:
            known = self._elastic.single(line)
        if known is None and (wanted & _GUESS or _severe(line)):
            guess = self._messages.guess(line)
            # Of a line that was understood only an exception that it begins with is more than it said already.
            known = guess if guess is None or not heard or "alone" in guess.data else None
        if known is not None:
            self._keep(known)
        known_kind = heard or known is not None or line.record or (line.severity or 0) > _WARNING
        if not known_kind and not self._messages.noise.covers(line.text):
            track.words.append((line.number, evidence(line)))
        return known is not None

    def _pasted(self, line: Line) -> Iterator[Event]:
        """What people paste above a log: the command, and what systemctl says of the unit."""
        command = self._commands.feed(line)
        if command is not None:
            yield command
        if line.cursor is None and line.pid is None:
            yield from self._status.feed(line)

    def _inside(self, line: Line) -> None:
        """A line inside an exception's message: it is the exception's own, but what it says counts too."""
        self._elastic.feed_message(line)
        self._keep_all(self._elastic.drain())
        event = self._messages.known(line)
        if event is not None:
            event.data["inside"] = "1"
            self._keep(event)

    def _ends(self, line: Line) -> bool:
        return (
            line.origin in ("manager", "kernel")
            or self._native.starts(line)
            or self._messages.ends(line)
            or self._status.heads(line)
        )

    def _keep_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._keep(event)

    def _keep(self, event: Event | None) -> None:
        if event is None:
            return
        others = self._repeats.of(event.at.offset) if self._repeats is not None else 0
        self.failures += (1 + others) * (event.level is not None)
        self.deaths += event.kind == "unit" and event.fatal
        if not event.rule.startswith("serving/"):
            self._server.interrupt()
        if event.invocation is None and (event.data.get("banner") or event.rule == "systemd/started"):
            self._tracks.turn(event.order)
        detail = event.exception.message if event.exception else event.text
        key = (event.rule, event.unit or "", event.invocation or "", mask_volatile(detail[:300]))
        same = self._equal.get(key)
        if same is None:
            if len(self._equal) >= _KEPT_DISTINCT:
                return
            same = self._equal[key] = []
        if len(same) >= _KEPT_EQUAL:
            _repeat(same[-1], event, 1 + others)
            if self._repeats is not None and event.rule == "traceback" and event.assembly == "exact":
                self._repeats.enough(event.at.offset, event.evidence[-1].at.offset)
            return
        if others:
            _repeat(event, event, others)
        same.append(event)
        self._out.events.append(event)

    @property
    def lines(self) -> int:
        """How many lines it took."""
        return self._out.lines

    def add(self, event: Event) -> None:
        """Take what no line says, such as that nothing was said for long; it stands behind the lines so far."""
        event.order = self._out.lines
        self._keep(event)

    def flush(self) -> None:
        """Finish what is still open, as it is: the log ends here, or nothing has been written for a while."""
        if "_kernel" in self.__dict__:
            self._keep_all(self._kernel.close())
        self._keep_all(self._native.close())
        self._keep_all(self._tracebacks.close())
        self._keep_all(self._elastic.close())

    def result(self) -> Extraction:
        """Return what the lines so far said; what is still open is no part of it."""
        out = self._out
        self._server.settle()
        out.events.sort(key=lambda event: event.order)
        gaps = list(out.gaps)
        if len(self._equal) >= _KEPT_DISTINCT:
            gaps.append(Gap("truncated", f"more than {_KEPT_DISTINCT} different messages; the rest was not kept"))
        return Extraction(
            list(out.events), self._tracks.all(), gaps, list(self._moments.pairs), out.lines, out.first_time,
            out.last_time, out.zoned,
        )  # fmt: skip

    def forget(self, gone: Callable[[Event], bool], before: int) -> None:
        """Forget the events for which `gone` holds, and the writers whose last line has a lower number than `before`.

        Equal ones that come later are kept again.
        """
        self._out.events = [event for event in self._out.events if not gone(event)]
        self._equal = {key: kept for key, same in self._equal.items() if (kept := [e for e in same if not gone(e)])}
        self._tracks.forget(before)
        self._server.interrupt()


def _severe(line: Line) -> bool:
    return line.severity is not None and line.severity <= _ERROR


def _repeat(event: Event, equal: Event, times: int) -> None:
    """Count an equal event, so many times, with one that is kept."""
    event.data["repeats"] = str(int(event.data.get("repeats", "0")) + times)
    event.data["last"] = str(max(equal.order, int(event.data.get("last", "0"))))
    event.end = equal.end or event.end
