"""Rotated logs: which files are one log, and that log as one text, oldest first.

Names as logrotate(8) gives them (`x.log.1`, `x.log.2.gz`, with dateext `x.log-20260525.xz`), Python's handlers
(`x.log.1`, `x.log.2026-05-25`) and the kubelet (`0.log.20260525-214138.gz`).
"""

from __future__ import annotations

import os
from bisect import bisect_right

from triage.lazy import regex
from triage.model import Gap
from triage.sources.text import TextSource
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = regex(
    r"(?P<base>.+?)(?:\.(?P<number>\d{1,4})"
    r"|[-.](?P<date>\d{8}(?:-\d{1,10})?|\d{4}-\d\d-\d\d(?:_\d\d(?:-\d\d){0,2})?))?(?:\.(?:gz|xz|zst|bz2))?"
)
# What a number after another name means is not known: `worker.0` and `worker.1` may be two logs.
_LOG = regex(r".*(?:\.(?:log|out|err|txt|json)|/syslog|/messages)")


def sets(names: Sequence[str]) -> list[list[str]]:
    """Take the names of files (`-` is standard input); return them with those of one rotated log together.

    The files of a log stand oldest first, the logs in the order in which they were named.

    >>> sets(["a.log", "b.log", "a.log.2.gz", "a.log.1"])
    [['a.log.2.gz', 'a.log.1', 'a.log'], ['b.log']]
    """
    groups: dict[str, dict[tuple[int, int, str], str]] = {}
    loose: list[tuple[int, list[str]]] = []
    places: dict[str, int] = {}
    for place, name in enumerate(dict.fromkeys(names)):
        found = _NAME.fullmatch(name) if name != "-" else None
        base = found["base"] if found is not None else name
        if found is None or not (_LOG.fullmatch(f"/{base}") or base in names):
            loose.append((place, [name]))
            continue
        age = _age(found["number"], found["date"])
        group = groups.setdefault(base, {})
        if age in group:
            loose.append((place, [name]))  # the same place twice: these are two logs, whatever they are called
            continue
        group[age] = name
        places.setdefault(base, place)
    whole = [(places[base], [group[age] for age in sorted(group)]) for base, group in groups.items()]
    return [found for _, found in sorted([*whole, *loose])]


def _age(number: str | None, date: str | None) -> tuple[int, int, str]:
    """What sorts the files of a log, the oldest first: dates rising, numbers falling, then the file still written."""
    if date is not None:
        return 0, 0, date
    return (1, -int(number), "") if number is not None else (2, 0, "")


class RotatedSource:
    """The files of a rotated log as one text.

    `name` is that of the newest file without its number, `files` are the names of all, oldest first. `gaps` is complete
    once `chunks` has ended.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]]) -> None:
        """Take the files, oldest first; empty ones count for nothing.

        Raises `TriageError` for one that can't be read.
        """
        self._sources = [TextSource(path) for path in [path for path in paths if not _empty(path)] or paths]
        self.files = [source.name for source in self._sources]
        self._starts: list[int] = []
        last = self._sources[-1].name
        found = _NAME.fullmatch(last)
        self.name = found["base"] if found is not None else last
        self.gaps: list[Gap] = self._missing()

    def chunks(self) -> Iterator[bytes]:
        """Yield the text in blocks, decompressed, file after file."""
        offset = 0
        for source in self._sources:
            self._starts.append(offset)
            for block in source.chunks():
                offset += len(block)
                yield block
            self.gaps += [Gap(gap.kind, f"{source.name}: {gap.detail}") for gap in source.gaps]

    def place(self, offset: int) -> tuple[str, int, bool]:
        """Take an offset in the whole text, once it was read; return its file, the offset there, and if it is the first
        file.
        """
        index = max(bisect_right(self._starts, offset) - 1, 0)
        return self._sources[index].name, offset - self._starts[index], index == 0

    def _missing(self) -> list[Gap]:
        """A number that is left out between two others is a file that was not handed in."""
        found = [match for name in self.files if (match := _NAME.fullmatch(name)) is not None]
        numbers = {int(match["number"]) for match in found if match["number"]}
        if not numbers:
            return []
        newest = 1 if any(not match["number"] for match in found) else min(numbers)
        gone = [number for number in range(newest, max(numbers)) if number not in numbers]
        more = f", nor {len(gone) - 1} more" if len(gone) > 1 else ""
        return [Gap("rotated", f"{self.name}.{gone[0]} was not read{more}")] if gone else []


def _empty(path: str | os.PathLike[str]) -> bool:
    """A log that was rotated just now."""
    try:
        return not os.stat(path).st_size  # noqa: PTH116  without pathlib
    except OSError:
        return False
