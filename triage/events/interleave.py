"""Deals the lines of several tracebacks that were printed at once out to the tracebacks they belong to.

Ranks that fail together and write line by line into one pipe shred each other's tracebacks; only a head may carry the
rank. What tracebacks of the same log that are beyond doubt tell is held against those that are not: calls, sources,
whole stories. The search (`interleave_search`) is loaded where the order of the lines leaves a choice.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain

from triage.events.interleave_equal import CLOSE, NOBODY, Item, Story, deal_equal, story_in, story_of
from triage.events.traceback_shapes import CARET, CHAIN, EXCEPTION, FRAME, HEAD, SOURCE
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.events.released_calls import ReleasedCalls
    from triage.model import Line

__all__ = ["CLOSE", "NOBODY", "Edges", "Item", "deal"]

_LEARNED = 20_000
_TOLD = 32
# Stands for any line in the fact that a story goes on.
ANY = -2


def onward(story: int, line: int) -> int:
    """Take the hash of what a traceback told so far and its next line's; return the hash of both."""
    return hash((story, line))


def goes_on(story: int) -> int:
    """Take the hash of a story; return the fact that another traceback told it and more."""
    return hash((story, ANY))


def deal(items: Sequence[Item], carried: Sequence[Sequence[Item]], known: Edges) -> list[int]:
    """Deal lines out.

    `items` are the lines in order, each as shape (or CLOSE), text, and for a head whether it is bare. `carried` are the
    lines of tracebacks that were open before. Returns the owner of each line: the place of its traceback, those carried
    first and then one for each new head in order of appearance, or NOBODY.
    """
    equal = deal_equal(items, carried, known.told)
    if equal is None and len(carried) < 2:
        story = story_in([*chain.from_iterable(carried), *items])
        equal = deal_equal(items, carried, [story]) if story is not None else None
    if equal is not None:
        return equal
    from triage.events.interleave_search import search_owners

    return search_owners(items, carried, known)


class Edges:
    """Calls, sources, carets and whole stories learned from tracebacks of the same log that are beyond doubt.

    `told` are the newest whole stories, `work` counts the states that were looked at in this log's regions so far.
    """

    def __init__(self) -> None:
        self.stories: set[int] = set()
        self.told: dict[Story, None] = {}
        self.work = 0
        self.calls: set[tuple[str, str]] = set()
        self.sources: dict[str, str] = {}
        self.carets: dict[str, str] = {}

    @cached_property
    def released(self) -> ReleasedCalls:
        """What the published releases say of calls."""
        from triage.events.released_calls import ReleasedCalls

        return ReleasedCalls()

    def learn(self, lines: Sequence[tuple[Line, int]]) -> None:
        """Take the lines of one whole traceback with their shapes. Learns 20,000 calls at most."""
        story_told = story_of([(kind, line.text) for line, kind in lines])
        if story_told is not None:
            self.told[story_told] = self.told.pop(story_told, None)
            if len(self.told) > _TOLD:
                del self.told[next(iter(self.told))]
        if len(self.calls) >= _LEARNED:
            return
        frame, before, story = "", HEAD, 0
        told = False
        for line, kind in lines:
            if kind in (FRAME, EXCEPTION) or (told and kind not in (HEAD, CHAIN)):
                self.stories.add(goes_on(story))
                story = onward(story, hash(line.text))
                self.stories.add(story)
            told = kind == EXCEPTION or (told and kind not in (HEAD, CHAIN))
            if kind == FRAME:
                self.calls.add((frame, line.text))
                frame = line.text
            elif kind == SOURCE and before == FRAME:
                self.sources.setdefault(frame, line.text)
            elif kind == CARET and before == SOURCE:
                self.carets.setdefault(frame, line.text)
            elif kind in (HEAD, CHAIN):
                frame = ""
                story = onward(story, HEAD) if kind == HEAD and before != HEAD else story
            before = kind
