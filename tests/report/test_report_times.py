"""Times say their zone where they know it, and pretend nothing where they don't."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.report.times import clock, duration, iso, span, stamp

NOON = 1795953600.0  # 2026-11-29 12:00:00 UTC


@pytest.mark.parametrize(
    ("seconds", "zoned", "text"),
    [
        (NOON, True, "2026-11-29T12:00:00Z"),
        (NOON, False, "2026-11-29T12:00:00"),
        (NOON + 0.25, True, "2026-11-29T12:00:00.25Z"),
        (None, True, None),
        (float("nan"), True, None),
        (float("inf"), True, None),
        (1e18, True, None),
    ],
)
def test_iso(seconds, zoned, text):
    """Zoned times end with Z, others don't, impossible ones are none."""
    assert iso(seconds, zoned) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (float("inf"), "an unknown time"),
        (float("nan"), "an unknown time"),
        (-3, "0 s"),
        (0.94, "0.9 s"),
        (4.24, "4.2 s"),
        (42.4, "42 s"),
        (99, "1 min 39 s"),
        (3600, "1 h"),
        (11100, "3 h 5 min"),
        (187200, "2 d 4 h"),
    ],
)
def test_duration(seconds, text):
    """Durations are said as people say them."""
    assert duration(seconds) == text


def test_span_says_the_date_once_a_day():
    """A run within one day has one date."""
    assert span(NOON, NOON + 99, True, False) == "2026-11-29 12:00:00 to 12:01:39 UTC (1 min 39 s)"
    assert span(NOON, NOON + 86400, False, False) == "2026-11-29 12:00:00 to 2026-11-30 12:00:00 (1 d)"
    assert span(NOON, None, True, False) == "2026-11-29 12:00:00 UTC"
    assert span(None, NOON, True, False) == "until 2026-11-29 12:00:00 UTC"
    assert span(NOON, NOON + 0.2, True, False) == "2026-11-29 12:00:00 UTC"
    assert span(None, None, True, False) == ""


def test_local_times_are_the_readers_where_the_zone_is_known(monkeypatch):
    """A time from the journal reads as journalctl shows it; one without a zone stays as the log wrote it."""
    monkeypatch.setenv("TZ", "IST-5:30")
    time.tzset()
    assert stamp(NOON, True, True) == "2026-11-29 17:30:00 +05:30"
    assert clock(NOON, True, True) == "17:30:00"
    assert clock(NOON, False, True) == "12:00:00"
    assert stamp(NOON, True, False) == "2026-11-29 12:00:00 UTC"


@given(st.none() | st.floats(), st.none() | st.floats(), st.booleans(), st.booleans())
def test_no_time_raises(start, end, zoned, local):
    """Whatever a log claims to be a time, it can be shown or left out."""
    assert isinstance(span(start, end, zoned, local) + clock(start, zoned, local) + stamp(end, zoned, local), str)
    assert iso(start, zoned) is None or "T" in iso(start, zoned)


@given(st.floats(0, 1e9))
def test_durations_have_a_unit(seconds):
    """A duration always has a number and a unit."""
    assert duration(seconds).rsplit(" ", 1)[1] in ("s", "min", "h", "d")
