"""The lines of one whole traceback to the exceptions that it printed, in the order in which it printed them.

A chain prints its exceptions one after the other, a quoted traceback (RemoteTraceback, `Error raised in subprocess:`,
Ray's task errors) stands in the message of another, an exception group prints its leaves behind margins of `|` and `+`.
No recursion: groups in groups come out flat, in printed order.
"""

from __future__ import annotations

import re

from triage.events.traceback_shapes import (
    BLANK,
    CARET,
    CAUSE,
    CHAIN,
    EXCEPTION,
    FRAME,
    GROUP,
    GROUP_TRACEBACK,
    HEAD,
    REPEAT,
    SOURCE,
    TEXT,
    TRACEBACK,
    exception_parts,
    frame_parts,
    may_be_exception,
    shape,
)
from triage.lazy import regex
from triage.model import Frame, Relation
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FRAMES = 400
_PRINTED = 64
_MARGIN = regex(
    r"(?P<indent> *)(?:(?P<rule>\+-\+?-{3,}(?: (?P<number>\d+|\.\.\.) -+)?)|[|+] ?(?P<text>.*))$", re.DOTALL
)
_CHARS = 65_536
_LINES = 2_000
# `\n` may have been escaped more than once on its way (`\\n`), and so may quotes.
_NEWLINE = regex(r"\\+n")
_ESCAPES = regex(r"""\\+(["'t\\])""")
_START = regex(re.escape(TRACEBACK) + r"\\+n")
_OPENING = regex(r"""(?<!\\)["'](?=[^"']*$)""")
_QUOTES = ('"""', "'''")


@dataclass(slots=True)
class Printed(Record):
    """One exception as printed. `relation` ties it to the one printed before it; None for the first.

    `lines` holds, by their places among the lines read, the line of the innermost frame, then the exception line and
    its message's. `complete` is False where the exception line is missing.
    """

    relation: Relation | None = None
    type: str = ""
    message: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    frame_at: int | None = None
    exception_at: int | None = None
    complete: bool = False
    cut: bool = False

    def text(self) -> str:
        """The message, its lines joined, trailing blank lines dropped."""
        return "\n".join(self.message).rstrip()


def read(lines: Sequence[tuple[str, int]], in_group: bool = False) -> list[Printed]:
    """Take the lines of one traceback with their shapes; return the exceptions it printed, at most 64.

    `in_group` says that the lines stood behind a group's margin, where text after the exception line is its notes.
    """
    printed: list[Printed] = []
    reader = _Reader(printed, in_group)
    at, end = 0, len(lines)
    while at < end and len(printed) < _PRINTED:
        # Behind a margin nothing opens another group: nested ones are blocks of their own.
        if not in_group and (lines[at][1] == GROUP or (lines[at][1] == HEAD and GROUP_TRACEBACK in lines[at][0])):
            stop = at + 1
            while stop < end and lines[stop][1] == GROUP:
                stop += 1
            reader.group(lines, at, stop)
            at = stop
        else:
            reader.feed(lines[at][0], lines[at][1], at)
            at += 1
    if at < end and printed:
        printed[-1].cut = True
    return [p for p in printed if p.frames or p.complete]


class _Reader:
    def __init__(self, printed: list[Printed], in_group: bool) -> None:
        self._printed = printed
        self._in_group = in_group
        self._relation: Relation | None = None
        self._one: Printed | None = None
        self._in_message = False

    def feed(self, text: str, kind: int, at: int) -> None:
        if self._in_message and not self._leaves_message(text, kind):
            return
        if kind == HEAD:
            self._new()
        elif kind in (FRAME, SOURCE, CARET, REPEAT):
            self._stack(text, kind, at)
        elif kind != BLANK and (kind == EXCEPTION or may_be_exception(text)):
            self._exception(text, at)

    def _leaves_message(self, text: str, kind: int) -> bool:
        """Whether the line is no message text. Chain lines and quoted tracebacks are seen to here."""
        one = self._one
        if one is None:
            return True
        if kind == CHAIN:
            self._relation = "cause" if text.startswith(CAUSE) else "context"
            self._one, self._in_message = None, False
            return False
        if text.strip() in _QUOTES:
            # Marks around a quoted traceback, which may be all that is left of what quoted it.
            return False
        if kind == HEAD:
            self._relation = "remote"
            return True
        if kind == FRAME and "ray::" in one.message[0]:
            self._relation = "remote"
            self._new()
            return True
        if kind == EXCEPTION and len(one.message) == 1 and "ray::" in one.message[0]:
            self._relation = "remote"
            self._new()
            return True
        (one.notes if self._in_group else one.message).append(text)
        return False

    def _new(self) -> Printed:
        one = Printed(relation=self._relation if self._printed else None)
        self._relation = "context"
        self._printed.append(one)
        self._one, self._in_message = one, False
        return one

    def _stack(self, text: str, kind: int, at: int) -> None:
        one = self._one or self._new()
        if kind == FRAME:
            parts = frame_parts(text)
            if parts is not None:
                if len(one.frames) >= _FRAMES:
                    # Of a runaway recursion the outermost and the innermost frames tell the story.
                    del one.frames[_FRAMES // 2]
                    one.cut = True
                one.frames.append(Frame(*parts))
                one.frame_at = at
        elif kind == SOURCE and one.frames and one.frames[-1].text is None:
            one.frames[-1].text = text.strip()[:500]

    def _exception(self, text: str, at: int) -> None:
        parts = exception_parts(text)
        if parts is None:
            return
        one = self._one or self._new()
        one.type, one.complete, one.exception_at = parts[0], True, at
        one.message = [parts[1]]
        self._in_message = True
        for inner in quoted_in(parts[1]):
            self._relation = "remote"
            self._quoted(inner)

    def _quoted(self, lines: list[str]) -> None:
        outer = self._one
        for found in read([(line, shape(line)) for line in lines[:_FRAMES]]):
            found.relation = found.relation or "remote"
            found.frame_at = found.exception_at = None
            self._printed.append(found)
        self._one = outer

    def group(self, lines: Sequence[tuple[str, int]], start: int, stop: int) -> None:
        """Read the block of an exception group: the group itself, then its leaves, flat."""
        first = True
        for block, places in _blocks(lines, start, stop):
            for one in read(block, in_group=True):
                if one.relation is None:
                    one.relation = self._relation if first else "group"
                one.frame_at = places[one.frame_at] if one.frame_at is not None else None
                one.exception_at = places[one.exception_at] if one.exception_at is not None else None
                self._printed.append(one)
                first = False
            if len(self._printed) >= _PRINTED:
                self._printed[-1].cut = True
                break
        if self._printed:
            self._printed[0].relation = None
        self._one = self._printed[-1] if self._printed else None
        self._in_message = self._one is not None


def _blocks(lines: Sequence[tuple[str, int]], start: int, stop: int) -> list[tuple[list[tuple[str, int]], list[int]]]:
    """Split a group's lines at its margins into one block of lines for each exception, in printed order."""
    blocks: list[tuple[list[tuple[str, int]], list[int]]] = []
    open_at: dict[int, tuple[list[tuple[str, int]], list[int]]] = {}
    for at in range(start, stop):
        found = _MARGIN.match(lines[at][0])
        if found is None:
            column, text = 2, lines[at][0]
        elif found["rule"]:
            inner = len(found["indent"]) + (2 if found["rule"].startswith("+-+") else 0)
            open_at.pop(inner, None)
            continue
        else:
            column, text = len(found["indent"]), found["text"]
        block = open_at.get(column)
        if block is None:
            block = open_at[column] = ([], [])
            blocks.append(block)
        kind = shape(text)
        block[0].append((text, TEXT if kind == GROUP else kind))
        block[1].append(at)
    return blocks


# --- tracebacks in one line: in JSON, reprs, `error=".."` fields ------------------------------------------------------


def expand(text: str) -> tuple[str, list[str]] | None:
    r"""Take a line; return what stands before a traceback written with literal `\n`, and the traceback's lines.

    None where the line holds none. Reads at most 64 KB and 2,000 lines, up to the quote that closes the string.
    """
    if TRACEBACK not in text:
        return None
    found = _START.search(text[: _CHARS * 2])
    if found is None:
        return None
    before = text[max(0, found.start() - 2_000) : found.start()]
    body = text[found.start() : found.start() + _CHARS]
    opening = _OPENING.search(before)
    if opening is not None:
        closing = re.search(r"(?<!\\)" + opening[0], body)
        if closing is not None:
            body = body[: closing.start()]
    lines = [_ESCAPES.sub(_plain, line).rstrip() for line in _NEWLINE.split(body, maxsplit=_LINES)[:_LINES]]
    return before[:300] if opening is None else before[: opening.start()][-300:] + before[opening.end() :], lines


def _plain(found: re.Match[str]) -> str:
    return "\t" if found[1] == "t" else found[1]


def quoted_in(message: str) -> list[list[str]]:
    """Take the first line of an exception's message; return the lines of each traceback quoted in it, one at most."""
    found = expand(message)
    return [found[1]] if found is not None else []
