"""Which journal messages need reading."""

from hypothesis import given
from hypothesis import strategies as st

from triage.scan import selector

QUIET = b"Decode batch. #running-req: 1"


def test_the_first_messages_are_always_wanted():
    """Start-up, facts and prefixes stand there."""
    assert selector([b"Error"], head=10, block=4)([QUIET] * 4) == [0, 1, 2, 3]


def test_later_only_what_stands_around_a_hit_is_wanted():
    """A hit brings its surroundings, healthy chatter is skipped."""
    select = selector([b"Error"], head=0, context=2, block=20)
    block = [QUIET] * 9 + [b"SomeError: x"] + [QUIET] * 10
    assert select(block) == [7, 8, 9, 10, 11]
    assert select([QUIET] * 20) == []


def test_the_last_block_is_wanted_whole():
    """A block that is not full ends the journal: the last words stand there."""
    select = selector([b"Error"], head=0, block=20)
    assert select([QUIET] * 7) == list(range(7))


def test_the_last_messages_are_wanted_around_a_hit_too():
    """A hit among the last words does not stand for them."""
    select = selector([b"Error"], head=0, tail=5, context=1, block=20)
    assert select([QUIET] * 15 + [b"Error", QUIET]) == list(range(12, 17))


@given(st.lists(st.sampled_from([QUIET, b"Error", b"", b"x\x00y", b"Err", b"or"]), min_size=1, max_size=60))
def test_indices_rise_and_cover_every_hit(block):
    """Every message with a literal is wanted, once, in order."""
    found = selector([b"Error"], head=0, context=3, block=1)(block)
    assert found == sorted(set(found))
    assert {index for index, message in enumerate(block) if b"Error" in message} <= set(found)
    assert all(0 <= index < len(block) for index in found)
