"""The report as text: plain for pipes and files, drawn by rich on a terminal.

Both show the lines of `layout`, so that they differ in styles only. rich takes longer to import than a log of ordinary
size takes to be diagnosed: it is loaded where something is drawn, and a pipe never waits for it.
"""

from __future__ import annotations

import io
import os

from triage.typed import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.text import Text

    from triage.report.layout import Span

Color = Literal["auto", "always", "never"]

_WIDTH = 80
# The eight colours of every terminal; they only repeat what signs and words say.
_STYLES = {
    "failed": "bold red",
    "degraded": "bold yellow",
    "starting": "bold cyan",
    "healthy": "green",
    "label": "dim",
    "at": "dim",
    "quiet": "dim",
    "strong": "bold",
    "command": "cyan",
    "link": "underline",
}
# For terminals and files that can't hold these.
_ASCII = str.maketrans({"✗": "x", "✓": "+", "…": "..."})


def plain(lines: list[list[Span]]) -> str:
    """Take laid out lines; return them as text without any style, each ending with a newline."""
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


def drawn(lines: list[list[Span]], width: int, stream: IO[str] | None = None) -> str:
    """Take laid out lines, their width in columns, and the terminal they are for; return them as rich draws them.

    rich decides what the terminal can show, by TERM, COLORTERM, NO_COLOR and the like; without a stream the eight
    colours are used whatever the environment says. Texts of a log are neither markup nor emoji codes, and are not
    highlighted.
    """
    from rich.console import Console
    from rich.text import Text

    asked = stream is None
    console = Console(
        file=stream or io.StringIO(),
        width=width,
        force_terminal=True if asked else None,
        color_system="standard" if asked else "auto",
        no_color=False if asked else None,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=True,
    )
    with console.capture() as captured:
        console.print(Text("\n").join(map(_styled, lines)))
    return captured.get()


def _styled(line: list[Span]) -> Text:
    from rich.text import Text

    styled = Text()
    for text, style in line:
        words = text.lstrip()
        styled.append(text[: len(text) - len(words)])
        styled.append(words, _STYLES.get(style))
    styled.rstrip()
    return styled


def draws(choice: Color, stream: IO[str]) -> bool:
    """Take the user's choice and the stream; return whether rich is to draw: `auto` means on a terminal."""
    return choice == "always" or (choice == "auto" and is_terminal(stream))


def width_of(stream: IO[str]) -> int:
    """Take a stream; return its width in columns: COLUMNS, else the terminal's, else 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and 0 < int(said[:6]) < 10_000:
        return int(said)
    if is_terminal(stream):
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


def is_terminal(stream: IO[str]) -> bool:
    """Take a stream; return whether it is a terminal; a closed one is none."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False
