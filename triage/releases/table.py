"""The table of SGLang's published releases that ships with triage: which functions, launch flags and pins each has.

One file, read in pieces, so that a question costs only the functions and flags that it is about: a line
`triage releases 2`, the length of the header, the header, the pieces; header and pieces are compressed text. The header
is a line of JSON, a line of the pieces' names and one of their sizes. `python -m triage.releases` writes it.

A release is a number: its place in `releases`, the order in which they were read. What changes between releases is a
list of runs, `[[number, value], ...]`: the value holds from that number on, up to the next run.
"""

# ruff: noqa: PTH118, PTH123 - pathlib takes longer to load

from __future__ import annotations

import json
import os
import zlib
from bisect import bisect_right
from functools import cache, cached_property
from itertools import accumulate, pairwise

from triage.data import PACKAGE
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAGIC = b"triage releases 2\n"
ABSENT = -1
MODULE = "<module>"
_LENGTH = 4
# So many source files are kept unfolded: those of the frames of one log, again and again.
_KEPT = 64
_KEPT_BODIES = 256
PLACE = os.path.join(PACKAGE, "knowledge", "sglang.releases")


class Source:
    """One source file in all releases: its scopes, where they stand, and what is called on which line.

    A piece is the length of its head, the head, and parts, all compressed by themselves. The head is a line of runs,
    one of the names of what is called, and for each part a line of its size and its columns. A column is a scope by its
    qualified name (`A.b`, `A.b#2` for a second one of that name), and a line of its part, with tabs: for each version
    of the file how much further down it begins than in the version before, `-` where it is not there; `version:body`
    for each version from which on it has another body; then the bodies. A body is
    `number of lines|lines that call something, each counted from the one before|what they call`, the last two with a
    word for each such line, of what is called the numbers of the names, with commas.
    """

    def __init__(self, piece: bytes, count: int) -> None:
        """Take a piece, and how many releases the table has."""
        self._count = count
        end = _LENGTH + int.from_bytes(piece[:_LENGTH], "little")
        runs, names, *parts = unpacked(piece[_LENGTH:end]).split("\n")
        self.runs: list[list[int]] = json.loads(runs)
        self._names = names
        self._piece = piece
        self._parts: list[tuple[int, int]] = []
        self._columns: dict[str, tuple[int, int]] = {}
        for part, line in enumerate(parts):
            size, *columns = line.split(" ")
            self._parts.append((end, end + int(size)))
            end += int(size)
            for at, column in enumerate(columns):
                self._columns[column] = part, at
        self._lines: dict[int, list[str]] = {}
        self._scopes: dict[str, list[tuple[int, int, str]]] = {}
        self._calls: dict[str, tuple[list[int], str]] = {}

    @cached_property
    def names(self) -> list[str]:
        """The names of what is called, by their numbers."""
        return self._names.split(" ") if self._names else []

    @property
    def columns(self) -> Iterable[str]:
        """The qualified names of all scopes that it has in any release."""
        return self._columns

    def functions(self) -> set[str]:
        """Return the names of all scopes that it has in any release, as frames have them."""
        return {simple(name) for name in self.columns}

    def scopes(self, function: str) -> list[tuple[int, int, str]]:
        """Take the name of a scope; return version, first line and body of all of that name."""
        found = self._scopes.get(function)
        if found is None:
            named = [name for name in self.columns if function in name and simple(name) == function]
            found = [place for name in named for place in self.places(name)]
            self._scopes[function] = found
        return found

    def places(self, column: str) -> Iterator[tuple[int, int, str]]:
        """Take the qualified name of a scope; yield version, first line and body."""
        part, at = self._columns[column]
        if part not in self._lines:
            start, stop = self._parts[part]
            self._lines[part] = unpacked(self._piece[start:stop]).split("\n")
        steps, changes, *bodies = self._lines[part][at].split("\t")
        body_from = dict(pair.split(":") for pair in changes.split(" "))
        changed = {int(version): bodies[int(body)] for version, body in body_from.items()}
        first, body = 0, ""
        for version, step in enumerate(steps.split(" ")):
            if version in changed:
                body = changed[version]
            if step == "0":
                yield version, first, body
            elif step != "-":
                first += int(step)
                yield version, first, body

    def calls(self, body: str) -> tuple[list[int], str]:
        """Return the lines of a body that call something, from its first line on (0), and what they call: a word for
        each line, as `names_of` takes it.
        """
        found = self._calls.get(body)
        if found is None:
            if len(self._calls) >= _KEPT_BODIES:
                self._calls.clear()
            _, steps, called = body.split("|")
            found = self._calls[body] = list(accumulate(map(int, steps.split()))), called
        return found

    def names_of(self, called: str) -> set[str]:
        """Return the names of what a line calls."""
        return {self.names[int(number)] for number in called.split(",")} if called else set()

    @cached_property
    def held(self) -> dict[int, set[int]]:
        """The releases that hold each version of the file."""
        found: dict[int, set[int]] = {}
        for (start, version), (stop, _) in pairwise([*self.runs, [self._count, ABSENT]]):
            found.setdefault(version, set()).update(range(start, stop))
        found.pop(ABSENT, None)
        return found

    def releases(self, versions: Iterable[int]) -> set[int]:
        """Return the releases that hold one of these versions."""
        return set().union(*(self.held[version] for version in versions))


def length(body: str) -> int:
    """Return the number of lines of a body."""
    return int(body.partition("|")[0])


def simple(qualified: str) -> str:
    """Take a scope's qualified name; return the name that its frames have."""
    return qualified.partition("#")[0].rpartition(".")[2]


class Table:
    """The releases and what is known of them.

    Raises `OSError`, `ValueError` or `zlib.error` where the file is not there or damaged.
    """

    releases: list[str]
    order: list[int]
    """The numbers of the releases, oldest first."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        with open(path, "rb") as file:
            if file.readline(len(MAGIC)) != MAGIC:
                raise ValueError(f"{path} is no table of releases")
            length = int.from_bytes(file.read(_LENGTH), "little")
            known, names, sizes = unpacked(file.read(length)).split("\n")
        self._start = len(MAGIC) + _LENGTH + length
        ends = list(accumulate(map(int, sizes.split(" "))))
        self._places = dict(zip(names.split("\t"), zip([0, *ends], ends, strict=False), strict=True))
        self._sources: dict[str, Source | None] = {}
        self.releases, self.order = json.loads(known)
        self._numbers = {release: number for number, release in enumerate(self.releases)}

    def number(self, release: str) -> int | None:
        """Return the number of a release, None for one that is not in the table."""
        return self._numbers.get(release)

    def sorted(self, numbers: set[int]) -> list[str]:
        """Return releases by their numbers, oldest first."""
        return [self.releases[number] for number in self.order if number in numbers]

    def around(self, release: str) -> list[str]:
        """Return a release with the one before it and the one after it."""
        at = self.order.index(self._numbers[release])
        return [self.releases[number] for number in self.order[max(0, at - 1) : at + 2]]

    def files(self) -> list[str]:
        """Return the source files that it knows, as paths below the package's parent (`sglang/srt/utils.py`)."""
        return [name for name in self._places if name.endswith(".py")]

    def source(self, path: str) -> Source | None:
        """Return what is known of a source file, None if no release has it."""
        if path not in self._sources:
            piece = self.raw(path) if path.endswith(".py") else None
            if len(self._sources) >= _KEPT:
                self._sources.clear()
            self._sources[path] = Source(piece, len(self.releases)) if piece is not None else None
        return self._sources[path]

    def lines(self, name: str) -> list[str]:
        """Return the lines of a piece by its name (`flags`, `pins`), none if there is none."""
        raw = self.raw(name)
        return [] if raw is None else unpacked(raw).split("\n")

    def raw(self, name: str) -> bytes | None:
        """Return a piece as it stands in the file."""
        place = self._places.get(name)
        if place is None:
            return None
        with open(self.path, "rb") as file:
            file.seek(self._start + place[0])
            return file.read(place[1] - place[0])


@cache
def table() -> Table | None:
    """Return the table that ships with triage; None where it is missing or damaged: that costs answers, not the run."""
    try:
        return Table(PLACE)
    except (OSError, ValueError, KeyError, zlib.error):
        return None


def canonical(name: str) -> str:
    """Take the name of what is called, or of a frame; return what both have in common: a class is called by its name,
    and its frames are `__init__` and the like.
    """
    return "__init__" if name.lstrip("_")[:1].isupper() or name in ("__new__", "__post_init__") else name


def module(path: str) -> str:
    """Take a source file's path; return the name by which an import calls it: of `a/b/__init__.py` it is b."""
    parts = path.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def value_at(runs: list[list[Any]], number: int) -> Any:
    """Take runs and a release's number; return the value that holds there, None before the first."""
    at = bisect_right([run[0] for run in runs], number)
    return runs[at - 1][1] if at else None


def packed(text: str) -> bytes:
    """Return a text as it stands in the table."""
    return zlib.compress(text.encode(), 9)


def unpacked(raw: bytes) -> str:
    """Return what `packed` took."""
    return zlib.decompress(raw).decode()
