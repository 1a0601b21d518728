"""Times as journalctl takes them for --since and --until.

Source: systemd.time(7), "Parsing Timestamps" and "Parsing Time Spans".
"""

from __future__ import annotations

import re
import time

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

_SPAN = regex(r"(\d+(?:\.\d+)?)\s*([A-Za-zµμ]*)\s*")
_UNITS = {
    **dict.fromkeys(("us", "usec", "µs", "μs"), 1),
    **dict.fromkeys(("ms", "msec"), 1_000),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000_000),
    **dict.fromkeys(("M", "month", "months"), 2_629_800_000_000),
    **dict.fromkeys(("y", "year", "years"), 31_557_600_000_000),
}
_DAYS = {"today": 0, "yesterday": -1, "tomorrow": 1}
_STAMP = regex(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
    r"(?:(?P<day>\d{2}(?:\d{2})?-\d{1,2}-\d{1,2})(?:[ T]|$))?\s*"
    r"(?:(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d+))?)?)?\s*"
    r"(?P<zone>Z|UTC|[+-]\d{2}:?\d{2}|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+)+)?",
    re.IGNORECASE,
)


def parse_time(text: str, now: float | None = None) -> int:
    """Take a time as journalctl takes it; return microseconds since the epoch.

    Times without a zone are local. `now` is seconds since the epoch, by default the clock's. Raises `TriageError` for
    what is no time.
    """
    value = text.strip()
    moment = time.time() if now is None else now
    micro = int(moment * 1_000_000)
    if value == "now":
        return micro
    if value in _DAYS:
        return _midnight(moment, _DAYS[value])
    if value.startswith("@"):
        found = _span(value[1:])
    elif value.startswith("+"):
        found = _plus(micro, _span(value[1:]))
    elif value.startswith("-"):
        found = _plus(micro, _span(value[1:]), sign=-1)
    elif value.endswith(" ago"):
        found = _plus(micro, _span(value[:-4]), sign=-1)
    elif value.endswith(" left"):
        found = _plus(micro, _span(value[:-5]))
    else:
        found = _stamp(value, moment)
    if found is None:
        raise TriageError(
            f"{text!r} is no time: write 2026-05-25 21:41, 21:41, yesterday, -2h, '10 min ago' or @SECONDS"
        )
    return found


def _plus(micro: int, span: int | None, sign: int = 1) -> int | None:
    return None if span is None else max(0, micro + sign * span)


def _span(text: str) -> int | None:
    """Return a time span's microseconds, None for what is none."""
    text = text.strip()
    at = 0
    total = 0.0
    while at < len(text):
        part = _SPAN.match(text, at)
        if part is None or part[2] not in _UNITS or len(part[1]) > 18:
            return None
        # Whole numbers stay exact: a float holds no microseconds of this century times a thousand.
        factor = _UNITS[part[2]]
        whole, _, fraction = part[1].partition(".")
        total += int(whole) * factor + (int(fraction[:9] or 0) * factor // 10 ** len(fraction[:9]) if fraction else 0)
        at = part.end()
    return int(total) if text else None


def _midnight(moment: float, days: int) -> int:
    here = time.localtime(moment)
    return int(time.mktime((here.tm_year, here.tm_mon, here.tm_mday + days, 0, 0, 0, 0, 0, -1))) * 1_000_000


def _stamp(text: str, moment: float) -> int | None:
    found = _STAMP.fullmatch(text)
    if found is None or not (found["day"] or found["hour"]):
        return None
    from datetime import datetime

    here = time.localtime(moment)
    try:
        year, month, day = (int(part) for part in (found["day"] or f"{here[0]:04}-{here[1]}-{here[2]}").split("-"))
        if year < 100:
            year += 2000 if year < 69 else 1900  # as strptime's %y
        stamp = datetime(  # noqa: DTZ001 - the zone is added below, none means local time
            year, month, day, int(found["hour"] or 0), int(found["minute"] or 0), int(found["second"] or 0)
        )
        zone = found["zone"]
        aware = stamp.replace(tzinfo=_zone(zone)) if zone else stamp
        seconds = int(aware.timestamp())
    except (ValueError, OverflowError, OSError, KeyError):
        return None
    return seconds * 1_000_000 + int((found["fraction"] or "0")[:6].ljust(6, "0"))


def _zone(name: str) -> tzinfo:
    from datetime import timedelta, timezone

    if name.upper() in {"Z", "UTC"}:
        return timezone.utc
    if name[0] in "+-":
        minutes = int(name[1:3]) * 60 + int(name[-2:])
        return timezone(timedelta(minutes=minutes if name[0] == "+" else -minutes))
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
