"""Regular expressions that are compiled when they are first used.

There are some four hundred in the modules and tables, and a log needs few of them; compiling all would take longer than
reading a small log.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_SHARED = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "groups", "groupindex")


class _Regex:
    """Stands for a `re.Pattern`: its slots are empty until one is asked for, then they hold the pattern's own."""

    __slots__ = (*_SHARED, "flags", "pattern")

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _SHARED:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for one in _SHARED:
            setattr(self, one, getattr(compiled, one))
        return getattr(self, name)


def regex(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Take what `re.compile` takes; return what behaves like the pattern. An error in it shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, int(flags)))
