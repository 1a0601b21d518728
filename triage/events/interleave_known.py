"""What tracebacks of the same log that are beyond doubt tell of those that are not: calls, sources, whole stories."""

from __future__ import annotations

from triage.events.interleave_equal import Story, story_of
from triage.events.released_calls import ReleasedCalls
from triage.events.traceback_shapes import CARET, CHAIN, EXCEPTION, FRAME, HEAD, SOURCE
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import Line

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


class Edges:
    """Calls, sources, carets and whole stories learned from tracebacks of the same log that are beyond doubt.

    `told` are the newest whole stories, `released` tells what the published packages say of a call, `work` counts the
    states that were looked at in this log's regions so far.
    """

    def __init__(self) -> None:
        self.stories: set[int] = set()
        self.told: dict[Story, None] = {}
        self.work = 0
        self.released = ReleasedCalls()
        self.calls: set[tuple[str, str]] = set()
        self.sources: dict[str, str] = {}
        self.carets: dict[str, str] = {}

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
