"""Time stamps of all kinds -> seconds since the epoch.

Logs repeat the same second many times, so each second's text is worked out once. A stamp without a zone is read as UTC
and said to have none. A stamp without a year takes the year that brings it nearest to the last full date seen in the
same log; before any full date it says nothing, since a wrong year is worse than no time.
"""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.typed import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Reading: TypeAlias = "tuple[float | None, bool]"
"""A time in seconds since the epoch, None where there is none, and whether its zone is known."""

_KEPT = 8192
_DAY = 86400
_MONTH = 30 * _DAY
_FIRST_YEAR = 366 * _DAY
# The year 2286; a number of seconds has ten digits until then, one of milliseconds thirteen.
_LAST_YEAR = 1e10
_LONGEST = 1e20
_DATE = regex(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)", re.ASCII)
_TIME = regex(r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?")
_CTIME = regex(r"(?:\w{3} )?(\S+) +(\d{1,2}) ([\d:.]+) (\d{4})")


def days(year: int, month: int, day: int) -> int:
    """Take a date of the Gregorian calendar; return the days since 1970-01-01.

    The method is Howard Hinnant's days_from_civil (https://howardhinnant.github.io/date_algorithms.html).
    """
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def year_of(time: float) -> int:
    """Take seconds since the epoch; return the year in UTC."""
    year = 1970 + int(time // (365.2425 * _DAY))
    while days(year + 1, 1, 1) * _DAY <= time:
        year += 1
    while days(year, 1, 1) * _DAY > time:
        year -= 1
    return year


def sensible(time: float) -> float | None:
    """Take a number of seconds, milli-, micro- or nanoseconds since the epoch; return seconds, None if it is none."""
    if not _FIRST_YEAR <= time < _LONGEST:
        return None
    while time > _LAST_YEAR:
        time /= 1000
    return time


class Clock:
    """Reads the time stamps of one log. `kinds` names the readers that rows of knowledge may ask for."""

    def __init__(self, months: Mapping[str, int], zones: Mapping[str, int]) -> None:
        """Take month names in lower case -> 1 to 12, and zone names -> seconds east of UTC."""
        self.anchor: float | None = None
        self.boot: float | None = None
        self._months = months
        self._zones: dict[str, int | None] = dict(zones)
        # The times of stamps without zone that were read: whoever needs speed looks here first.
        self.seconds: dict[str, float] = {}
        self._others: dict[str, float] = {}
        self._year_of = 0.0
        self.kinds: dict[str, Callable[[str], Reading]] = {
            "iso": self.iso,
            "month": self.month,
            "day": self.day,
            "glog": self.glog,
            "ctime": self.ctime,
            "unix": self.unix,
            "uptime": self.uptime,
            "none": lambda _: (None, False),
        }

    def iso(self, text: str) -> Reading:
        """Read `2026-05-25 21:41:38`, also with slashes or a T, with a fraction after `.` or `,` and a zone or none."""
        second = text[:19]
        base = self.seconds.get(second) or self._others.get(second)
        if base is None:
            base = self._second(second)
            if base is None:
                return None, False
        rest = text[19:]
        if not rest:
            return base, False
        end = 0
        if rest[0] in ".,":
            end = 1
            while end < len(rest) and rest[end].isdecimal():
                end += 1
            base += float("0." + (rest[1:end] or "0"))
        zone = rest[end:].strip()
        if not zone:
            return base, False
        shift = self._zones[zone] if zone in self._zones else self._zone(zone)
        return (base, False) if shift is None else (base - shift, True)

    def month(self, text: str) -> Reading:
        """Read `Nov 29 14:40:57`, as syslog and `journalctl -o short` write it."""
        return self._without_year(text, self._month), False

    def day(self, text: str) -> Reading:
        """Read `07-27 13:20:12`, as vLLM writes it."""
        return self._without_year(text, self._numbers), False

    def glog(self, text: str) -> Reading:
        """Read `1124 12:00:00.123456`, as glog and torch write it; some builds write January as `130`."""
        date, _, clock = text.partition(" ")
        return self._without_year(f"{date[:-2]:0>2}-{date[-2:]} {clock}", self._numbers), False

    def ctime(self, text: str) -> Reading:
        """Read `Mon Nov 24 12:00:00 2025`, as `dmesg -T` writes it."""
        found = _CTIME.match(text)
        month = self._months.get(found[1].lower().rstrip(".")) if found else None
        clock = self._clock(found[3]) if found else None
        if not found or month is None or clock is None:
            return None, False
        time = days(int(found[4]), month, int(found[2])) * _DAY + clock
        self.anchor = time
        return time, False

    def unix(self, text: str) -> Reading:
        """Read seconds since the epoch, or milli-, micro- or nanoseconds, which their size tells."""
        try:
            time = float(text)
        except ValueError:
            return None, False
        return sensible(time), True

    def uptime(self, text: str) -> Reading:
        """Read seconds since the machine started; they mean a time only after `tie` has seen one line with both."""
        try:
            return (None if self.boot is None else sensible(self.boot + float(text))), False
        except ValueError:
            return None, False

    def tie(self, uptime: str, time: float) -> None:
        """Learn when the machine started from a line that has both stamps."""
        try:
            self.boot = time - float(uptime)
        except ValueError:
            return

    def _second(self, text: str) -> float | None:
        found = _DATE.fullmatch(text)
        if not found:
            return None
        year, month, day, hour, minute, second = map(int, found.groups())
        if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60):
            return None
        time = float(days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second)
        if time < _FIRST_YEAR:
            # A clock that was never set counts from 1970: that is no date.
            return None
        if len(self.seconds) + len(self._others) > _KEPT:
            self.seconds.clear()
            self._others.clear()
        # Only one spelling of a full date goes where others look: a row's stamp is known by its text alone.
        (self.seconds if text[10] == " " and "/" not in text else self._others)[text] = self.anchor = time
        return time

    def _zone(self, text: str) -> int | None:
        found = re.fullmatch(r"([+-])(\d\d):?(\d\d)?", text)
        shift = (int(found[2]) * 3600 + int(found[3] or 0) * 60) * (-1 if found[1] == "-" else 1) if found else None
        if len(self._zones) < _KEPT:
            self._zones[text] = shift
        return shift

    def _without_year(self, text: str, read: Callable[[str], tuple[int, int, float] | None]) -> float | None:
        anchor = self.anchor
        parts = read(text) if anchor is not None else None
        if anchor is None or parts is None:
            return None
        month, day, clock = parts
        year = year_of(anchor)
        choices = (days(each, month, day) * _DAY + clock for each in (year, year - 1, year + 1))
        time = min(choices, key=lambda choice: abs(choice - anchor))
        if len(self.seconds) > _KEPT or abs(anchor - self._year_of) > _MONTH:
            self.seconds.clear()
            self._year_of = anchor
        self.seconds[text] = time
        return time

    def _month(self, text: str) -> tuple[int, int, float] | None:
        parts = text.split()
        month = self._months.get(parts[0].lower().rstrip(".")) if len(parts) == 3 else None
        clock = self._clock(parts[2]) if len(parts) == 3 else None
        if month is None or clock is None or not parts[1].isdecimal():
            return None
        return month, int(parts[1]), clock

    def _numbers(self, text: str) -> tuple[int, int, float] | None:
        clock = self._clock(text[6:])
        try:
            month, day = int(text[:2]), int(text[3:5])
        except ValueError:
            return None
        return (month, day, clock) if clock is not None and 1 <= month <= 12 and 1 <= day <= 31 else None

    def _clock(self, text: str) -> float | None:
        found = _TIME.match(text)
        if not found:
            return None
        seconds = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3])
        return seconds + (float("0." + found[4]) if found[4] else 0.0)
