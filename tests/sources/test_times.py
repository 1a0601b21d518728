"""Times as journalctl takes them."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources.times import parse_time

NOW = 1_795_969_374.5  # 2026-11-29 16:22:54.5 UTC


@pytest.fixture(autouse=True)
def zone(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


# What `systemd-analyze timestamp` of systemd 252 says, where it can say it.
@pytest.mark.parametrize(
    ("text", "micro"),
    [
        ("now", 1_795_969_374_500_000),
        ("today", 1_795_910_400_000_000),
        ("yesterday", 1_795_824_000_000_000),
        ("tomorrow", 1_795_996_800_000_000),
        ("-1h", 1_795_965_774_500_000),
        ("-1h 30min", 1_795_963_974_500_000),
        ("2 hours ago", 1_795_962_174_500_000),
        ("+3h30min", 1_795_981_974_500_000),
        ("5min left", 1_795_969_674_500_000),
        ("1.5s ago", 1_795_969_373_000_000),
        ("@1795962818", 1_795_962_818_000_000),
        ("@1795962818.155142", 1_795_962_818_155_142),
        ("2026-11-29", 1_795_910_400_000_000),
        ("Sun 2026-11-29", 1_795_910_400_000_000),
        ("2026-11-29 11:12", 1_795_950_720_000_000),
        ("2026-11-29 11:12:13", 1_795_950_733_000_000),
        ("2026-11-29T11:12:13.25Z", 1_795_950_733_250_000),
        ("Sun 2026-11-29 11:12:13 UTC", 1_795_950_733_000_000),
        ("2026-11-29 11:12:13 Europe/Berlin", 1_795_947_133_000_000),
        ("2026-11-29 11:12:13 +02:00", 1_795_943_533_000_000),
        ("26-11-29 11:12", 1_795_950_720_000_000),
        ("11:12", 1_795_950_720_000_000),
        ("11:12:13", 1_795_950_733_000_000),
    ],
)
def test_reads_every_form_of_systemd_time(text, micro):
    """Each form of systemd.time(7) gives its microseconds."""
    assert parse_time(text, NOW) == micro


def test_times_without_a_zone_are_local(monkeypatch):
    """11:12 is 11:12 here, and midnight is midnight here."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    assert parse_time("2026-11-29 11:12", NOW) == 1_795_947_120_000_000
    assert parse_time("today", NOW) == 1_795_906_800_000_000


@pytest.mark.parametrize(
    "text", ["", "soon", "-", "@", "1h", "-1 fortnight", "25:00", "2026-13-01", "2026-11-29 11", "-h"]
)
def test_refuses_what_is_no_time(text):
    """Anything else is an error that shows how to write a time."""
    with pytest.raises(TriageError, match="is no time: write"):
        parse_time(text, NOW)


@given(st.text(alphabet="0123456789 -+:@.TZhmsagoyestrdUCWk", max_size=24))
def test_any_text_is_a_time_or_refused(text):
    """Nothing else is ever raised, and no time lies before 1970."""
    with suppress(TriageError):
        assert parse_time(text, NOW) > -(10**14)
