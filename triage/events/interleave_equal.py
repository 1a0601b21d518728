"""Deals out the lines of tracebacks that all tell the same, once it is known what they tell.

Ranks mostly fail alike. Where the lines of a region are those of one story, each as often as there are tracebacks, no
search is needed: a line belongs to a traceback whose next line it is. A text that stands twice in the story (a source
line) goes to where it is needed first.

What they tell can be read off the order of the lines: the first traceback to come to a place of the story has been at
all places before, and the last one goes on to all that follow. So places are first seen, and last seen, in their order.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from itertools import chain, pairwise
from math import inf

from triage.events.traceback_shapes import CARET, EXCEPTION, FRAME, HEAD, REPEAT, SOURCE, TEXT
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A line's shape, its text, and for a head whether it is bare.
Item = tuple[int, str, bool]
# The texts of a traceback's lines behind its head, without blank ones.
Story = tuple[str, ...]

# A line that ends every message in progress (a new record, a death notice); it belongs to nobody.
CLOSE = 100
NOBODY = -1
_TOLD = frozenset({FRAME, SOURCE, CARET, REPEAT, EXCEPTION, TEXT})
_PLAIN = _TOLD | {HEAD, CLOSE}


def story_of(lines: Sequence[tuple[int, str]]) -> Story | None:
    """Take the shapes and texts of a traceback's lines; return its story, None where it is not of one exception."""
    return _texts(lines) if sum(kind == EXCEPTION for kind, _ in lines) == 1 else None


def _texts(lines: Sequence[tuple[int, str]]) -> Story | None:
    if any(kind not in _TOLD and text.strip() for kind, text in lines[1:]):
        return None
    return tuple(text for kind, text in lines if kind in _TOLD)


def deal_equal(items: Sequence[Item], carried: Sequence[Sequence[Item]], stories: Iterable[Story]) -> list[int] | None:
    """Take lines and open tracebacks as `interleave.deal` does, and stories; return the owner of each line.

    None where the lines are not those of one of the stories, told by all tracebacks to the end.
    """
    if any(kind not in _PLAIN and text.strip() for kind, text, _ in items):
        return None
    before = [told for lines in carried if (told := _texts([(kind, text) for kind, text, _ in lines])) is not None]
    if len(before) < len(carried):
        return None
    writers = len(carried) + sum(kind == HEAD for kind, _, _ in items)
    texts = Counter(text for kind, text, _ in items if kind in _TOLD)
    for told in before:
        texts.update(told)
    total = sum(texts.values())
    for story in stories:
        if len(story) * writers != total or any(n * writers != texts[text] for text, n in Counter(story).items()):
            continue
        if all(story[: len(told)] == told for told in before):
            owners = _dealt(items, [len(told) for told in before], story)
            if owners is not None:
                return owners
    return None


def story_in(items: Sequence[Item]) -> Story | None:
    """Take the lines of tracebacks that begin here; return the one story that all of them must tell if they tell the
    same, None where their lines leave a choice.

    It is frames with a source line each and perhaps carets, and an exception of one line.
    """
    writers = sum(kind == HEAD for kind, _, _ in items)
    seen: dict[tuple[int, str], list[int]] = {}
    for number, (kind, text, _) in enumerate(items):
        if kind in _TOLD:
            seen.setdefault((kind, text), []).append(number)
    if writers < 2 or any(len(places) % writers for places in seen.values()):
        return None
    frames = [(places[0], places[-1], text) for (kind, text), places in seen.items() if kind == FRAME]
    ends = [text for kind, text in seen if kind == EXCEPTION]
    once = all(len(places) == writers for (kind, _), places in seen.items() if kind in (FRAME, EXCEPTION))
    in_order = all(before[1] < frame[1] for before, frame in pairwise(frames))
    if not frames or len(ends) != 1 or not once or not in_order or any(kind in (TEXT, REPEAT) for kind, _ in seen):
        return None
    sources, carets = _under(frames, seen, SOURCE, writers), _under(frames, seen, CARET, writers)
    if sources is None or carets is None or len(sources) < len(frames):
        return None
    told = [
        [text, sources[place], *([carets[place]] if place in carets else ())] for place, (*_, text) in enumerate(frames)
    ]
    return (*chain.from_iterable(told), *ends)


def _under(
    frames: Sequence[tuple[int, int, str]], seen: Mapping[tuple[int, str], Sequence[int]], kind: int, writers: int
) -> dict[int, str] | None:
    """Return which text of a kind stands under which frame; `frames` have the numbers of their first and last line.

    None where that is not certain. A text that stands under three frames or more has all that are left.
    """
    firsts, lasts = [frame[0] for frame in frames], [frame[1] for frame in frames]
    found: dict[int, str] = {}
    often: list[tuple[str, int]] = []
    count = 0
    for (own, text), places in seen.items():
        if own != kind:
            continue
        times = len(places) // writers
        count += times
        under = {bisect(firsts, places[0]) - 1, bisect(lasts, places[-1]) - 1}
        if len(under) != min(times, 2) or min(under) < 0 or not under.isdisjoint(found):
            return None
        found.update(dict.fromkeys(under, text))
        if times > 2:
            often.append((text, times - 2))
    if often:
        left = [place for place in range(len(frames)) if place not in found]
        if len(often) > 1 or len(left) != often[0][1]:
            return None
        found.update(dict.fromkeys(left, often[0][0]))
    return found if count == len(found) else None


def _dealt(items: Sequence[Item], started: Sequence[int], story: Story) -> list[int] | None:
    places: dict[str, list[int]] = {}
    for place, text in enumerate(story):
        places.setdefault(text, []).append(place)
    needed = _needed(items, started, story)
    waiting: list[list[int]] = [[] for _ in range(len(story) + 1)]
    passed = [0] * len(story)
    for owner, place in enumerate(started):
        waiting[place].append(owner)
        for done in range(place):
            passed[done] += 1
    owners: list[int] = []
    last, heads = NOBODY, len(started)
    for kind, text, _ in items:
        if kind == HEAD:
            last, heads = heads, heads + 1
            waiting[0].append(last)
            owners.append(last)
        elif kind not in _TOLD:
            owners.append(NOBODY)
        else:
            able = [place for place in places[text] if waiting[place]]
            if not able:
                return None
            place = min(able, key=lambda one: needed[one][passed[one]])
            last = last if last in waiting[place] else waiting[place][0]
            waiting[place].remove(last)
            waiting[place + 1].append(last)
            passed[place] += 1
            owners.append(last)
    return owners


def _needed(items: Sequence[Item], started: Sequence[int], story: Story) -> list[list[float]]:
    """For each place of the story, before which line the first, second, .. one there is needed: the latest lines that
    can follow it in time for what follows them.
    """
    times: dict[str, list[float]] = {text: [] for text in story}
    for place in started:
        for text in story[:place]:
            times[text].append(-1)
    for number, (kind, text, _) in enumerate(items):
        if kind in _TOLD:
            times[text].append(number)
    found: list[list[float]] = []
    needed = [inf] * len(times[story[-1]])
    for text in reversed(story):
        found.append(needed)
        left = list(times[text])
        needed = []
        for limit in reversed(found[-1]):
            while left and left[-1] >= limit:
                left.pop()
            needed.append(left.pop() if left else -1)
        needed.reverse()
    return found[::-1]
