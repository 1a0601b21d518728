"""Tracebacks that tell the same and were printed at once are dealt out without a search."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from triage.events.interleave_equal import CLOSE, NOBODY, Item, deal_equal, story_in, story_of
from triage.events.traceback_shapes import BLANK, CARET, CHAIN, EXCEPTION, FRAME, HEAD, SOURCE, TEXT

CALLS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["init()", "run()", ""])), min_size=1, max_size=8)


def _lines(calls: list[tuple[str, str]]) -> list[Item]:
    lines: list[Item] = [(HEAD, "Traceback (most recent call last):", True)]
    for name, source in calls:
        lines.append((FRAME, f'  File "x.py", line 1, in {name}', False))
        if source:
            lines.append((SOURCE, f"    {source}", False))
    return [*lines, (EXCEPTION, "KeyError: 1", False)]


def _mixed(own: list[list[Item]], chance: random.Random) -> list[tuple[int, Item]]:
    left = [list(lines) for lines in own]
    found = []
    while any(left):
        writer = chance.choice([number for number, lines in enumerate(left) if lines])
        found.append((writer, left[writer].pop(0)))
    return found


@given(CALLS, st.integers(2, 9), st.integers(0, 5), st.integers())
def test_what_is_dealt_out_is_the_story(calls: list[tuple[str, str]], ranks: int, begun: int, seed: int) -> None:
    """Whoever is given which line: each traceback tells the story, in its order, if it was dealt out at all."""
    lines = _lines(calls)
    story = story_of([(kind, text) for kind, text, _ in lines])
    assert story is not None
    carried = [lines[: 1 + min(begun, len(lines) - 2)]]
    mixed = _mixed([lines[len(carried[0]) :], *[lines] * (ranks - 1)], random.Random(seed))
    items = [item for _, item in mixed]
    owners = deal_equal(items, carried, [story[:-1], story])
    if owners is None:
        # Only where a text stands at several places may the first choice be a wrong one.
        assert len(set(story)) < len(story)
        return
    told = [list(own) for own in carried]
    for item, owner in zip(items, owners, strict=True):
        if owner == len(told):
            assert item[0] == HEAD
            told.append([])
        told[owner].append(item)
    assert told == [lines] * ranks


def test_a_frequent_source_line_goes_where_it_is_needed() -> None:
    """Of two tracebacks that wait for one text, the one whose next frame comes first has it."""
    lines = _lines([("a", "init()"), ("b", "init()"), ("c", "init()"), ("d", "run()")])
    story = story_of([(kind, text) for kind, text, _ in lines])
    assert story is not None
    dealt = 0
    for seed in range(200):
        mixed = _mixed([lines[1:], *[lines] * 7], random.Random(seed))
        dealt += deal_equal([item for _, item in mixed], [lines[:1]], [story]) is not None
    assert dealt == 200


def test_other_tales_are_left_to_the_search() -> None:
    """A line too many, one that is missing, another order or a chain: nothing is dealt out."""
    lines = _lines([("a", "init()"), ("b", "")])
    story = story_of([(kind, text) for kind, text, _ in lines])
    assert story is not None
    items = [*lines, *lines[1:]]
    carried = [lines[:1]]
    assert deal_equal(items, carried, [story]) is not None
    assert deal_equal(items, carried, []) is None
    assert deal_equal(items[:-1], carried, [story]) is None
    assert deal_equal([*items, (TEXT, "more", False)], carried, [story]) is None
    assert deal_equal(items[::-1], carried, [story]) is None
    assert deal_equal([*items, (CHAIN, "During handling", False)], carried, [story]) is None
    assert story_of([(kind, text) for kind, text, _ in lines * 2]) is None


def test_what_is_no_part_of_a_traceback_is_nobodys() -> None:
    """Blank lines and what closes the region."""
    lines = _lines([("a", "")])
    story = story_of([(kind, text) for kind, text, _ in lines])
    assert story is not None
    items = [*lines[1:], (BLANK, "", False), *lines, (BLANK, "", False), (CLOSE, "[10:00:00] on", False)]
    assert deal_equal(items, [lines[:1]], [story]) == [0, 0, NOBODY, 1, 1, 1, NOBODY, NOBODY]


UNDER = st.lists(
    st.tuples(st.sampled_from(["init()", "run()", "go()"]), st.sampled_from(["", "^^^", "~~^~"])),
    min_size=1,
    max_size=9,
)


def _under(under: list[tuple[str, str]]) -> list[Item]:
    lines: list[Item] = [(HEAD, "Traceback (most recent call last):", True)]
    for number, (source, carets) in enumerate(under):
        lines += [(FRAME, f'  File "x.py", line {number}, in f', False), (SOURCE, f"    {source}", False)]
        lines += [(CARET, f"    {carets}", False)] if carets else []
    return [*lines, (EXCEPTION, "KeyError: 1", False)]


@given(UNDER, st.integers(2, 9), st.integers())
def test_the_story_is_read_off_the_order_of_the_lines(under: list[tuple[str, str]], ranks: int, seed: int) -> None:
    """However they are mixed: what is found is what all of them tell."""
    lines = _under(under)
    mixed = [item for _, item in _mixed([lines] * ranks, random.Random(seed))]
    assert story_in(mixed) in (None, story_of([(kind, text) for kind, text, _ in lines]))


@given(st.integers(2, 9), st.integers())
def test_texts_that_stand_once_or_twice_have_their_place(ranks: int, seed: int) -> None:
    """And one that stands thrice has all places that are left."""
    lines = _under([("a", "^"), ("b", ""), ("c", "~~"), ("b", "^"), ("c", ""), ("c", "^^^"), ("d", "")])
    mixed = [item for _, item in _mixed([lines] * ranks, random.Random(seed))]
    assert story_in(mixed) == story_of([(kind, text) for kind, text, _ in lines])


def test_no_story_is_read_off_what_differs() -> None:
    """One that ends otherwise, one without its end, one alone, and calls in another order."""
    lines = _under([("a", ""), ("b", "")])
    other = [*lines[:-1], (EXCEPTION, "KeyError: 2", False)]
    turned = [lines[0], *lines[3:5], *lines[1:3], lines[-1]]
    for mixed in ([*lines, *other], [*lines, *lines[:-1]], lines, [*lines, *turned]):
        assert story_in(mixed) is None
