"""Time stamps of all kinds."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.lines import read_text
from triage.lines.clock import days, year_of
from triage.lines.rows import clock

UTC = timezone.utc


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


@given(st.integers(366 * 86400, 7_200_000_000))
def test_dates_are_those_of_the_calendar(seconds: int) -> None:
    """Every date and time is what the standard library makes of it."""
    moment = datetime.fromtimestamp(seconds, UTC)
    assert clock().iso(moment.strftime("%Y-%m-%d %H:%M:%S")) == (seconds, False)
    assert year_of(seconds) == moment.year
    assert days(moment.year, moment.month, moment.day) == seconds // 86400


@pytest.mark.parametrize(
    ("text", "time", "zoned"),
    [
        ("2026-05-25 21:41:38", at(2026, 5, 25, 21, 41, 38), False),
        ("2026-05-25T21:41:38.250000001Z", at(2026, 5, 25, 21, 41, 38) + 0.25, True),
        ("2026-05-25 21:41:38,250", at(2026, 5, 25, 21, 41, 38) + 0.25, False),
        ("2025-07-03T05:16:30.5+08:00", at(2025, 7, 2, 21, 16, 30) + 0.5, True),
        ("2025-04-04T10:02:11-0530", at(2025, 4, 4, 15, 32, 11), True),
        ("2026-11-29 14:40:57 CEST", at(2026, 11, 29, 12, 40, 57), True),
        # CST is both China's and Chicago's: the difference is right, the zone not known.
        ("2026-11-29 14:40:57 CST", at(2026, 11, 29, 14, 40, 57), False),
        ("1970-01-01 00:00:12", None, False),
        ("2026-13-", None, False),
    ],
)
def test_full_dates(text: str, time: float | None, zoned: bool) -> None:
    """A zone is used where it is known; without one the time is read as UTC and says so."""
    assert clock().iso(text) == (time, zoned)


def test_stamps_without_a_year_wait_for_a_full_date() -> None:
    """Before the log has shown a year, `Nov 29` is no time; a guess would be wrong by years."""
    watch = clock()
    assert watch.month("Nov 29 14:40:57") == (None, False)
    watch.iso("2026-11-29 14:40:58")
    assert watch.month("Nov 29 14:40:57") == (at(2026, 11, 29, 14, 40, 57), False)


def test_the_year_turns_over() -> None:
    """December before a January date belongs to the year before, and the other way round."""
    watch = clock()
    watch.iso("2026-01-01 00:00:05")
    assert watch.month("Dec 31 23:59:59") == (at(2025, 12, 31, 23, 59, 59), False)
    assert watch.glog("0101 00:00:01.500000") == (at(2026, 1, 1, 0, 0, 1) + 0.5, False)
    assert watch.day("12-31 23:59:59") == (at(2025, 12, 31, 23, 59, 59), False)
    later = clock()
    later.iso("2025-12-31 23:59:50")
    assert later.month("Jan  1 00:00:00") == (at(2026, 1, 1), False)


@pytest.mark.parametrize("name", ["month", "day", "glog", "ctime", "unix", "uptime", "iso"])
@given(text=st.text(max_size=40))
def test_no_text_makes_a_clock_fail(name: str, text: str) -> None:
    """Whatever stands where a time should stand, the answer is a time or none."""
    watch = clock()
    watch.anchor = at(2026, 5, 1)
    time, _ = watch.kinds[name](text)
    assert time is None or isinstance(time, float)


def test_no_line_of_a_log_without_years_claims_1970() -> None:
    """A journal in short format without any full date has no times at all."""
    text = "\n".join(f"Nov 29 14:40:{n:02} host sglang[7]: x" for n in range(10))
    assert {line.time for line in read_text([(0, text.encode())], "log")} == {None}


def test_the_year_comes_from_the_service_s_own_stamps() -> None:
    """Systemd's lines at the top of a journal get the year that SGLang's records say further down."""
    text = "Nov 29 14:40:50 h systemd[1]: Started a.service - A.\n" + "\n".join(
        f"Nov 29 14:40:{n} h sglang[7]: [2026-11-29 14:40:{n}] x" for n in range(51, 59)
    )
    first, *_ = read_text([(0, text.encode())], "log")
    assert first.time == at(2026, 11, 29, 14, 40, 50)


def test_seconds_since_boot_become_times_where_one_line_has_both() -> None:
    """`-o short-monotonic` is tied to the calendar by the first record that says its own time."""
    text = "\n".join(
        ["[ 100.000000] h systemd[1]: Started a.service - A."]
        + [f"[ 10{n}.500000] h sglang[7]: [2026-11-29 14:40:5{n}] x" for n in range(1, 8)]
    )
    lines = list(read_text([(0, text.encode())], "log"))
    assert lines[1].time == at(2026, 11, 29, 14, 40, 51)
    assert lines[0].time is not None
    assert abs(lines[0].time - at(2026, 11, 29, 14, 40, 49)) < 2


def test_the_same_clock_reads_mixed_zones() -> None:
    """The same moment in two zones is one time."""
    watch = clock()
    moment = datetime(2026, 3, 4, 12, 0, 0, tzinfo=UTC)
    for hours in (-11, -3, 0, 5, 13):
        local = moment.astimezone(timezone(timedelta(hours=hours)))
        assert watch.iso(local.isoformat()) == (moment.timestamp(), True)
