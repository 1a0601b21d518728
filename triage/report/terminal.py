"""The report for a terminal or a pipe: plain text, with colours where they are wanted.

Colours are the eight of every terminal and only repeat what signs and words say. They are written here, not by rich:
importing that took longer than a whole diagnosis of a log of ordinary size, and layout and escaping are shared with
pipes anyway.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Literal

from triage.report.layout import lay_out

if TYPE_CHECKING:
    from triage.report.items import View
    from triage.report.layout import Span

Color = Literal["auto", "always", "never"]

_WIDTH = 80
_STYLES = {
    "failed": "1;31",
    "degraded": "1;33",
    "starting": "1;36",
    "healthy": "32",
    "label": "2",
    "at": "2",
    "quiet": "2",
    "strong": "1",
    "command": "36",
    "link": "4",
}
# For terminals and files that can't hold these.
_ASCII = str.maketrans({"✗": "x", "✓": "+", "…": "..."})


def render(view: View, width: int = _WIDTH, color: bool = False) -> str:
    """Take a view, a width in columns and whether to colour; return the text, which ends with a newline."""
    return "".join(_line(line, color) for line in lay_out(view, width))


def _line(spans: list[Span], color: bool) -> str:
    if not color:
        return "".join(text for text, _ in spans).rstrip() + "\n"
    return "".join(_painted(text, _STYLES.get(style)) for text, style in spans) + "\n"


def _painted(text: str, style: str | None) -> str:
    bare = text.strip()
    if style is None or not bare:
        return text
    before, _, after = text.partition(bare)
    return f"{before}\x1b[{style}m{bare}\x1b[0m{after}"


def wants_color(choice: Color, stream: IO[str]) -> bool:
    """Take the user's choice and the stream; return whether to colour.

    `auto` means on a terminal that is not `dumb`, unless NO_COLOR is set (https://no-color.org).
    """
    if choice != "auto":
        return choice == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and _is_terminal(stream)


def width_of(stream: IO[str]) -> int:
    """Take a stream; return its width in columns: COLUMNS, else the terminal's, else 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and 0 < int(said[:6]) < 10_000:
        return int(said)
    if _is_terminal(stream):
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH
    return _WIDTH


def encodable(text: str, stream: IO[str]) -> str:
    """Take a text and a stream; return the text as the stream's encoding can hold it."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(encoding, "backslashreplace").decode(encoding)
    except LookupError:
        return text.translate(_ASCII).encode("ascii", "backslashreplace").decode()
    return text


def _is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
