"""Text as it may be shown: nothing hidden in it, measured in columns, cut and wrapped."""

from __future__ import annotations

from triage.lazy import regex

# Drawn as nothing, or as a blank, though Unicode calls them letters, marks or symbols.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_ELLIPSIS = "…"
# The end of a sentence. A dot of "e.g. X" or "vs. Y" is none, and where it is in doubt there is none.
_END = regex(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\betc)[.!?][)\]`'\"]?(?=\s+[A-Z`\"'(])")
# Latin letters, dashes and quotes, what progress bars are drawn with, and the signs of a report.
_NARROW = regex("[ -~\xa0-\xac\xae-\u02ff\u2010-\u2027\u2500-\u25fc✓✗]*")


def visible(text: str) -> str:
    r"""Take any text; return it with every character that could act or hide written as an escape.

    Control characters, escape sequences, bidi and other invisible Unicode become `\x1b` or `\u202e`; newlines stay,
    tabs become four blanks, other kinds of blank become a blank.
    """
    if text.isascii() and text.isprintable():
        return text
    table = {ord(char): _shown(char) for char in set(text) if char != "\n" and (not char.isprintable() or _hides(char))}
    return text.translate(table) if table else text


def _hides(char: str) -> bool:
    return char in _BLANKS or "\u180b" <= char <= "\u180f" or "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0000"


def _shown(char: str) -> str:
    if char == "\t":
        return "    "
    import unicodedata

    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    """Take any text; return it visible and on one line, every run of white space one blank."""
    return visible(" ".join(text.split()))


def clip(text: str, limit: int) -> str:
    """Take a text and a number of characters; return it whole, or its head and tail and how much was left out."""
    if len(text) <= limit:
        return text
    for _ in range(2):
        note = f"{_ELLIPSIS}[{len(text) - limit:,} characters left out]{_ELLIPSIS}"
    room = max(limit - len(note), 0)
    head = room - room // 3
    return text[:head] + note + text[len(text) - (room - head) :]


def start(text: str, length: int) -> str:
    """Take a text and a number of characters; return it whole, or its start and an ellipsis."""
    return text if len(text) <= length else text[: length - 1].rstrip() + _ELLIPSIS


def sentences(text: str, count: int) -> str:
    """Take prose and a number of sentences; return so many from its beginning, and an ellipsis if there are more."""
    for number, end in enumerate(_END.finditer(text), 1):
        if number == count:
            return f"{text[: end.end()]} {_ELLIPSIS}"
    return text


def columns(text: str) -> int:
    """Take visible text; return how many columns of a terminal it takes.

    rich measures, but nothing of rich is imported for the characters that most reports consist of: each of them takes
    one column, and a report for a pipe is ready before rich is loaded.
    """
    if _NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def middle(text: str, width: int, keep: int = 0) -> str:
    """Take one visible line and a width; return it whole, or cut in the middle, so that it fits.

    Where it is cut, at least a third of what is left is its beginning and a third its end, the last `keep` characters
    if they are not too many.
    """
    if columns(text) <= width:
        return text
    if width < 3:
        return _ELLIPSIS[:width]
    tail = max((width - 1) // 3, min(columns(text[len(text) - keep :]) if keep else 0, (width - 1) * 2 // 3))
    head = _fitting(text, width - 1 - tail)
    end = _fitting(text[::-1], tail)
    return text[:head] + _ELLIPSIS + text[len(text) - end :]


def _fitting(text: str, width: int) -> int:
    """Return how many characters of the text fit into the width."""
    if text[: width + 1].isascii():
        return min(len(text), width)
    used = 0
    for number, char in enumerate(text):
        used += columns(char)
        if used > width:
            return number
    return len(text)


def wrap(text: str, width: int) -> list[str]:
    """Take visible text and a width of at least 2; return its lines, broken at blanks, long words after a sign.

    rich breaks lines only with a console at hand, and at any letter: a pipe has none, and paths shall stay readable.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line, used = "", 0
        for found in paragraph.split(" "):
            word, size = found, columns(found)
            if line and used + 1 + size <= width:
                line, used = f"{line} {word}", used + 1 + size
                continue
            if line:
                lines.append(line)
            while size > width:
                head = _break(word, max(_fitting(word, width), 1))
                lines.append(word[:head])
                word, size = word[head:], columns(word[head:])
            line, used = word, size
        lines.append(line)
    return lines


def _break(word: str, fits: int) -> int:
    """Return where to break a long word of which so many characters fit: after a sign, if one is near."""
    return next((at for at in range(fits, fits // 2, -1) if word[at - 1] in "/,;:=&_-"), fits)
