r"""Tracebacks that stand in one line with their line ends written as `\n`: in JSON, reprs, `error=".."` fields."""

from __future__ import annotations

import re

from triage.events.traceback_shapes import TRACEBACK
from triage.lazy import regex

_CHARS = 65_536
_LINES = 2_000
# `\n` may have been escaped more than once on its way (`\\n`), and so may quotes.
_NEWLINE = regex(r"\\+n")
_ESCAPES = regex(r"""\\+(["'t\\])""")
_START = regex(re.escape(TRACEBACK) + r"\\+n")
_OPENING = regex(r"""(?<!\\)["'](?=[^"']*$)""")


def expand(text: str) -> tuple[str, list[str]] | None:
    r"""Take a line; return what stands before a traceback written with literal `\n`, and the traceback's lines.

    None where the line holds none. Reads at most 64 KB and 2,000 lines, up to the quote that closes the string.
    """
    if TRACEBACK not in text:
        return None
    found = _START.search(text[: _CHARS * 2])
    if found is None:
        return None
    before = text[max(0, found.start() - 2_000) : found.start()]
    body = text[found.start() : found.start() + _CHARS]
    opening = _OPENING.search(before)
    if opening is not None:
        closing = re.search(r"(?<!\\)" + opening[0], body)
        if closing is not None:
            body = body[: closing.start()]
    lines = [_ESCAPES.sub(_plain, line).rstrip() for line in _NEWLINE.split(body, maxsplit=_LINES)[:_LINES]]
    return before[:300] if opening is None else before[: opening.start()][-300:] + before[opening.end() :], lines


def _plain(found: re.Match[str]) -> str:
    return "\t" if found[1] == "t" else found[1]


def quoted_in(message: str) -> list[list[str]]:
    """Take the first line of an exception's message; return the lines of each traceback quoted in it, one at most."""
    found = expand(message)
    return [found[1]] if found is not None else []
