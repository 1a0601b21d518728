"""What makes two failures the same: a hash that rank, pid, lines, paths, addresses, times and sizes never change."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import ExceptionInfo, Frame

VERSION = "v1"
_TEXT = 2000
_RANKS = r"\b(?:ATTN_CP|MOE_DP|[TPDE]P|rank|Rank|local_rank|device|GPU|cuda:)[ =:]?\d+(?:[ _][TPDE]P\d+)*\b"
_UNITS = r"(?: ?(?:[KMGT]i?B|kB|bytes|ms|us|seconds|s|%))?"
_NUMBERS = rf"(?<![A-Za-z_])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?{_UNITS}(?![A-Za-z_])"
# Longest first: what one row masks, the next does not see.
_MASKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b\w+://[^\s'\"<>()]{1,300}"), "<url>"),
    (re.compile(r"(?<![\w.])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]+"), "<path>"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b"), "<address>"),
    (re.compile(r"\b(?:0x)?(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}\b|\b0x[0-9a-fA-F]+\b"), "<hex>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(_RANKS), "<rank>"),
    (re.compile(r"\bpid[ =:]?\d+\b", re.IGNORECASE), "<pid>"),
    (re.compile(_NUMBERS), "<n>"),
)  # fmt: skip
_PACKAGE = re.compile(r".*(?:/(?:site|dist)-packages/|/python/(?=\w+/)|/lib/python\d[\w.]*/)")


def mask_volatile(text: str) -> str:
    """Take a text; return it with what differs from run to run replaced by a word for its kind, blanks folded."""
    text = " ".join(text[:_TEXT].split())
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return re.sub(r"(<\w+>)(?:[ ,;:]*\1)+", r"\1", text)


def fingerprint(kind: str, rule: str, exception: ExceptionInfo | None, frames: Sequence[Frame], text: str) -> str:
    """Take what a failure is; return its fingerprint, `v1:` and 16 hexadecimal digits.

    Of an exception its type, the place that raised it and its masked message count; of a native crash the signal's
    masked text and the innermost frame; of anything else its rule and masked text.
    """
    if exception is not None:
        parts = [exception.type.rpartition(".")[2], _site(exception.frames), mask_volatile(exception.message[:500])]
    else:
        parts = [kind, rule, _site(frames), mask_volatile(text[:300])]
    return f"{VERSION}:{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:16]}"


def _site(frames: Sequence[Frame]) -> str:
    """The innermost frame as package path and function, without line."""
    if not frames:
        return ""
    last = frames[-1]
    path = last.file
    found = _PACKAGE.match(path)
    inside = path[found.end() :] if found else path.rpartition("/")[2]
    return f"{inside}:{last.function}"
