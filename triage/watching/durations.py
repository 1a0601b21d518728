"""Durations as people type them: `22m`, `90s`, `1h30m`."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.model import TriageError

_PART = regex(r"(\d{1,9}(?:\.\d{1,3})?)(ms|sec|s|min|m|h|d)?", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, None: 1}
_LONGEST = 366 * 86400.0


def parse_duration(text: str) -> float:
    """Take a duration: numbers with ms, s, m, h or d, one after the other; a bare number is seconds. Return seconds.

    `1h30m` is 5400.0. Raises `TriageError` for what is none, for nothing, and for more than a year.
    """
    compact = "".join(text.split()).lower()
    seconds, at, last = 0.0, 0, float("inf")
    while at < len(compact):
        found = _PART.match(compact, at)
        unit = _SECONDS[found[2]] if found else 0
        # A bare number stands alone, and units get smaller: anything else was meant otherwise.
        if not found or unit >= last or (found[2] is None and (at or found.end() < len(compact))):
            raise _unreadable(text)
        seconds += float(found[1]) * unit
        at, last = found.end(), unit
    if not 0 < seconds <= _LONGEST:
        raise _unreadable(text)
    return seconds


def _unreadable(text: str) -> TriageError:
    return TriageError(f"{text!r} is no duration: write 90s, 22m or 1h30m")
