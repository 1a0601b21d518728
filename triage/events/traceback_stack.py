"""One traceback in the making: which lines it can take next, and the lines that it has taken.

A stack holds whole lines and reads nothing out of them; `traceback_read` does that once the last line is known.
"""

from __future__ import annotations

from collections import deque

from triage.events.traceback_shapes import (
    BLANK,
    CARET,
    CHAIN,
    EXCEPTION,
    FRAME,
    GROUP,
    GROUP_TRACEBACK,
    HEAD,
    REPEAT,
    SOURCE,
    TEXT,
)
from triage.model import Line
from triage.records import replace

# What was taken last: a head, a frame, its source line, its carets, a repeat mark, the exception line or more of its
# message, a chain line, an exception group's line. DONE takes nothing.
AT_HEAD, AT_FRAME, AT_SOURCE, AT_CARET, AT_REPEAT, AT_MESSAGE, AT_CHAIN, AT_GROUP, DONE = range(9)

NEXT: dict[int, dict[int, int]] = {
    AT_HEAD: {FRAME: AT_FRAME, EXCEPTION: AT_MESSAGE},
    AT_FRAME: {FRAME: AT_FRAME, SOURCE: AT_SOURCE, REPEAT: AT_REPEAT, EXCEPTION: AT_MESSAGE},
    # From 3.13 on an expression over several lines is printed whole, each line with its carets.
    AT_SOURCE: {FRAME: AT_FRAME, SOURCE: AT_SOURCE, CARET: AT_CARET, REPEAT: AT_REPEAT, EXCEPTION: AT_MESSAGE},
    AT_CARET: {FRAME: AT_FRAME, SOURCE: AT_SOURCE, REPEAT: AT_REPEAT, EXCEPTION: AT_MESSAGE},
    AT_REPEAT: {FRAME: AT_FRAME, EXCEPTION: AT_MESSAGE},
    AT_MESSAGE: {
        TEXT: AT_MESSAGE,
        BLANK: AT_MESSAGE,
        SOURCE: AT_MESSAGE,
        CARET: AT_MESSAGE,
        REPEAT: AT_MESSAGE,
        GROUP: AT_MESSAGE,
        EXCEPTION: AT_MESSAGE,
        CHAIN: AT_CHAIN,
    },
    AT_CHAIN: {BLANK: AT_CHAIN, HEAD: AT_HEAD},
    AT_GROUP: {GROUP: AT_GROUP, BLANK: AT_GROUP, CHAIN: AT_CHAIN},
    DONE: {},
}
# States in which the traceback still waits for its exception line.
WAITING = frozenset({AT_HEAD, AT_FRAME, AT_SOURCE, AT_CARET, AT_REPEAT, AT_CHAIN})

MESSAGE_LINES = 200
MESSAGE_CHARS = 16_384
_KEPT_FIRST = 2_000
_KEPT_LAST = 2_000

QUOTED_FRAME = frozenset({FRAME, SOURCE, CARET, REPEAT})

Taken = tuple[Line, int]


class Stack:
    """The lines of one traceback, each with its shape. `head` is None where the head was lost.

    `order` is the number of its first line. `intro` is what announced it, `rank` whose it is. `also` are the ranks that
    it may belong to as well, `inferred` says that others wrote between its lines. Of a very long one the first and the
    last 2,000 lines are kept, of a very long line the beginning, and `cut` is set.
    """

    __slots__ = (
        "also",
        "cut",
        "first",
        "head",
        "inferred",
        "intro",
        "last",
        "message_chars",
        "message_lines",
        "message_start",
        "order",
        "rank",
        "state",
        "tail",
    )

    def __init__(self, head: Line | None, order: int, intro: str = "", rank: str | None = None) -> None:
        self.head = head
        self.rank = rank or (head.rank if head is not None else None)
        self.order = order
        self.intro = intro
        self.state = AT_HEAD
        self.first: list[Taken] = []
        self.tail: deque[Taken] = deque(maxlen=_KEPT_LAST)
        self.last: Line | None = head
        self.cut = False
        self.message_start = ""
        self.message_lines = 0
        self.message_chars = 0
        self.inferred = False
        self.also: list[str] = []
        if head is not None:
            self._keep(head, HEAD)
            if GROUP_TRACEBACK in head.text:
                self.state = AT_GROUP

    @property
    def lines(self) -> list[Taken]:
        """Every line that was kept, in order."""
        return [*self.first, *self.tail]

    @property
    def waiting(self) -> bool:
        """Whether the exception line is still to come."""
        return self.state in WAITING

    def take(self, line: Line, kind: int, state: int) -> None:
        """Take a line of shape `kind`; `state` is the one that follows."""
        if state == AT_MESSAGE:
            if self.state != AT_MESSAGE:
                self.message_lines = self.message_chars = 0
                self.message_start = line.text[:200]
            if kind not in QUOTED_FRAME:
                self.message_lines += 1
                self.message_chars += len(line.text)
        self.state = state
        self._keep(line, kind)

    def _keep(self, line: Line, kind: int) -> None:
        if len(line.text) > MESSAGE_CHARS:
            line = replace(line, text=line.text[:MESSAGE_CHARS])
            self.cut = True
        if len(self.first) < _KEPT_FIRST:
            self.first.append((line, kind))
        else:
            self.cut = self.cut or len(self.tail) == _KEPT_LAST
            self.tail.append((line, kind))
        self.last = line

    def full(self) -> bool:
        """Whether the message has grown as long as it may."""
        return self.message_lines >= MESSAGE_LINES or self.message_chars >= MESSAGE_CHARS

    def last_text(self) -> str:
        """The text of the line taken last."""
        return self.last.text if self.last is not None else ""

    def drop_last(self) -> None:
        """Give back the line taken last: it turned out to announce the next traceback."""
        pile = self.tail or self.first
        if pile:
            pile.pop()
        left = self.tail or self.first
        self.last = left[-1][0] if left else None

    def expects_quote(self) -> bool:
        """Whether a bare head that comes now is a traceback quoted in the message (subprocess, RemoteTraceback)."""
        if self.state != AT_MESSAGE:
            return False
        last = self.last_text().strip()
        return last.endswith(":") or last in ('"""', "'''")

    def expects_frames(self) -> bool:
        """Whether a frame that comes now belongs to the message: Ray's task errors, `from user code:`."""
        if self.state != AT_MESSAGE:
            return False
        if self._kind_last() in QUOTED_FRAME:
            return True
        return "ray::" in self.message_start or self.last_text().rstrip().endswith(":")

    def _kind_last(self) -> int:
        pile = self.tail or self.first
        return pile[-1][1] if pile else BLANK
