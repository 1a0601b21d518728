"""Finds the signatures that may match a failure, without asking each of them.

Literals are found through one piece of four characters each: the pieces of a failure's text are looked up in a dict,
and only literals whose piece is there are searched for. So the cost grows with the text, not with the library.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from triage.typed import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Names: TypeAlias = Sequence[str] | None

Row: TypeAlias = "tuple[int, Names, Names, Names, Names]"
"""A signature's number and one of the alternatives of which it needs one: for each kind of trace, names of which a
matching failure has at least one; None where any may do. These are last parts of exception types, literals in folded
text, base names of frames' files, kinds of failures.
"""
_GRAM = 4


class Index:
    """Numbers of signatures by what a failure must have."""

    def __init__(self, rows: Sequence[Row], pieces: Mapping[str, str] | None = None) -> None:
        """Take the rows of all signatures; and the piece through which each literal is found, where that is known."""
        self._rows = rows
        self._by_text: dict[str, list[tuple[str, int]]] = {}
        self._by_type: dict[str, list[int]] = {}
        self._by_file: dict[str, list[int]] = {}
        self._by_kind: dict[str, list[int]] = {}
        self._any: list[int] = []
        pieces = rarest(row[2] for row in rows) if pieces is None else pieces
        for at, (_, types, texts, files, kinds) in enumerate(rows):
            for literal in texts or ():
                self._by_text.setdefault(pieces[literal], []).append((literal, at))
            for names, groups in ((types, self._by_type), (files, self._by_file), (kinds, self._by_kind)):
                for name in names or ():
                    groups.setdefault(name, []).append(at)
            if not (types or texts or files or kinds):
                self._any.append(at)

    def fitting(
        self, types: Iterable[str], text: str, files: Iterable[str], kind: str, *, whole: bool = True
    ) -> list[int]:
        """Return signatures of which every kind of trace that they need is there, in order.

        `types` are last parts of exception types, `text` is folded, `files` are base names; unless they are the `whole`
        stack, none of them is needed.
        """
        types, files = frozenset(types), frozenset(files)
        hits = self._hits(text)
        for groups, names in ((self._by_type, types), (self._by_file, files), (self._by_kind, (kind,))):
            for name in names:
                hits.update(row for row in groups.get(name, ()) if not self._rows[row][2])
        hits.update(self._any)
        there = files if whole else None
        return sorted({self._rows[row][0] for row in hits if self._fits(self._rows[row], types, there, kind)})

    def related(self, types: Iterable[str], files: Iterable[str]) -> list[int]:
        """Return signatures that ask for one of these exception types, or for a frame in one of these files."""
        rows = {row for name in types for row in self._by_type.get(name, ())}
        rows.update(row for name in files for row in self._by_file.get(name, ()))
        return sorted({self._rows[row][0] for row in rows})

    def near(self, types: Iterable[str], text: str, files: Iterable[str], limit: int) -> list[int]:
        """Return up to `limit` signatures of which a text or a file is there, those with the most traces first."""
        types = frozenset(types)
        traces = Counter(self._hits(text))
        traces.update(row for name in files for row in self._by_file.get(name, ()))
        found: Counter[int] = Counter()
        for row, count in traces.items():
            number, needed = self._rows[row][:2]
            found[number] = max(found[number], 2 * count + (not types.isdisjoint(needed or ())))
        return [number for number, _ in sorted(found.items(), key=lambda one: (-one[1], one[0]))[:limit]]

    def _hits(self, text: str) -> set[int]:
        found: set[int] = set()
        for gram in grams(text) & self._by_text.keys():
            found.update(row for literal, row in self._by_text[gram] if literal in text)
        return found

    @staticmethod
    def _fits(row: Row, types: frozenset[str], files: frozenset[str] | None, kind: str) -> bool:
        return (
            (not row[1] or not types.isdisjoint(row[1]))
            and (not row[3] or files is None or not files.isdisjoint(row[3]))
            and (not row[4] or kind in row[4])
        )


def grams(text: str) -> set[str]:
    """Return all pieces of four characters of a text."""
    return set(_pieces(text))


def _pieces(text: str) -> list[str]:
    return [text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)]


def rarest(several: Iterable[Names]) -> dict[str, str]:
    """Take the literals of all rows; return for each the piece of it that is in the fewest of all."""
    pieces = {literal: _pieces(literal) for texts in several for literal in texts or ()}
    seen = Counter(chain.from_iterable(map(set, pieces.values())))
    return {literal: min(own, key=seen.__getitem__) for literal, own in pieces.items()}
