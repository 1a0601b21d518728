"""A compiled pack of signatures: what every run needs of them, what a failure needs, and each signature by itself.

It is kept as lines of JSON, so that only what is asked for is parsed: the head, the index, then a signature a line.
"""

from __future__ import annotations

import json
from functools import cached_property

from triage.patterns import LinePattern
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triage.library.index import Row
    from triage.library.signature import Signature


class Pack:
    """The signatures of one folder or file, sorted by id; a signature's number is its place there.

    `files` are names below the folder `place`, empty for a pack of one file. Raises `ValueError`, `KeyError`,
    `TypeError` or `AttributeError` for text that is no compiled pack.
    """

    def __init__(self, raw: bytes, place: str, *, shipped: bool = False) -> None:
        """Take what a `Writer` made, and where the pack lies; `shipped` with triage it is not checked for damage."""
        head, _, self._rest = raw.partition(b"\n")
        said = json.loads(head)
        if not shipped and said["sum"] != checksum(self._rest):
            raise ValueError(f"{place}: the compiled pack is damaged")
        self.place = place
        self.key: str = said["key"]
        self.ids: list[str] = said["ids"]
        self.files: list[str] = said["files"]
        self.digests: list[str] = said["digests"]
        self.disabled: frozenset[int] = frozenset(said["disabled"])
        self.aliases: list[tuple[int, str]] = said["aliases"]
        self.problems: list[list[Any]] = said["problems"]
        self._lines: list[list[Any]] = said["lines"]

    @cached_property
    def _records(self) -> list[bytes]:
        return self._rest.split(b"\n")

    @cached_property
    def _index(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._records[0])
        return found

    @property
    def rows(self) -> list[Row]:
        """The rows of the index, with the signatures' numbers."""
        rows: list[Row] = self._index["rows"]
        return rows

    @property
    def pieces(self) -> Mapping[str, str]:
        """The piece through which each literal is found."""
        pieces: dict[str, str] = self._index["pieces"]
        return pieces

    def lines(self) -> list[tuple[int, LinePattern]]:
        """Return the lines that signatures look for, with their numbers."""
        return [
            (number, LinePattern(name, tuple(literals), regex, "message", level, role))
            for number, name, literals, regex, level, role in self._lines
        ]

    def read(self, number: int) -> Signature:
        """Return a signature."""
        from triage.library.expressions import know
        from triage.library.signature import Signature

        name = self.files[number]
        said = json.loads(self._records[number + 1])
        know(said["regexes"])
        return Signature.from_record(said["record"], f"{self.place}/{name}" if name else self.place)


def checksum(rest: bytes) -> int:
    """Return the checksum of what follows a compiled pack's head."""
    from zlib import crc32

    return crc32(rest)
