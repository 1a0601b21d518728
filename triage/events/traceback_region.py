"""A stretch of one stream in which several tracebacks are open at once: its lines are kept back and then dealt out.

A region ends when no traceback waits for its exception line any more and a new record or a death notice closes the
messages, when nothing has come for 500 lines, or when it has grown to 4,000 lines or 128 heads: then what is still
open, 64 tracebacks at most, goes on into the next region.
"""

from __future__ import annotations

from collections import Counter

from triage.events.interleave import CLOSE, NOBODY, Edges, Item, deal
from triage.events.traceback_shapes import BLANK, CARET, CHAIN, EXCEPTION, FRAME, HEAD, REPEAT, SOURCE, TEXT, is_bar
from triage.events.traceback_stack import AT_CHAIN, AT_HEAD, AT_MESSAGE, DONE, NEXT, WAITING, Stack
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import Line

OPEN_LIMIT = 64
_LINES = 4_000
_PARTS = frozenset({HEAD, FRAME, SOURCE, CARET, REPEAT, EXCEPTION, CHAIN})


@dataclass(slots=True)
class _Kept(Record):
    line: Line
    kind: int
    number: int
    intro: str
    bare: bool


class Region:
    """Keeps the lines of a region. `stacks` are the tracebacks that were open before."""

    def __init__(self, stacks: Sequence[Stack], known: Edges) -> None:
        self._known = known
        self._carried = list(stacks)
        self._kept: list[_Kept] = []
        self._waiting = sum(stack.waiting for stack in stacks)
        self._chained = 0
        self._heads = len(self._carried)
        self._told = False
        self._idle = 0
        self._closed = False

    def head(self, line: Line, number: int, intro: str, bare: bool) -> None:
        """Take a head line."""
        self._kept.append(_Kept(line, HEAD, number, intro, bare))
        self._idle = 0
        if bare and self._chained:
            self._chained -= 1
        else:
            self._waiting += 1
            self._heads += 1

    def feed(self, line: Line, kind: int, number: int, closes: bool) -> Literal["stack", "message"] | None:
        """Take a line that is no head; `closes` says that it ends every message. Return what it is by its shape."""
        if kind == TEXT and is_bar(line.text):
            return None
        if closes:
            self._kept.append(_Kept(line, CLOSE, number, "", False))
            self._idle += 1
            self._closed = self._waiting <= 0
            return None
        if kind in _PARTS:
            self._idle = 0
        else:
            self._idle += 1
        if kind == EXCEPTION:
            self._waiting -= 1
            self._told = True
        elif kind == CHAIN:
            self._waiting += 1
            self._chained += 1
        self._kept.append(_Kept(line, kind, number, "", False))
        if kind in _PARTS and not (kind in (SOURCE, CARET) and self._waiting <= 0):
            return "stack"
        return "message" if self._told else None

    def ready(self, idle: int) -> bool:
        """Whether the lines can be dealt out: all is told, or `idle` lines went by, or the region is long enough."""
        return self._closed or self._idle > idle or self._long

    def solve(self, last: bool) -> tuple[list[Stack], list[Stack]]:
        """Deal the lines out; return the finished tracebacks and those that still wait. `last`: nothing may wait."""
        items: list[Item] = [(kept.kind, kept.line.text, kept.bare) for kept in self._kept]
        carried = [[(kind, line.text, False) for line, kind in stack.lines] for stack in self._carried]
        owners = deal(items, carried, self._known)
        ledger = _Ledger(self._carried)
        stacks = ledger.write(self._kept, owners)
        for stack in ledger.alike():
            self._known.learn(stack.lines)
        if last:
            return stacks, []
        left = [stack for stack in stacks if stack.state in WAITING]
        over = left[:-OPEN_LIMIT] if len(left) > OPEN_LIMIT else []
        kept = left[len(over) :]
        return [stack for stack in stacks if stack not in kept], kept

    @property
    def chained(self) -> bool:
        """Whether a chain line waits for the head of its next traceback."""
        return self._chained > 0

    @property
    def told(self) -> bool:
        """Whether every traceback seems to have its exception line."""
        return self._waiting <= 0

    @property
    def stale(self) -> bool:
        """Whether it ended because nothing came any more."""
        return not self._closed and not self._long

    @property
    def _long(self) -> bool:
        return len(self._kept) >= _LINES or self._heads >= 2 * OPEN_LIMIT


class _Ledger:
    """Writes dealt lines into their stacks and notes what cannot be known: which of equal stacks a line belongs to."""

    def __init__(self, carried: Sequence[Stack]) -> None:
        self._stacks = list(carried)
        self._stories = [_story(stack) for stack in carried]
        self._classes = list(range(len(carried)))
        self._last = len(carried) - 1

    def write(self, kept: Sequence[_Kept], owners: Sequence[int]) -> list[Stack]:
        """Write the lines; return all stacks, each with the ranks that it may belong to."""
        for one, owner in zip(kept, owners, strict=True):
            if one.kind == CLOSE:
                self._close()
            elif owner != NOBODY:
                self._take(one, owner)
        self._share_ranks()
        return self._stacks

    def alike(self) -> list[Stack]:
        """The whole stack that more than half of all came out as, if there is one."""
        counts = Counter(self._stories)
        whole = {
            story: stack
            for story, stack in zip(self._stories, self._stacks, strict=True)
            if counts[story] > len(self._stacks) / 2 and stack.head is not None and stack.state not in WAITING
        }
        return list(whole.values())

    def _close(self) -> None:
        for stack in self._stacks:
            if stack.state == AT_MESSAGE:
                stack.state = DONE

    def _take(self, one: _Kept, owner: int) -> None:
        if owner == len(self._stacks):
            self._stacks.append(Stack(one.line, one.number, one.intro))
            self._stories.append(0)
            self._classes.append(owner)
            self._last = owner
            return
        stack = self._stacks[owner]
        if owner != self._last:
            stack.inferred = stack.inferred or stack.state in WAITING
            for other, story in enumerate(self._stories):
                if other != owner and story == self._stories[owner] and self._stacks[other].state == stack.state:
                    self._join(owner, other)
        if one.kind == HEAD:
            stack.take(one.line, HEAD, AT_HEAD)
        elif stack.state == AT_MESSAGE and stack.full() and one.kind in (TEXT, BLANK):
            return
        else:
            following = AT_CHAIN if one.kind == CHAIN else NEXT[stack.state].get(one.kind, AT_MESSAGE)
            stack.take(one.line, one.kind, following)
        self._stories[owner] = hash((self._stories[owner], one.line.text))
        self._last = owner

    def _join(self, one: int, other: int) -> None:
        mine, theirs = self._classes[one], self._classes[other]
        if mine != theirs:
            self._classes = [mine if number == theirs else number for number in self._classes]

    def _share_ranks(self) -> None:
        """Stacks that were equal when their lines came by turns, and ended differently, may each be any one's."""
        members: dict[int, list[int]] = {}
        for owner, number in enumerate(self._classes):
            members.setdefault(number, []).append(owner)
        for owners in members.values():
            if len({self._stories[owner] for owner in owners}) < 2:
                continue
            ranks = [self._stacks[owner].rank for owner in owners]
            for owner in owners:
                self._stacks[owner].inferred = True
                self._stacks[owner].also = [rank for rank in ranks if rank]


def _story(stack: Stack) -> int:
    story = 0
    for line, _ in stack.lines if stack.head is None else stack.lines[1:]:
        story = hash((story, line.text))
    return story
