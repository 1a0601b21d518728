"""Joins what a terminal has broken at its right margin, in text that was copied out of it.

A multiplexer's copy holds a line end wherever a line reached the margin. Such a text has no line beyond the margin and
many that end exactly there, some in the midst of a word. A log whose longest lines happen to be of one length, or were
cut off there, goes on with the beginnings that its other lines have, or with such as lines have anywhere.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

from triage.lazy import regex
from triage.lines.repair import LONGEST_TEXT, decode, is_special, raw_of
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triage.lines.repair import Physical

_WINDOW_LINES = 2000
_WINDOW_BYTES = 1 << 20
# Margins of terminals, in columns, and so many lines must have reached it.
_NARROWEST, _WIDEST = 60, 500
_FULL = 3
# At a margin at least this share of the breaks is in words or frames, and at most these go on as lines of the log begin
# and as lines begin anywhere. Of the cases, folded and cut off at 80 to 200 columns, these tell 93 % and 98 % rightly.
_IN_WORDS = 0.15
_AS_BEGINNINGS = 0.4
_AS_ANYWHERE = 0.65
_WORD = regex(r"[\w./-]")
_FRAME = regex(r'  File "[^"]+", line \d+, in \S+$')
_DIGIT = regex(r"\d")
# These begin a line, whatever the one before it looks like.
_BEGINS = regex(r'  File "|    |Traceback \(|\[20\d\d-|\[rank\d|20\d\d-\d\d-\d\d[ T]|$')
_LIKE_A_LINE = regex(rf"[A-Z\[(]|{_BEGINS.pattern}")
# Drawn by a program, as wide as the terminal is: it ends there by itself.
_RULE = regex(r"([-=_*#~+\u2500-\u257f])\1{3}$")


def unwrapped(lines: Iterator[Physical]) -> Iterator[Physical]:
    """Take physical lines; yield them with those joined that a terminal's margin broke, if one did.

    The first 2,000 lines or 1 MiB say where the margin is. A joined line has the offset and number of its first part.
    """
    window: list[Physical] = []
    size = 0
    while len(window) < _WINDOW_LINES and size < _WINDOW_BYTES and (some := list(islice(lines, 20))):
        window += some
        size += sum(map(len, map(raw_of, some)))
    raws = list(map(raw_of, window))
    plain = all(map(bytes.isascii, raws)) and not any(map(is_special, window))
    lengths = list(map(len, raws)) if plain else [len(decode(line)) for line in window]
    margin = max(lengths, default=0)
    if not _NARROWEST <= margin <= _WIDEST or lengths.count(margin) < _FULL:
        return chain(window, lines)
    margin = _margin([decode(line) for line in window])
    return _joined(chain(window, lines), margin) if margin else chain(window, lines)


def _margin(texts: Sequence[str]) -> int:
    """Return the column at which the texts were broken, their greatest length, 0 if they were not."""
    margin = max(map(len, texts), default=0)
    breaks: list[tuple[str, str]] = []
    torn = 0
    beginnings: Counter[str] = Counter()
    for before, text in zip(chain([""], texts), texts, strict=False):
        if len(before) == margin and not _RULE.search(before, margin - 4):
            breaks.append((before[-1], text))
            torn += '  File "' in before and not _FRAME.search(before)
        else:
            beginnings[_beginning(text)] += 1
    if len(breaks) < _FULL:
        return 0
    common = {beginning for beginning, count in beginnings.items() if count * 20 >= len(texts) or count >= 3}
    follow = Counter(_beginning(text) for _, text in breaks)
    as_beginnings = sum(count for beginning, count in follow.items() if beginning in common)
    in_words = torn + sum(bool(_WORD.match(last) and _WORD.match(text)) for last, text in breaks)
    broken = (
        len(follow) >= max(_FULL, len(breaks) // 50)
        and in_words >= _IN_WORDS * len(breaks)
        and as_beginnings <= _AS_BEGINNINGS * len(breaks)
        and sum(bool(_LIKE_A_LINE.match(text)) for _, text in breaks) <= _AS_ANYWHERE * len(breaks)
    )
    return margin if broken else 0


def _beginning(text: str) -> str:
    return _DIGIT.sub("0", text[:3])


def _joined(lines: Iterable[Physical], margin: int) -> Iterator[Physical]:
    held: list[Physical] = []
    for line in lines:
        text = decode(line)
        if held and (line[0] != held[-1][0] + held[-1][3] or _BEGINS.match(text)):
            yield _one(held)
            held = []
        if len(text) > margin:
            margin = 0
        held.append(line)
        whole = len(text) < margin or _RULE.search(text, margin - 4) is not None
        if not margin or whole or len(held) * margin > LONGEST_TEXT:
            yield _one(held)
            held = []
    if held:
        yield _one(held)


def _one(parts: Sequence[Physical]) -> Physical:
    if len(parts) == 1:
        return parts[0]
    raw = b"".join(part[2].removesuffix(b"\r") for part in parts)
    return parts[0][0], parts[0][1], raw, sum(part[3] for part in parts), any(part[4] for part in parts)
