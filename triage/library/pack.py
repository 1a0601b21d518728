"""A compiled pack of signatures: what every run needs of them, what a failure needs, and each signature by itself.

It is kept as lines of JSON, so that only what is asked for is parsed: the head, the index, then a signature a line.
"""

from __future__ import annotations

import json
from functools import cached_property

from triage.hashing import sha256
from triage.library.index import Row, rarest
from triage.patterns import LinePattern
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from triage.library.problems import Problem
    from triage.library.signature import Signature


class Pack:
    """The signatures of one folder or file, sorted by id; a signature's number is its place there.

    `files` are names below the folder `place`, empty for a pack of one file. Raises `ValueError`, `KeyError`,
    `TypeError` or `AttributeError` for text that is no compiled pack.
    """

    def __init__(self, raw: bytes, place: str, *, shipped: bool = False) -> None:
        """Take what `compiled` made, and where the pack lies; `shipped` with triage it is not checked for damage."""
        head, _, self._rest = raw.partition(b"\n")
        said = json.loads(head)
        if not shipped and said["sum"] != _sum(self._rest):
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


def compiled(signatures: Sequence[tuple[str, Signature]], problems: Sequence[Problem], key: str = "") -> bytes:
    """Take signatures, each with its file's name in the pack, and the problems of others; return them as `Pack` reads
    them. `key` says which state of the files they are.
    """
    from triage.library.atoms import atoms, line_patterns
    from triage.library.literals import literals_of
    from triage.library.spoken import spoken

    signatures = sorted(signatures, key=lambda one: one[1].id)
    texts = [json.dumps(signature.record, ensure_ascii=False) for _, signature in signatures]
    rows: list[Row] = []
    lines: list[list[Any]] = []
    for number, (_, signature) in enumerate(signatures):
        rows += [(number, *one) for one in atoms(signature.match)]
        lines += [[number, p.id, p.literals, p.regex, p.level, p.role] for p in line_patterns(signature)]
    index = {"rows": rows, "pieces": rarest(row[2] for row in rows)}
    records = []
    for (_, signature), text in zip(signatures, texts, strict=True):
        regexes = {regex: (literals_of(regex), spoken(regex)) for regex in _regexes(signature.record)}
        records.append(f'{{"record":{text},"regexes":{_json(regexes)}}}')
    rest = "\n".join([_json(index), *records]).encode()
    head = {
        "key": key,
        "ids": [signature.id for _, signature in signatures],
        "files": [name for name, _ in signatures],
        "digests": [sha256(text.encode())[:16] for text in texts],
        "disabled": [number for number, (_, signature) in enumerate(signatures) if signature.disabled],
        "aliases": [(number, alias) for number, (_, one) in enumerate(signatures) for alias in one.aliases],
        "problems": [[p.file, p.line, p.field, p.message, p.hint, p.column] for p in problems],
        "lines": lines,
        "sum": _sum(rest),
    }
    return b"\n".join([_json(head).encode(), rest])


def _regexes(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value[key] for key in ("message_re", "line_re") if key in value)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _regexes(one)


def _sum(rest: bytes) -> int:
    from zlib import crc32

    return crc32(rest)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
