"""Gives tracebacks the indentation back that a chat or a form took away from every line of a log."""

from __future__ import annotations

from itertools import chain, compress, islice, repeat

from triage.lazy import regex
from triage.lines.repair import decode, raw_of
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.lines.repair import Physical

_WINDOW_LINES = 2000
_FRAMES = 2
_FRAME = regex(r'File "[^"\n]{1,4096}", line \d+(?:, in .*)?$')
# What follows a frame at once and is not its source line.
_NO_SOURCE = regex(r'File "|Traceback \(|\[|[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b(?::|$)|$')


def indented(lines: Iterator[Physical]) -> Iterator[Physical]:
    """Take physical lines; yield them, frames and their source lines indented where all indentation is lost.

    It is where the first 2,000 lines have frames of tracebacks at their beginning and none behind blanks; source lines
    may have kept theirs.
    """
    window = list(islice(lines, _WINDOW_LINES))
    frames = 0
    for line in compress(window, map(bytes.count, map(raw_of, window), repeat(b'File "'))):
        raw = line[2]
        if raw.startswith((b" ", b"\t")) and raw.lstrip().startswith(b'File "'):
            frames = 0
            break
        frames += raw.startswith(b'File "') and _FRAME.match(decode(line)) is not None
    whole = chain(window, lines)
    return _indented(whole) if frames >= _FRAMES else whole


def _indented(lines: Iterable[Physical]) -> Iterator[Physical]:
    above = ""
    for line in lines:
        text = decode(line)
        offset, number, raw, size, special = line
        carets = bool(text) and not text.strip("^~ ")
        if _FRAME.match(text):
            raw, above = b"  " + raw, "frame"
        elif above == "frame" and not carets and not _NO_SOURCE.match(text):
            raw, above = raw if raw.startswith(b"    ") else b"    " + raw, "source"
        elif above == "source" and carets:
            raw, above = raw if raw.startswith(b"    ") else b"    " + raw, ""
        else:
            above = ""
        yield offset, number, raw, size, special
