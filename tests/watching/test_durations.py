"""Durations as people type them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.watching.durations import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("22m", 1320), ("90s", 90), ("1h30m", 5400), ("90", 90), ("1.5h", 5400), ("1d", 86400), ("500ms", 0.5),
     ("1h 30min 5sec", 5405), (" 5 M ", 300)],
)  # fmt: skip
def test_what_people_write(text, seconds):
    """One number and unit after the other, the largest first."""
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "m", "-5m", "5x", "30m1h", "5m5m", "1h30", "0", "0s", "1e9", "999999999d", "٥m", "5m;ls"]
)
def test_what_is_none_is_refused_with_an_example(text):
    """One line that shows how to write it."""
    with pytest.raises(TriageError, match="write 90s, 22m or 1h30m"):
        parse_duration(text)


@given(st.text(max_size=30))
def test_any_text_is_a_duration_or_refused(text):
    """Nothing else is raised."""
    with contextlib.suppress(TriageError):
        assert 0 < parse_duration(text) <= 366 * 86400
