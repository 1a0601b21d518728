"""Literals that a regex cannot match without."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.library.literals import MIN_LENGTH, literals_of, piece_of


@pytest.mark.parametrize(
    ("regex", "literals"),
    [
        (r"^NCCL WARN (?P<what>.*)", ("NCCL WARN",)),
        (r"Tried to allocate (?P<n>[\d.]+ [KMG]iB)\. GPU", ("Tried to allocate",)),
        (r"(?:Memory|out of) pool", ("Memory", "out of")),
        (r"(abcd)efgh", ("abcdefgh",)),
        (r"(?:abcdef)?xyz1", ("xyz1",)),
        (r"(?:abcdef)+", ("abcdef",)),
        (r"(?:abcdef){0,2}", ()),
        (r"(?i)abcdefg", ()),
        (r"(?i:abcdef)ghijk", ("ghijk",)),
        (r"(?!abcdefg)hijkl", ("hijkl",)),
        (r"(?=abcdefg)hij", ()),
        (r"abcd|efgh", ("abcd", "efgh")),
        (r"abcd|ef", ()),
        (r"one  two", ()),
        (r"failed\ncommand", ("command",)),
        (r"\d+", ()),
        ("(?x) abc de # comment", ("abcde",)),
    ],
)
def test_literals_of_a_regex(regex, literals):
    """The longest that is needed; of alternatives all."""
    assert literals_of(regex) == literals


def test_broken_regex_raises():
    """As `re` does."""
    with pytest.raises(re.error):
        literals_of("(a")


REGEXES = [
    r"Capture (?:\w+ )?(?:cuda|CUDA) graph failed: (?P<what>[a-z]{3,8})",
    r"(?:recvValue|sendBytes) failed on Socket",
    r"^Rank (\d) scheduler (?:is dead|died)(?: early)?",
    r"(a|bb|ccc)(dddd|eeee)[f-h]iiii+jjjj?",
    r"x{2,3}yyyy(?:zzzz|wwww){1,2}",
    r"(?:foo|bar|)quux",
]


@pytest.mark.parametrize("regex", REGEXES)
def test_every_match_holds_one_of_the_literals(regex):
    """Whatever a regex matches, the scan would have found it."""
    literals = literals_of(regex)
    assert literals

    @settings(max_examples=60)
    @given(st.from_regex(regex))
    def holds(text):
        folded = " ".join(text.split())
        assert any(literal in folded for literal in literals)

    holds()


@given(st.text("ab \n\t", max_size=40))
def test_piece_stands_in_folded_text(text):
    """A piece of a text is found in the text, and in the text once folded."""
    piece = piece_of(text)
    assert piece in " ".join(text.split())
    assert "\n" not in piece
    assert "  " not in piece


def test_short_literals_are_no_literals():
    """They would make every line a candidate."""
    assert MIN_LENGTH == 4
    assert literals_of("abc") == ()
