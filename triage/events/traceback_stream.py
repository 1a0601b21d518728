"""The tracebacks of one stream: one after the other on the fast, exact way; in a region where several are open.

Lines of one stream are in order. A traceback is read by its grammar as long as it is alone. As soon as a second head
comes while the first still waits for its exception line, lines are gathered in a `Region` and dealt out once it ends.
"""

from __future__ import annotations

from triage.events.traceback_region import Region
from triage.events.traceback_shapes import (
    BLANK,
    CHAIN,
    EXCEPTION,
    FRAME,
    GROUP,
    GROUP_TRACEBACK,
    HEAD,
    SOURCE,
    TEXT,
    announces,
    frame_parts,
    intro_of,
    is_intro,
    may_be_exception,
    shape,
)
from triage.events.traceback_stack import (
    AT_CHAIN,
    AT_GROUP,
    AT_HEAD,
    AT_MESSAGE,
    NEXT,
    Stack,
)
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from triage.events.interleave import Edges
    from triage.model import Line

Answer = Literal["stack", "message"] | None

# So many lines of others may stand between two lines of a traceback before its rest counts as lost.
IDLE_LIMIT = 500
# An exception's message is written at once: what comes so many seconds later is something else.
_PAUSE = 5.0


class StreamTracebacks:
    """Reads the tracebacks of one stream. `done` gathers the finished ones, in no order."""

    def __init__(self, ends: Callable[[Line], bool], known: Edges) -> None:
        self._ends = ends
        self._known = known
        self.done: list[Stack] = []
        self.before: Line | None = None
        self._stack: Stack | None = None
        self._late: Stack | None = None
        self._group: Stack | None = None
        self._region: Region | None = None
        self._idle = 0
        self._printing = False

    @property
    def quiet(self) -> bool:
        """Whether nothing is open."""
        return self._stack is None and self._region is None and self._late is None and not self._printing

    def expects(self, text: str) -> bool:
        """Whether the text is the exception line that an open traceback waits for."""
        waits = self._region is not None or (self._stack is not None and self._stack.waiting)
        return waits and shape(text) == EXCEPTION

    def feed(self, line: Line, number: int) -> Answer:
        """Take the stream's next line and its number; return what it is to the tracebacks, None if nothing."""
        kind = shape(line.text)
        answer = self._deal(line, kind, number)
        self.before = line
        return answer

    def _deal(self, line: Line, kind: int, number: int) -> Answer:
        if self._region is not None:
            return self._in_region(line, kind, number)
        if kind == HEAD:
            self._head(line, number)
            return "stack"
        if self._printing:
            if kind in (FRAME, SOURCE) and not line.record:
                return None
            self._printing = False
        stack = self._stack
        if stack is None:
            return self._alone(line, kind, number)
        if line.record and not _continues(stack, kind):
            self._record(stack)
            return None
        if stack.state == AT_MESSAGE:
            return self._message(stack, line, kind, number)
        following = NEXT[stack.state].get(kind)
        if following is None and kind in (TEXT, EXCEPTION) and stack.state not in (AT_CHAIN, AT_GROUP, AT_HEAD):
            following = AT_MESSAGE if may_be_exception(line.text) else None
        if following is not None:
            self._idle = 0
            if following == AT_MESSAGE:
                self._close_late()
            stack.take(line, kind, following)
            return "stack" if kind != BLANK else "message"
        if stack.state == AT_GROUP:
            self._finish(stack)
            return self._alone(line, kind, number)
        return self._stray(stack, line, kind)

    def _alone(self, line: Line, kind: int, number: int) -> Answer:
        frame = frame_parts(line.text) if kind == FRAME and not line.record else None
        # Line 0 and no function: native frames and syntax errors begin no traceback.
        if frame is not None and frame[1] and frame[2]:
            if self.before is not None and self.before.text.rstrip().endswith("Stack (most recent call last):"):
                # logging's stack_info: where it was called from, no exception.
                self._printing = True
                return None
            self._stack = Stack(None, number)
            self._stack.take(line, FRAME, NEXT[AT_HEAD][FRAME])
            self._idle = 0
            return "stack"
        return self._late_text(line, kind)

    def _late_text(self, line: Line, kind: int) -> Answer:
        late = self._late
        if late is None:
            return None
        if line.record or kind not in (TEXT, BLANK) or late.full() or self._ends(line):
            self._close_late()
            return None
        late.take(line, kind, AT_MESSAGE)
        return "message"

    def _stray(self, stack: Stack, line: Line, kind: int) -> Answer:
        """A line that an unfinished traceback cannot take: another writer's, or the rest of the message before it."""
        answer = self._late_text(line, kind)
        self._idle += 1
        if answer is None and self._idle > IDLE_LIMIT:
            self._finish(stack)
        return answer

    def _record(self, stack: Stack) -> None:
        self._close_late()
        if not stack.waiting:
            self._finish(stack)
            return
        self._idle += 1
        if self._idle > IDLE_LIMIT:
            self._finish(stack)

    def _message(self, stack: Stack, line: Line, kind: int, number: int) -> Answer:
        if kind == FRAME and not stack.expects_frames():
            self._finish(stack)
            return self._alone(line, kind, number)
        if kind == CHAIN:
            stack.take(line, kind, AT_CHAIN)
            self._idle = 0
            return "stack"
        if stack.full() or _paused(stack.last, line) or self._ends(line):
            self._finish(stack)
            return None
        stack.take(line, kind, AT_MESSAGE)
        return "message"

    def _head(self, line: Line, number: int) -> None:
        stack = self._stack
        intro = intro_of(line.text)
        bare = not intro and not line.record
        if stack is not None:
            if bare and stack.state == AT_CHAIN:
                stack.take(line, HEAD, AT_GROUP if GROUP_TRACEBACK in line.text else AT_HEAD)
                return
            if stack.waiting:
                self._stack = None
                self._region = Region([stack], self._known)
                self._region.head(line, number, intro, bare)
                return
            if stack.state == AT_MESSAGE:
                last = stack.last_text()
                if is_intro(last):
                    stack.drop_last()
                elif bare and stack.expects_quote():
                    stack.take(line, HEAD, AT_HEAD)
                    return
                # Its message may go on between the lines of the next traceback.
                self._close_late()
                self._late, self._stack = stack, None
            else:
                self._finish(stack)
        before = self._announcement(line, intro, stack is not None)
        title = before.text.strip().rstrip(":").strip() if before is not None else intro
        self._stack = Stack(line, number, title, before.rank if before is not None else None)
        self._idle = 0

    def _announcement(self, line: Line, intro: str, after_another: bool) -> Line | None:
        """The line before a bare head, if it announces the traceback."""
        before = self.before
        if intro or before is None or line.record:
            return None
        if is_intro(before.text) or (not after_another and announces(before.text)):
            return before
        return None

    def _in_region(self, line: Line, kind: int, number: int) -> Answer:
        region = self._region
        assert region is not None
        if kind == HEAD:
            intro = intro_of(line.text)
            bare = not intro and not line.record
            if GROUP_TRACEBACK in line.text:
                self._close_group()
                self._group = Stack(line, number, intro)
                return "stack"
            if region.told and not (bare and region.chained):
                # All are told: this one begins after them, not between them.
                self._solve(region, last=False)
                return self._deal(line, kind, number)
            region.head(line, number, intro, bare)
            answer: Answer = "stack"
        elif self._group is not None and kind == GROUP and not line.record:
            self._group.take(line, kind, AT_GROUP)
            return "stack"
        else:
            answer = region.feed(line, kind, number, closes=line.record or self._ends(line))
        if region.ready(IDLE_LIMIT):
            self._solve(region, last=region.stale)
        return answer

    def _solve(self, region: Region, *, last: bool) -> None:
        finished, left = region.solve(last)
        self.done += finished
        self._close_group()
        self._region, self._idle = None, 0
        for stack in left:
            stack.inferred = True
        if len(left) == 1:
            self._stack = left[0]
        elif left:
            self._region = Region(left, self._known)

    def _close_group(self) -> None:
        if self._group is not None:
            self.done.append(self._group)
            self._group = None

    def _finish(self, stack: Stack) -> None:
        if stack is self._stack:
            self._stack = None
        self._done(stack)

    def _done(self, stack: Stack) -> None:
        if stack.head is not None and not stack.waiting and not stack.inferred:
            self._known.learn(stack.lines)
        self.done.append(stack)

    def _close_late(self) -> None:
        if self._late is not None:
            self._done(self._late)
            self._late = None

    def close(self) -> None:
        """The end of the stream: whatever is open is finished as it is."""
        self._close_late()
        if self._stack is not None:
            self._finish(self._stack)
        if self._region is not None:
            self._solve(self._region, last=True)


def _continues(stack: Stack, kind: int) -> bool:
    """Whether a record is the next line of a traceback that a launcher logs line by line, each with its own head."""
    if not stack.waiting:
        return False
    return kind == FRAME or (stack.state != AT_HEAD and stack.last is not None and stack.last.record)


def _paused(last: Line | None, line: Line) -> bool:
    return last is not None and last.time is not None and line.time is not None and line.time - last.time > _PAUSE
