"""A message of one run as the condition that fits every run: what differs becomes a named capture."""

from __future__ import annotations

import re

from triage.records import dataclass, field
from triage.report.masking import mask

# What differs from run to run, the longest first: how to see it, what a capture of it takes, what to call it.
_ROWS: tuple[tuple[str, str, str], ...] = (
    (r"<[a-z][a-z-]*-\d+>(?::\d{1,5}\b)?", r"\S{1,300}", "masked"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", r"[0-9a-fA-F-]{36}", "id"),
    (r"\b\w+://[^\s'\"<>()]{1,300}", r"[^\s'\"<>()]{1,300}", "url"),
    (r"(?<![\w.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+", r"[^\s'\",]{1,300}", "path"),
    (r"(?<=['\"])[\w.-]+/[\w./-]+(?=['\"])", r"[^'\"]{1,300}", "name"),
    (r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b", r"[\d.:]{7,21}", "address"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b", r"[\d:., T-]{8,32}", "time"),
    (r"\b0x[0-9a-fA-F]+\b|\b(?=(?:[a-f]*\d){2})(?=\d*[a-f])[0-9a-f]{6,}\b", r"[0-9a-fA-Fx]{1,64}", "hex"),
    (r"(?<=\bTP)\d+|(?<=\bPP)\d+|(?<=\bDP)\d+|(?<=\bEP)\d+|(?<=cuda:)\d+", r"\d{1,6}", "rank"),
    (
        r"(?<![A-Za-z_\d.])\d+(?:\.\d+)? ?(?:[KMGT]i?B|[kM]B|bytes|ms|us|seconds|s|%)(?![A-Za-z_])",
        r"[\d.]{1,20} ?[A-Za-z%]{1,7}",
        "size",
    ),
    (r"(?<![A-Za-z_\d.])\d+\.\d+(?:e[-+]?\d+)?(?![A-Za-z_\d.])", r"[\d.e+-]{1,24}", "value"),
    (r"(?<![A-Za-z_\d.])\d+(?![A-Za-z_\d]|\.\d)", r"\d{1,20}", "number"),
)  # fmt: skip
_VOLATILE = re.compile("|".join(f"({seen})" for seen, _, _ in _ROWS))
# Numbers that name something and never change: [Errno 98], CUDA error 802, HTTP 404, exit code 9, Python 3.12.
_NAMED = re.compile(
    r"(?i)(?:errno|error|code|status|http(?:/[\d.]+)?|xid|signal|python|cuda|sm|v|version)[ :=#_]{0,2}$"
)
_STAMP = re.compile(r"^(?:\[[\d :.,TZ+-]{5,40}\]\s*)+")
_WORD = re.compile(r"([A-Za-z][A-Za-z_]{2,24})[\s'\"=:(\[{#<>]{0,4}$")
_STOP = frozenset(
    ("the", "and", "for", "with", "from", "has", "have", "had", "was", "were", "are", "not", "got", "but", "than",
     "then", "that", "this", "which", "only", "about", "under", "over", "into", "out", "size", "bytes")
)  # fmt: skip
_LONG = 240
_CAPTURES = 6


@dataclass(slots=True)
class Stable:
    """What of a message is the same in every run.

    `key` is `message` or `message_re`, `value` its text, both empty where nothing telling is left. `title` is the
    message with `{captures}`. `captures` holds the names of the captures.
    """

    key: str = ""
    value: str = ""
    title: str = ""
    captures: list[str] = field(default_factory=list)


def stable(message: str, whole: str = "message", pattern: str = "message_re") -> Stable:
    """Take a message and what the keys for a text and for a regex are called; return what of it is stable.

    Of several lines the first that says something counts, and of a long one its beginning.
    """
    text = _first(mask(message, share=True))
    found = Stable(title="")
    regex = ""
    at = 0
    for hit in _VOLATILE.finditer(text):
        before = text[: hit.start()]
        _, takes, name = _ROWS[(hit.lastindex or 1) - 1]
        if name in ("number", "value") and _NAMED.search(before):
            continue
        if name == "masked":
            name = hit[0][1:].partition("-")[0]
        regex += _escaped(text[at : hit.start()])
        found.title += text[at : hit.start()].replace("{", "(").replace("}", ")")
        at = hit.end()
        if len(found.captures) < _CAPTURES:
            called = _name(before, name, found.captures)
            found.captures.append(called)
            regex += f"(?P<{called}>{takes})"
            found.title += f"{{{called}}}"
        else:
            regex += takes
            found.title += ".."
    rest = text[at:]
    found.title += rest.replace("{", "(").replace("}", ")")
    if at == 0:
        if len(text.strip()) >= 4:
            found.key, found.value = whole, text
        return found
    regex += _escaped(rest)
    if _telling(regex):
        found.key, found.value = pattern, regex
    else:
        found.captures.clear()
        found.title = re.sub(r"\{\w+\}", "..", found.title)
    return found


def _first(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    line = _STAMP.sub("", next((line for line in lines if len(line) > 3), ""))
    line = "".join(char for char in line if char.isprintable())
    if len(line) <= _LONG:
        return line
    return line[:_LONG].rpartition(" ")[0] or line[:_LONG]


def _escaped(text: str) -> str:
    """Return a text as a regex that is still easy to read."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


def _name(before: str, kind: str, taken: list[str]) -> str:
    word = _WORD.search(before)
    name = word[1].lower() if word and word[1].lower() not in _STOP else kind
    number = 2
    while name in taken:
        name = f"{name.rstrip('0123456789_')}_{number}"
        number += 1
    return name


def _telling(regex: str) -> bool:
    from triage.library.literals import literals_of

    return bool(literals_of(regex)) and len(regex) <= 1000
