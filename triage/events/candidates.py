"""Which rows may hold in a line: those of which a literal is in it, found once for all lines that differ in numbers.

Most lines of a log are a few sentences with other numbers in them. With every run of digits as one `0`, in lines and
literals alike, a literal that is in the line stays in it; so what is found for such a text holds for all lines that it
stands for, and only the few rows that it names need a closer look.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = re.compile("[0-9]+")
_REMEMBERED = 4096
_LONGEST = 1000


class Candidates:
    """Rows by their literals."""

    def __init__(self, literals: Iterable[Sequence[str]]) -> None:
        """Take the literals of each row, of which a line must hold one."""
        rows: dict[str, list[int]] = {}
        for number, words in enumerate(literals):
            for word in words:
                rows.setdefault(_NUMBER.sub("0", word), []).append(number)
        self._rows = list(rows.items())
        self._seen: dict[str, tuple[int, ...]] = {}

    def of(self, text: str) -> tuple[int, ...]:
        """Take a text; return the numbers, rising, of the rows that may have a literal in it."""
        masked = _masked(text)
        found = self._seen.get(masked)
        if found is None:
            found = tuple(sorted({number for word, rows in self._rows if word in masked for number in rows}))
            if len(masked) <= _LONGEST:
                if len(self._seen) >= _REMEMBERED:
                    self._seen.clear()
                self._seen[masked] = found
        return found


@lru_cache(maxsize=8)
def _masked(text: str) -> str:
    """Several readers ask for one line after the other."""
    return _NUMBER.sub("0", text)
