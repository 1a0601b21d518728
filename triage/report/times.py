"""Times and durations as the reports write them."""

from __future__ import annotations

import math
import time


def iso(seconds: float | None, zoned: bool) -> str | None:
    """Take seconds since the epoch; return ISO 8601 text, in UTC with `Z`, without a zone where none is known.

    Returns None for no time and for one that no calendar holds.
    """
    parts = _calendar(seconds, local=False)
    if parts is None or seconds is None:
        return None
    micro = round((seconds % 1) * 1_000_000)
    fraction = f".{micro:06d}".rstrip("0") if 0 < micro < 1_000_000 else ""
    return time.strftime("%Y-%m-%dT%H:%M:%S", parts) + fraction + ("Z" if zoned else "")


def clock(seconds: float | None, zoned: bool, local: bool) -> str:
    """Take a time; return `14:21:21`, in the reader's zone if `local` and the zone is known; empty for no time."""
    parts = _calendar(seconds, local=local and zoned)
    return time.strftime("%H:%M:%S", parts) if parts else ""


def stamp(seconds: float | None, zoned: bool, local: bool) -> str:
    """Take a time; return `2026-11-29 14:21:21 UTC` (`+01:00` elsewhere, nothing where no zone is known)."""
    parts = _calendar(seconds, local=local and zoned)
    if parts is None:
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", parts) + (_zone(parts) if zoned else "")


def span(start: float | None, end: float | None, zoned: bool, local: bool) -> str:
    """Take two times; return `2026-11-29 14:19:43 to 14:21:22 UTC (1 min 39 s)`, or what of it is known."""
    first, last = _calendar(start, local=local and zoned), _calendar(end, local=local and zoned)
    if first is None or last is None or start is None or end is None:
        return stamp(start, zoned, local) or (f"until {stamp(end, zoned, local)}" if last else "")
    if first[:6] == last[:6]:
        return stamp(start, zoned, local)
    day = "%H:%M:%S" if first[:3] == last[:3] else "%Y-%m-%d %H:%M:%S"
    zone = _zone(last) if zoned else ""
    lasted = f" ({duration(end - start)})" if end > start else ""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', first)} to {time.strftime(day, last)}{zone}{lasted}"


def duration(seconds: float) -> str:
    """Take seconds; return them as people say it: `4.2 s`, `1 min 39 s`, `3 h 5 min`, `2 d 4 h`."""
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 9.95:
        return f"{max(seconds, 0.0):.1f} s".replace(".0 s", " s")
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    for size, name, smaller, under in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size:,} {name}" + (f" {rest} {under}" if rest else "")
    return f"{whole} s"


def _calendar(seconds: float | None, local: bool) -> time.struct_time | None:
    if seconds is None or math.isnan(seconds):
        return None
    try:
        whole = int(seconds // 1)
        parts = time.localtime(whole) if local else time.gmtime(whole)
    except (OverflowError, ValueError, OSError):
        return None
    return parts if 1 <= parts.tm_year <= 9999 else None


def _zone(parts: time.struct_time) -> str:
    minutes = (parts.tm_gmtoff or 0) // 60
    if not minutes:
        return " UTC"
    return f" {'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
