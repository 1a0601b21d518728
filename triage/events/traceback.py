"""Python tracebacks out of log lines, each stream by itself."""

from __future__ import annotations

from triage.events.interleave import Edges
from triage.events.traceback_event import event_of, literal_event
from triage.events.traceback_read import expand
from triage.events.traceback_shapes import FRAME, HEAD, TRACEBACK, shape
from triage.events.traceback_stream import Answer, StreamTracebacks
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triage.model import Event, Line

_STREAMS = 4_096
# So many streams may have a traceback open.
_OPEN = 512


class TracebackAssembler:
    """Assembles tracebacks of lines that come in order. `ends` tells whether a line ends an exception's message.

    `open` are the streams that have one open.
    """

    def __init__(self, ends: Callable[[Line], bool]) -> None:
        self._ends = ends
        self._known = Edges()
        self.open: dict[str, StreamTracebacks] = {}
        self._before: dict[str, Line] = {}
        self._done: list[Event] = []
        self._fed = 0

    def feed(self, line: Line) -> Answer:
        """Take the next line; return what it is to the tracebacks, None if no part of one."""
        number = line.number or self._fed
        self._fed += 1
        text = line.text
        key = line.stream
        stream = self.open.get(key)
        if TRACEBACK in text and "\\n" in text and not (stream is not None and stream.expects(text)):
            literal = expand(text)
            if literal is not None:
                event = literal_event(line, number, literal[0].strip(), [(one, shape(one)) for one in literal[1]])
                if event is not None:
                    self._done.append(event)
                    return "stack"
        if stream is None:
            if not may_begin(text) or shape(text) not in (HEAD, FRAME):
                self._remember(key, line)
                return None
            stream = self.open[key] = StreamTracebacks(self._ends, self._known)
            stream.before = self._before.pop(key, None)
            if len(self.open) > _OPEN:
                self._shut(next(iter(self.open)))
        answer = stream.feed(line, number)
        if stream.done:
            self._collect(stream)
        if stream.quiet:
            del self.open[key]
            self._remember(key, line)
        return answer

    def pass_by(self, line: Line) -> None:
        """Take a line that `may_begin` none, while no stream has one open."""
        before = self._before
        if len(before) >= _STREAMS:
            before.clear()
        before[line.stream] = line

    def _remember(self, key: str, line: Line) -> None:
        if len(self._before) >= _STREAMS:
            self._before.clear()
        self._before[key] = line

    def _shut(self, key: str) -> None:
        stream = self.open.pop(key)
        stream.close()
        self._collect(stream)

    def _collect(self, stream: StreamTracebacks) -> None:
        for stack in stream.done:
            event = event_of(stack)
            if event is not None:
                self._done.append(event)
        stream.done.clear()

    def drain(self) -> Iterator[Event]:
        """Yield the tracebacks finished so far, in the order of their heads."""
        done, self._done = self._done, []
        yield from sorted(done, key=lambda event: event.order)

    def close(self) -> Iterator[Event]:
        """The end of the log: yield everything that is left, partial where its end is missing."""
        for key in list(self.open):
            self._shut(key)
        yield from self.drain()


def may_begin(text: str) -> bool:
    """Take a text; return whether a traceback may begin with such a line, whatever its digits are."""
    return TRACEBACK in text or text[:8] == '  File "'
