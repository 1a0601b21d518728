"""Regexes that take too long on some text, and their neighbours that do not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.library.probe import too_slow


@pytest.mark.parametrize("pattern", ["(?:a|aa){1,99}b", "x(?:ab|a|b)*y"])
def test_slow_on_a_short_text(pattern):
    """The time grows so fast that a few thousand characters are enough."""
    assert 0 < too_slow(pattern) < 4096


@pytest.mark.parametrize("pattern", ["lib[a-z0-9.]+[a-z0-9.]*: cannot open", "some.*text.*over.*here"])
def test_slow_on_a_long_text(pattern):
    """It grows with the square of the length, or its cube."""
    assert too_slow(pattern) > 4096


@pytest.mark.parametrize(
    "pattern",
    [
        "plain text",
        "a (?P<n>\\d{1,9}) of (?P<m>\\d{1,9})",
        "a [^\\n]{0,200} b",
        "(?:one|two) more",
        "^x(?=y)",
        "é{1,9}ü",
    ],
)
def test_quick(pattern):
    """Bounded, or with nothing to try again."""
    assert too_slow(pattern) == 0


@settings(deadline=None, max_examples=25)
@given(st.from_regex(r"[a-c.()|*+?\[\]\\{}0-3^$-]{1,12}"))
def test_any_regex_is_probed(pattern):
    """No regex that compiles makes the probe fail."""
    import re

    import regex

    try:
        re.compile(pattern)
        regex.compile(pattern, regex.MULTILINE)
    except (re.error, regex.error, OverflowError):
        return
    assert too_slow(pattern) >= 0
