"""The shapes that lines of a Python traceback have, each told from the line's text alone.

The formats are those of CPython 3.8 to 3.14 (`traceback.py`, `Python/traceback.c`): heads, frames, source lines
with four blanks, carets (`^^^`, `~~~^^^`), `[Previous line repeated N more times]`, chain lines, margins of groups.
faulthandler's frames (`File "x", line N in f`, no comma) and py-spy's are no frames here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.lazy import regex

HEAD, FRAME, SOURCE, CARET, REPEAT, EXCEPTION, CHAIN, BLANK, TEXT, GROUP = range(10)

TRACEBACK = "Traceback (most recent call last):"
GROUP_TRACEBACK = "Exception Group Traceback (most recent call last):"
CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"

_FRAME = regex(r' +File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_REPEAT = regex(r" +\[Previous line repeated (\d+) more times?\]$")
_MARGIN = regex(r" +(?:\|(?: |$)|\+-\+?-{3,}|\+-{3,}|\+ Exception Group Traceback)")
_TYPE = r"[A-Za-z_]\w*(?:\.(?:\w+|<locals>))*"
# Ray prints `RayTaskError(ValueError)`: the type in brackets is the cause's.
_EXCEPTION = regex(rf"(?P<type>{_TYPE}(?:\(\w+\))?)(?::(?: (?P<message>.*))?)?$", re.DOTALL)
_SURE = regex(
    r"(?:Error|Exception|Exit|Interrupt|Timeout|TimedOut|Group|Failure|Fault|OutOfResources|NotFound|Refused|Unsupported"
    r"|Unavailable|Exhausted|Warning|RemoteTraceback|StopIteration|StopAsyncIteration|Cancelled|Abort|Violation|Mismatch)$"
)
_DOTTED = regex(r"[a-z_]\w*(?:\.(?:\w+|<locals>))*\._*[A-Z]\w*$")
_LEVEL = regex(r"[A-Z]{2,}$")
# logging ends its own complaint (`--- Logging error ---`) with these, below the stack of the caller.
_LOGGING = frozenset({"Message", "Arguments"})
# `socket.gaierror`, `socket.timeout`, `struct.error`, `nixl._bindings.nixlBackendError`
_SMALL = regex(r"(?:[Ee]rror|[Ee]xception|timeout)$")


def shape(text: str) -> int:
    """Take a line's text without its prefixes; return which of the shapes above it has."""
    if not text:
        return BLANK
    if text[0] == " ":
        return _indented(text)
    if text[0] == "\t":
        return BLANK if text.isspace() else TEXT
    if TRACEBACK in text and text.rstrip().endswith(TRACEBACK):
        return HEAD
    if (text[0] == "T" and text.startswith(CAUSE)) or (text[0] == "D" and text.startswith(CONTEXT)):
        return CHAIN
    if text[0].isalpha() or text[0] == "_":
        named = exception_parts(text)
        if named is not None and is_sure(named[0]):
            return EXCEPTION
    return BLANK if text.isspace() else TEXT


def _indented(text: str) -> int:
    stripped = text.lstrip(" ")
    if not stripped:
        return BLANK
    indent = len(text) - len(stripped)
    first = stripped[0]
    if first == "F" and stripped.startswith('File "') and _FRAME.match(text):
        return FRAME
    if first in "|+" and _MARGIN.match(text):
        return HEAD if first == "+" and GROUP_TRACEBACK in stripped else GROUP
    if first == "[" and _REPEAT.match(text):
        return REPEAT
    if first == "T" and TRACEBACK in text and text.rstrip().endswith(TRACEBACK):
        return HEAD
    if indent >= 4:
        return CARET if first in "^~" and not stripped.strip("^~ ") else SOURCE
    return TEXT


@lru_cache(maxsize=2048)
def frame_parts(text: str) -> tuple[str, int, str] | None:
    """Take a line's text; return file, line and function of the frame that it prints (function "" in a SyntaxError)."""
    found = _FRAME.match(text)
    if found is None:
        return None
    number = found["line"]
    return found["file"], int(number) if len(number) < 12 else 0, (found["function"] or "").strip()


def exception_parts(text: str) -> tuple[str, str] | None:
    """Take a line's text; return type and message if it reads `Name: message` or is a single dotted name."""
    found = _EXCEPTION.match(text[:4096]) if len(text) > 4096 else _EXCEPTION.match(text)
    if found is None:
        return None
    start = found.start("message")
    return found["type"], text[start:] if start >= 0 else ""


@lru_cache(maxsize=2048)
def is_sure(name: str) -> bool:
    """Take a type's name as printed; return whether it looks like an exception's wherever it stands."""
    plain = name.split("(", maxsplit=1)[0]
    last = plain.rpartition(".")[2]
    if _SURE.search(last) and last.lstrip("_")[:1].isupper() and not _LEVEL.match(last):
        return True
    return _DOTTED.match(plain) is not None


def may_be_exception(text: str) -> bool:
    """Take the text of a line that a stack waits for; return whether it can be its exception line (`Name: text`)."""
    named = exception_parts(text)
    if named is None:
        return False
    last = named[0].split("(")[0].rpartition(".")[2]
    if is_sure(named[0]) or ("." in named[0] and _SMALL.search(last)):
        return True
    if named[0] in _LOGGING:
        return False
    return last.lstrip("_")[:1].isupper() and not _LEVEL.match(last) and ":" in text[: len(named[0]) + 1]


def intro_of(text: str) -> str:
    """Take a head line's text; return what stands before `Traceback` on it, without its colon."""
    for head in ("+ " + GROUP_TRACEBACK, GROUP_TRACEBACK, TRACEBACK):
        at = text.find(head)
        if at >= 0:
            return text[:at].strip().rstrip(":").strip()
    return ""


_BAR = regex(r"[^%]{0,200}\d% ?(?:\||Completed \|)")


def is_bar(text: str) -> bool:
    """Take a line's text; return whether it is a progress bar (tqdm): whoever draws it, it is no part of a message."""
    return "%" in text and _BAR.match(text) is not None


_INTRO = regex(
    r"\s*(?:Process \S+:$|Exception in thread .+:$|Exception ignored (?:in|on)\b|Exception in \w+(?: \w+)*:?$"
    r"|(?:ERROR|CRITICAL):?\s+\S.*$)"
)


def is_intro(text: str) -> bool:
    """Take the text of the line before a head; return whether it only announces the traceback that follows."""
    return len(text) < 2000 and _INTRO.match(text) is not None


_ANNOUNCES = regex(r"(?i)exception|error|fail|crash|abort|unhandled|uncaught|panic|fatal|warmup")


def announces(text: str) -> bool:
    """Take the text of the line before a head; return whether it can be read as a title of the traceback."""
    return len(text) < 160 and text[:1] != "/" and _ANNOUNCES.search(text) is not None and shape(text) == TEXT
