"""What makes two failures the same: a hash that rank, pid, line, path, address, time and size never change.

Numbers that carry meaning stay: errno, exit status, signal, HTTP status.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.hashing import sha256
from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import ExceptionInfo, Frame

VERSION = "v1"
# So much of a text is read, and so much of what is left of its first line counts: cut after masking, so that the length
# of a path or a number moves nothing out of sight.
_READ = 4000
_COUNTS = 300

_UNIT = r"(?:[kKMGT]i?(?:B|b)(?:/s)?|B|bytes?|ns|us|µs|ms|s|sec(?:onds?)?|min(?:utes?)?|h(?:ours?)?|days?|%|x)"
_LABEL = (
    r"ATTN_CP|MOE_DP|TP|PP|DP|EP|CP|[Rr]ank|[Gg]pu|GPU|cuda|[Dd]evice|[Ww]orker|[Nn]ode|[Ss]tage|[Tt]hread|[Ll]ayer"
)
_VOLATILE = regex(
    rf"""
    (?P<keep> (?:[Ee]rrno|[Ee]xit(?:\ ?code|\ status)|[Ss]ignal|[Ss]tatus(?:\ code)?|[Ee]rror\ code)
                [\ =:]{{0,2}}-?\d{{1,3}}\b
            | \b[1-5]\d\d(?=\ (?:[A-Z][a-z]+\ ){{0,2}}
                (?:Error|Unauthorized|Forbidden|Found|Requests|Unavailable|Gateway|Timeout|OK)\b)
            | <Response\ \[\d{{3}}\]> )
  | (?P<id> \b[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}\b )
  | (?P<url> \b[a-z][a-z0-9+.-]{{1,12}}://[^\s'"<>()]{{1,500}} )
  | (?P<path> (?<![\w.<>])(?:~|\.{{1,2}})?/(?:[\w.@+=,:~-]+/)*[\w.@+=~-]+ )
  | (?P<address> \b\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,5}})?\b
               | \[(?=[^\]\s]*:[^\]\s]*:)[0-9a-fA-F:.]{{2,45}}\](?::\d{{1,5}})?
               | \bhost(?:name)?=(?:'[^']{{0,255}}'|"[^"]{{0,255}}")
               | (?<=['"])[\w-]+(?:\.[\w-]+)*:\d{{2,5}}(?=['"]) )
  | (?P<time> \b\d{{4}}-\d\d-\d\d(?:[T_\ ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\d-])
            | \b\d{{1,2}}:\d\d:\d\d(?:[.,]\d+)?\b )
  | (?P<rank> (?<![A-Za-z])(?:{_LABEL})[\ =:\#-]?\d+\b )
  | (?P<n> \b0x[0-9a-fA-F]+\b
         | \b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{{8,}}\b
         | \b(?=[a-z2-7]*[2-7])[a-z2-7]{{26,}}\b
         | (?<![A-Za-z0-9_])[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?(?:\ ?{_UNIT}\b|%)?(?![A-Za-z0-9_]) )
    """,
    re.VERBOSE,
)
_WORDS = {"id": "<id>", "url": "<url>", "address": "<address>", "time": "<time>", "rank": "<rank>", "n": "<n>"}
# [1, 2, 3] and [1, 2], `TP0 EP0` and `TP0` are the same.
_RUN = regex(r"(<(?:id|url|address|time|rank|n|path)>)(?:[ ,;:_/x-]{0,3}\1)+")
_PACKAGE = regex(r".*(?:/(?:site|dist)-packages/|/python/(?=\w+/)|/lib/python\d[\w.]*/)")
_SOURCE = regex(r"[\w.+-]+\.(?:py|pyx|cpp|cc|cxx|c|cu|cuh|h|hpp|rs|so(?:\.\d+)*)$")


@lru_cache(maxsize=512)
def mask_volatile(text: str) -> str:
    """Take a text; return it with what differs from run to run replaced by a word for its kind, blanks folded.

    Reads 4,000 characters. Of a path only what lies inside a package stays, or the name of a source file.
    """
    return _RUN.sub(r"\1", _VOLATILE.sub(_masked, " ".join(text[:_READ].split())))


def _masked(found: re.Match[str]) -> str:
    kind = found.lastgroup
    if kind == "keep":
        return found[0]
    if kind == "path":
        return _path(found[0])
    return _WORDS[kind or "n"]


def _path(path: str) -> str:
    inside = _PACKAGE.match(path)
    if inside is not None:
        return path[inside.end() :]
    name = path.rpartition("/")[2]
    return f"<path>/{_VOLATILE.sub('<n>', name)}" if _SOURCE.match(name) else "<path>"


def fingerprint(kind: str, rule: str, exception: ExceptionInfo | None, frames: Sequence[Frame], text: str) -> str:
    """Take what a failure is; return its fingerprint, `v1:` and 16 hexadecimal digits.

    Of an exception its type's last part, the place that raised it and its masked message's first line count; of
    anything else its kind and rule, the innermost frame and the masked text's first line.
    """
    if exception is not None:
        parts = [exception.type.rpartition(".")[2], _site(exception.frames), _first_line(exception.message)]
    else:
        parts = [kind, rule, _site(frames), _first_line(text)]
    return f"{VERSION}:{sha256(chr(0).join(parts).encode(errors='replace'))[:16]}"


def _first_line(text: str) -> str:
    """The first line that says anything: what follows may be other writers' lines."""
    return mask_volatile(text[: _READ * 4].lstrip().partition("\n")[0])[:_COUNTS]


def _site(frames: Sequence[Frame]) -> str:
    """The innermost frame as package path and function, without line."""
    if not frames:
        return ""
    path = frames[-1].file
    found = _PACKAGE.match(path)
    inside = path[found.end() :] if found else path.rpartition("/")[2]
    return f"{_VOLATILE.sub('<n>', inside) if found is None else inside}:{frames[-1].function}"
