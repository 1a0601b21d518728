"""Mends text: physical lines out of blocks, broken encodings, terminal escapes, glued and overlong lines."""

from __future__ import annotations

import codecs
from itertools import accumulate, chain, repeat
from operator import itemgetter

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_RAW = 4 << 20
"""Bytes kept of one physical line, of its head and its tail together."""

LONGEST_TEXT = 64 << 10
"""Characters kept of one line's text."""

COUNTED = 8 << 20
"""Line numbers are counted up to this offset; beyond it they would cost more than they are worth."""

# What `plain` takes away, by what is in it: where that is not in a block, nothing of its group is.
_ESCAPES = (
    (b"\x1b", ()), (b"\r", ()), (b"\0", ()), (b"\x1e", ()), (b"\\", (b"\\x1b[", b"\\033[")), (b"&", (b"&quot;", b"&#")),
    (b"#033[", ()), (b"0m", (b"[0m", b";0m")),
)  # fmt: skip
_BEYOND_ASCII = (b"\xe2\x94\x82", b"\xc2\xa0", b"File \xe2\x80\x9c")
_ANSI = regex(r"(?:\x1b|#033|\\x1b|\\033)(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]?[0-~])|[\0\x1e]")
# Colours of which a web console or a copy lost the escape character.
_BARE = regex(r"(?<!001b)(?<!001B)(?<!033)(?<!x1b)\[(?:0|[349]\d|\d{1,2}(?:;\d{1,3}){1,4})?m(?!\])")
# What a web page or a chat makes of quotes.
_ENTITIES = {
    "&quot;": '"', "&#34;": '"', "&#39;": "'", "&#039;": "'", "&#x27;": "'", "&apos;": "'", "&lt;": "<", "&gt;": ">",
    "&nbsp;": " ", "&amp;": "&",
}  # fmt: skip
_ENTITY = regex("|".join(_ENTITIES))
_BAR = regex(r"\d+%(?:\|| Completed \|)[^\[\r]{0,400}\[[^\]\r]{0,200}\]")
_HEAD = regex(r"\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?(?P<labels>(?: [A-Z][A-Z_]{1,9}\d+)*)\] ")
_NO_LETTER = regex(r"[\W\d_]+|\b[A-Za-z]?(?:it|B)?/s\b")
_UNESCAPE = {'\\"': '"', "\\'": "'", "\\t": "\t", "\\r": "", "\\\\": "\\"}
_ESCAPED = regex(r"\\[\"'tr\\]")


Physical = tuple[int, "int | None", bytes, int, bool]
"""One physical line, as a plain tuple because there are millions: byte offset, number from 1 (None where not counted),
bytes without the newline (the middle of an overlong line cut), size in the input with the newline, and whether some
line of its block holds escapes, carriage returns or NUL bytes."""

# These take thousands of lines at once through `map`.
raw_of = itemgetter(2)
is_special = itemgetter(4)


def as_utf8(blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Take blocks; yield them, decoded if a byte order mark says UTF-16. Offsets then count bytes of UTF-8."""
    stream = iter(blocks)
    first: list[tuple[int, bytes]] = []
    head = b""
    for block in stream:
        first.append(block)
        head += block[1][:2]
        if len(head) > 1:
            break
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) or first[0][0]:
        yield from first
        yield from stream
        return
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    offset = 0
    for _, raw in chain(first, stream, [(0, b"")]):
        data = decoder.decode(raw, final=not raw).encode("utf-8", "replace")
        yield offset, data
        offset += len(data)


def physical(blocks: Iterable[tuple[int, bytes]]) -> Iterator[Physical]:
    """Take blocks of (byte offset, bytes); yield their lines.

    A line may be spread over any number of blocks that follow each other without a gap; of one longer than
    `LONGEST_RAW` the middle is dropped. A gap between blocks ends a line, and the numbers with it.
    """
    counting = True
    number = 0
    end = 0
    held: list[bytes] = []
    held_at = held_size = 0
    held_special = False
    for offset, block in blocks:
        if offset != end:
            if held:
                whole = b"".join(held)
                yield held_at, number + 1 if counting else None, whole, held_size, held_special or _special(whole)
                held, held_size, held_special = [], 0, False
            counting = False
        at = offset
        end = offset + len(block)
        special = _special(block)
        lines = block.split(b"\n")
        rest = lines.pop()
        if held and lines:
            number += 1
            size = held_size + len(lines[0]) + 1
            whole = b"".join((*held, lines.pop(0)))
            yield held_at, number if counting else None, whole, size, special or held_special or _special(whole)
            at = held_at + size
            held, held_size, held_special = [], 0, False
        sizes = list(map((1).__add__, map(len, lines)))
        numbers = range(number + 1, number + 1 + len(lines)) if counting else repeat(None)
        yield from zip(accumulate(sizes, initial=at), numbers, lines, sizes, repeat(special), strict=False)
        number += len(lines)
        at += sum(sizes)
        counting = counting and at < COUNTED
        if rest:
            if not held:
                held_at = at
            held.append(rest)
            held_size += len(rest)
            held_special = held_special or special
            if held_size > LONGEST_RAW and sum(map(len, held)) > LONGEST_RAW:
                held = _shorten(held)
    if held:
        whole = b"".join(held)
        yield held_at, number + 1 if counting else None, whole, held_size, held_special or _special(whole)


def _special(data: bytes) -> bool:
    for mark, group in _ESCAPES:
        if mark in data and (not group or any(escape in data for escape in group)):
            return True
    return not data.isascii() and any(escape in data for escape in _BEYOND_ASCII)


def _shorten(pieces: list[bytes]) -> list[bytes]:
    whole = b"".join(pieces)
    half = LONGEST_RAW // 2
    return [whole[:half], whole[half:][-(half // 2) :]]


def decode(line: Physical) -> str:
    """Take a physical line; return its text, without escapes, NUL bytes and the carriage return of its end."""
    text = line[2].decode("utf-8", "replace")
    if not line[0] and text.startswith("\ufeff"):
        text = text[1:]
    return plain(text) if line[4] else text


def plain(text: str) -> str:
    """Take text; return it as its program wrote it.

    Without terminal escapes, a pane's frame, NUL bytes and carriage returns at its end, and with the quotes and blanks
    that a web page or a chat put others for.
    """
    if "\x1b" in text or "\0" in text or "033[" in text or "\x1e" in text or "\\x1b[" in text:
        text = _ANSI.sub("", text)
    if "[0m" in text or ";0m" in text:
        text = _BARE.sub("", text)
    if "│" in text:
        text = _unframed(text)
    if "&quot;" in text or "&#" in text:
        text = _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)
    if "File “" in text:
        text = text.replace("“", '"').replace("”", '"')
    if "\u00a0" in text:
        text = text.replace("\u00a0", " ")
    return text.rstrip("\r") if "\r" in text else text


def _unframed(text: str) -> str:
    """Take away the frame of a terminal's pane, copied with the text."""
    bare = text.rstrip()
    if bare.endswith("│"):
        text = bare[:-1].rstrip()
    return text.removeprefix("│").removeprefix(" ") if text.startswith("│") else text


def pieces(text: str) -> list[str]:
    r"""Take a line's text after its outer prefixes; return what it holds, usually itself alone.

    Splits progress bars that were redrawn with carriage returns (of a run of bars only the last is kept), bars that are
    glued before a message, records glued behind another writer's text, and tracebacks with literal `\n` inside.
    """
    if len(text) > LONGEST_TEXT:
        text = shorten(text)
    parts = [text]
    if "\r" in text:
        parts = _redrawn(text)
    if "%" in text:
        parts = [part for each in parts for part in _after_bars(each)]
    if text.find("[20", 1) > 0:
        parts = [part for each in parts for part in _records(each)]
    if "\\n" in text and ("Traceback (most recent call last)" in text or 'File "' in text or 'File \\"' in text):
        parts = [part for each in parts for part in _unescaped(each)]
    return parts


def shorten(text: str) -> str:
    """Take a long text; return its head and tail with a note of what was cut between them."""
    tail = LONGEST_TEXT // 4
    head = LONGEST_TEXT - tail - 64
    return f"{text[:head]} [.. {len(text) - head - tail} characters cut ..] {text[-tail:]}"


def _redrawn(text: str) -> list[str]:
    kept: list[str] = []
    words = before = ""
    for part in text.split("\r"):
        if not part.strip():
            continue
        words = _NO_LETTER.sub("", part)
        if kept and words == before and part[:1] != "[":
            kept[-1] = part
        else:
            kept.append(part)
        before = words
    return kept or [""]


def _after_bars(text: str) -> list[str]:
    if "%|" not in text and "% Completed |" not in text:
        return [text]
    parts: list[str] = []
    start = 0
    for found in _BAR.finditer(text):
        rest = text[found.end() :]
        if rest.strip() and not rest.startswith(("\r", ":", ",", ".", ")", '"', "'")):
            parts.append(text[start : found.end()])
            start = found.end()
    parts.append(text[start:])
    return parts


def _records(text: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for found in _HEAD.finditer(text, 1):
        # Without a label the head may be quoted in a message; with one it is a writer that came in between.
        if found["labels"] or text[found.start() - 1] not in " \t\"'(":
            parts.append(text[start : found.start()])
            start = found.start()
    parts.append(text[start:])
    return parts


def _unescaped(text: str) -> list[str]:
    if "\\n" not in text:
        return [text]
    lines = text.split("\\n")
    return [_ESCAPED.sub(lambda found: _UNESCAPE[found[0]], line) if "\\" in line else line for line in lines]
