"""The signatures of all packs, by id and by what a failure must have for them to match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from triage.hashing import sha256
from triage.library.index import Index, Row
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from triage.library.pack import Pack
    from triage.library.problems import Problem
    from triage.library.signature import Signature
    from triage.patterns import LinePattern


@dataclass(slots=True)
class Entry(Record):
    """A signature that may not have been looked at yet: its id, its pack, and its number there."""

    id: str
    pack: Pack
    number: int
    signature: Signature | None = field(default=None, compare=False)

    def read(self) -> Signature:
        """Return the signature."""
        if self.signature is None:
            self.signature = self.pack.read(self.number)
        return self.signature


class Signatures(Sequence["Signature"]):
    """All signatures by id, made when they are asked for."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Signature: ...

    @overload
    def __getitem__(self, index: slice) -> list[Signature]: ...

    def __getitem__(self, index: int | slice) -> Signature | list[Signature]:
        if isinstance(index, slice):
            return [entry.read() for entry in self._entries[index]]
        return self._entries[index].read()


class Library:
    """Signatures, ready to be matched.

    `problems` says what is wrong with files that were left out. `digest` changes when any signature does.
    """

    def __init__(self, entries: Iterable[Entry] = (), problems: Iterable[Problem] = ()) -> None:
        """Take the entries of all packs, those of a later pack last: it overrides, or switches off, the same id."""
        last = {entry.id: entry for entry in entries}
        there = (entry for entry in last.values() if entry.number not in entry.pack.disabled)
        self.entries = sorted(there, key=lambda entry: entry.id)
        self.problems = list(problems)
        self.signatures: Sequence[Signature] = Signatures(self.entries)

    @cached_property
    def digest(self) -> str:
        """A hash of all signatures, 16 hexadecimal digits."""
        return sha256("".join(entry.pack.digests[entry.number] for entry in self.entries).encode())[:16]

    @cached_property
    def index(self) -> Index:
        """What finds the signatures that may match a failure."""
        rows: list[Row] = []
        pieces: dict[str, str] = {}
        for pack, places in self._packs():
            pieces.update(pack.pieces)
            if list(places) == list(places.values()) and len(places) == len(pack.ids):
                rows += pack.rows
            else:
                rows += [(places[row[0]], *row[1:]) for row in pack.rows if row[0] in places]
        return Index(rows, pieces)

    def _packs(self) -> Iterable[tuple[Pack, dict[int, int]]]:
        """The packs of which something is used, each with the places of its signatures by their numbers."""
        found: dict[int, tuple[Pack, dict[int, int]]] = {}
        for place, entry in enumerate(self.entries):
            found.setdefault(id(entry.pack), (entry.pack, {}))[1][entry.number] = place
        return found.values()

    @cached_property
    def _by_id(self) -> dict[str, Entry]:
        named = sorted(
            (places[number], alias)
            for pack, places in self._packs()
            for number, alias in pack.aliases
            if number in places
        )
        return {
            **{alias: self.entries[place] for place, alias in named},
            **{entry.id: entry for entry in self.entries},
        }

    def get(self, id_or_alias: str) -> Signature | None:
        """Return the signature of that id or alias, None if there is none."""
        entry = self._by_id.get(id_or_alias)
        return entry.read() if entry else None

    def near(self, name: str, limit: int = 3) -> list[str]:
        """Return up to `limit` ids that `name` may have been meant for, the nearest first."""
        from difflib import get_close_matches

        name = name.lower()
        slugs = {entry.id.rpartition("/")[2]: entry.id for entry in self.entries}
        close = get_close_matches(name, list(self._by_id), limit, 0.6)
        close += [slugs[slug] for slug in get_close_matches(name.rpartition("/")[2], list(slugs), limit, 0.6)]
        close += [entry.id for entry in self.entries if name and name in entry.id]
        ids = (self._by_id[found].id for found in close)
        return list(dict.fromkeys(ids))[:limit]

    def line_patterns(self) -> list[LinePattern]:
        """Return the lines that must be looked for so that `log:` matches can be tested.

        One pattern for equal lines of several signatures, with the strongest of their levels: matching asks for the
        text, not for the pattern.
        """
        asked = [
            (places[number], pattern)
            for pack, places in self._packs()
            for number, pattern in pack.lines()
            if number in places
        ]
        found: dict[tuple[tuple[str, ...], str | None], LinePattern] = {}
        for _, pattern in sorted(asked, key=lambda one: one[0]):
            key = (pattern.literals, pattern.regex)
            if key not in found or _stronger(pattern, found[key]):
                found[key] = pattern
        return list(found.values())


def _stronger(one: LinePattern, other: LinePattern) -> bool:
    return one.level is not None and (other.level is None or one.level < other.level)
