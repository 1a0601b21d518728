"""Journal files as bytes: where entries stand whose message holds one of many literals.

Reading each message through libsystemd costs most of the time that a large journal takes. Here the bytes of a file are
scanned instead, and a hit is led back to the DATA object that holds it and to the entries that refer to that. All that
this gives are cursors; text is always read through libsystemd. What is not exactly as expected raises `OtherwiseError`,
and the journal is read without this.
"""

from __future__ import annotations

from itertools import pairwise

from triage._engine import finder
from triage.sources.archive import zstd_module
from triage.sources.export import MAX_VALUE
from triage.sources.journal_objects import TYPE_DATA, Data, Found, JournalFile, OtherwiseError
from triage.typed import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triage.sources.query import Group

ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"

_ZSTD = 4  # of an object's flags
_BLOCK = 512 << 10
_MESSAGE = b"MESSAGE="
_REACHES = (4 << 10, 64 << 10, MAX_VALUE + (8 << 10))


class Search:
    """What to look for: literals, and the entries that match one of the groups.

    After `left` hits and entries it is no longer worth it.
    """

    def __init__(self, needles: Iterable[bytes], groups: Sequence[Group], left: int) -> None:
        self.groups = groups
        self.matches = {f"{name}={value}".encode() for group in groups for name, value in group}
        literals = [*needles, ZSTD_MAGIC, *self.matches]
        self.find = finder(literals)
        self.longest = max(map(len, literals))
        self.left = left

    def spend(self, count: int) -> None:
        """Count hits or entries. Raises `OtherwiseError` where there are too many."""
        self.left -= count
        if self.left < 0:
            raise OtherwiseError("too many messages may matter")


class RawFile(JournalFile):
    """A journal file that can be searched."""

    def most(self, groups: Sequence[Group], since: int | None = None, until: int | None = None) -> int:
        """Return how many entries of a span of time match one of the groups, at most; nothing is searched for that."""
        if not groups:
            return self.entries
        found = 0
        for group in groups:
            counts: dict[str, int] = {}
            for name, value in group:
                counts[name] = counts.get(name, 0) + self.count(f"{name}={value}".encode(), since, until)
            found += min(counts.values())
        return min(found, self.entries)

    def find(self, search: Search) -> list[Found]:
        """Return the entries that match and whose message holds a literal, in the file's order."""
        find, groups, matches = search.find, search.groups, search.matches
        places: dict[bytes, set[int]] = {match: set() for match in matches}
        hits: dict[int, Data] = {}
        for end, told in self._hits(search):
            search.spend(1)
            offset = end - len(told) - self._payload
            if told == ZSTD_MAGIC:
                payload = self._unpacked(offset)
                if payload in places:
                    places[payload].add(offset)
                elif payload.startswith(_MESSAGE) and find(payload[len(_MESSAGE) :]):
                    hits[offset] = self._data(offset)
            elif told and self._is_data(offset, len(told)):
                places[told].add(offset)
            elif (data := self._holder(end)) is not None:
                hits[data.offset] = data
        for offset in set().union(*places.values()):
            self._check(offset)
        offsets = [_offsets(group, places) for group in groups]
        found: dict[int, Found] = {}
        for data in hits.values():
            search.spend(data.entries)
            for at in self._entries_of(data):
                entry, items = self._entry(at)
                if data.offset not in items:
                    raise self._otherwise("an entry that does not refer to its data")
                if not groups or any(all(not values.isdisjoint(items) for values in terms) for terms in offsets):
                    found[at] = entry
        ordered = [found[at] for at in sorted(found)]
        if any(one.number >= other.number or one.realtime > other.realtime for one, other in pairwise(ordered)):
            raise self._otherwise("entries are out of order")
        return ordered

    def _hits(self, search: Search) -> Iterator[tuple[int, bytes]]:
        """Yield where hits end, rising, and the match or the magic number that is the hit, if it is one."""
        told = (ZSTD_MAGIC, *search.matches)
        before = 0
        for at in range(self._start, self._end, _BLOCK):
            low = max(self._start, at - search.longest)
            block = self._bytes(low, min(at + _BLOCK, self._end) - low)
            for end in search.find(block):
                if low + end > before:
                    before = low + end
                    which = [one for one in told if block.startswith(one, max(end - len(one), 0), end)]
                    yield before, max(which, key=len, default=b"")

    def _is_data(self, offset: int, size: int) -> bool:
        """Whether a DATA object begins here whose payload, not compressed, has this size in bytes."""
        if offset < self._start or offset % 8:
            return False
        kind, flags, length = self._object(offset, strict=False)
        return kind == TYPE_DATA and not flags and length == self._payload + size

    def _holder(self, end: int) -> Data | None:
        """Return the object of the message in which a hit ends, None where it is no message's."""
        upto = end
        for reach in _REACHES:
            low = max(self._start, end - reach)
            window = self._bytes(low, end - low)
            while (at := window.rfind(_MESSAGE, 0, upto - low)) >= 0:
                upto = low + at + len(_MESSAGE) - 1
                offset = low + at - self._payload
                if offset < self._start or offset % 8:
                    continue
                kind, flags, length = self._object(offset, strict=False)
                if kind != TYPE_DATA or flags or length <= self._payload or offset + length > self._size:
                    continue
                data = self._data(offset)
                if data.end >= end:
                    return data
                if data.entries and self._referred(data):
                    return None  # the hit is in what comes behind this message
            upto = min(upto, low + len(_MESSAGE) - 1)
            if low == self._start:
                break
        return None

    def _referred(self, data: Data) -> bool:
        """Whether this is a DATA object indeed, and not what a program printed that looks like one."""
        try:
            return data.offset in self._entry(data.entry)[1]
        except OtherwiseError:
            return False

    def _unpacked(self, offset: int) -> bytes:
        """Return the payload of the compressed object that begins here, nothing where there is none."""
        if offset < self._start or offset % 8:
            return b""
        kind, flags, length = self._object(offset, strict=False)
        if kind != TYPE_DATA or flags != _ZSTD or not self._payload < length <= self._size - offset:
            return b""
        return _decompress(self._bytes(offset + self._payload, length - self._payload))


def _offsets(group: Group, places: dict[bytes, set[int]]) -> list[set[int]]:
    """Return, for each field of a group, the offsets of the data of which an entry must refer to one."""
    terms: dict[str, set[int]] = {}
    for name, value in group:
        terms.setdefault(name, set()).update(places[f"{name}={value}".encode()])
    return list(terms.values())


def _decompress(data: bytes) -> bytes:
    """Unpack zstd, as much of it as is kept of a value."""
    module = zstd_module()
    if module is None:
        raise OtherwiseError("compressed data, and backports.zstd is not installed")
    try:
        text: bytes = module.ZstdDecompressor().decompress(data, MAX_VALUE + 4096)
    except module.ZstdError as error:
        raise OtherwiseError(f"compressed data: {error}") from None
    return text
