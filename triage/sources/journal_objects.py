"""The objects of a journal file, read as bytes and taken for nothing that they need not be.

What is not exactly as expected raises `OtherwiseError`. Source: systemd's docs/JOURNAL_FILE_FORMAT.md.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left, bisect_right

from triage.records import dataclass
from triage.sources.journal_hash import siphash24
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONLINE = 1
TYPE_DATA, _TYPE_ENTRY, _TYPE_ARRAY = 1, 3, 6

_HEADER = struct.Struct("<8sIIB7x16s16s16s16sQQQQQQQQQQQQQQ")  # up to tail_entry_realtime
_OBJECT = struct.Struct("<BB6xQ")  # type, flags, size
_DATA = struct.Struct("<BB6xQQQQQQQ")  # ..., hash, next in hash, next of field, entry, entry array, number of entries
_ENTRY = struct.Struct("<BB6xQQQQ16sQ")  # ..., seqnum, realtime, monotonic, boot, xor of the hashes; then its items
_ARRAY = struct.Struct("<BB6xQQ")  # ..., the next array; then offsets of entries
_BUCKET = struct.Struct("<QQ")  # the first and the last object of a hash table's bucket
_KEYED_HASH, _ZSTD_USED, _COMPACT = 1 << 2, 1 << 3, 1 << 4
_KNOWN = _KEYED_HASH | _ZSTD_USED | _COMPACT
_MOST_ITEMS = 4096
_MOST_ALIKE = 1000
_ALIGNED = bytes(range(0, 256, 8))


class OtherwiseError(Exception):
    """The file is not as is known here, or not worth it: the journal must be read in the ordinary way."""


@dataclass(slots=True)
class Found:
    """An entry: the id of its sequence and its number in it, its time (microseconds since the epoch), its cursor."""

    sequence: str
    number: int
    realtime: int
    cursor: str


@dataclass(slots=True)
class Data:
    """A DATA object: its offset, where it ends, the offset of its first entry, that of the array of others."""

    offset: int
    end: int
    entry: int
    array: int
    entries: int


class JournalFile:
    """A journal file, opened for reading its bytes. Raises `OtherwiseError` where its format is another one.

    `online` says whether journald had it open, `entries` how many it has, `first` and `last` are the times of the first
    and the last one.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise OtherwiseError(f"{path.name}: {error.strerror}") from None
        self._name = path.name
        try:
            self._read_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _read_header(self) -> None:
        raw = self._bytes(0, _HEADER.size)
        if len(raw) < _HEADER.size or not raw.startswith(b"LPKSHHRH"):
            raise self._otherwise("no journal file")
        header = _HEADER.unpack(raw)
        self.entries: int = header[16]
        self.first, self.last = header[20], header[21]
        incompatible, state, sequence, start, arena, tail = (header[at] for at in (2, 3, 7, 8, 9, 14))
        if incompatible & ~_KNOWN:
            raise self._otherwise(f"incompatible flags {incompatible:#x}")
        if os.fstat(self._fd).st_size < start + arena or start < _HEADER.size:
            raise self._otherwise("cut short")
        self.online = state == ONLINE
        self._sequence = sequence.hex()
        self._key = header[4] if incompatible & _KEYED_HASH else None
        self._buckets, self._most_buckets = header[10], header[11] // _BUCKET.size
        self._compact = bool(incompatible & _COMPACT)
        self._payload = 72 if self._compact else 64
        self._start, self._size = start, start + arena
        # The arena is allocated in advance; behind the last object there is nothing. What journald appends from now on
        # is not looked for here.
        self._end: int = min(tail + self._object(tail)[2], self._size) if tail else start

    @property
    def size(self) -> int:
        """Bytes in use."""
        return self._end

    def count(self, payload: bytes, since: int | None = None, until: int | None = None) -> int:
        """Take `NAME=value`, and a span of time; return how many entries within have it.

        Of files that are too old to be asked it is the number of all entries.
        """
        if self._key is None:
            return self.entries
        if not self._most_buckets:
            raise self._otherwise("no hash table")
        wanted = siphash24(payload, self._key)
        at = self._unpack(_BUCKET, self._buckets + wanted % self._most_buckets * _BUCKET.size)[0]
        for _ in range(_MOST_ALIKE):
            if not at:
                return 0
            row = self._unpack(_DATA, at)
            if row[3] == wanted:
                return self._within(self._data(at), since, until)
            at = row[4]
        raise self._otherwise("a hash table that is full")

    def _within(self, data: Data, since: int | None, until: int | None) -> int:
        """Return how many of the entries that refer to an object lie within a span of time.

        It is one at least, if there are any: where the clock was set back their times are in no order.
        """
        if (since is None or since <= self.first) and (until is None or until >= self.last):
            return data.entries
        offsets = [data.entry] if data.entries else []
        for items in self._arrays(data.array, max(data.entries - 1, 0)):
            offsets += items
        low = 0 if since is None else bisect_left(offsets, since, key=self._time)
        high = len(offsets) if until is None else bisect_right(offsets, until, key=self._time)
        return max(high - low, min(data.entries, 1))

    def _time(self, offset: int) -> int:
        return int(self._unpack(_ENTRY, offset)[4])

    def _object(self, offset: int, *, strict: bool = True) -> tuple[int, int, int]:
        raw = self._bytes(offset, _OBJECT.size)
        if len(raw) < _OBJECT.size:
            if strict:
                raise self._otherwise("an object beyond the end")
            return 0, 0, 0
        kind, flags, length = _OBJECT.unpack(raw)
        return kind, flags, length

    def _unpack(self, form: struct.Struct, offset: int) -> tuple[Any, ...]:
        if offset % 8 or not self._start <= offset < self._size:
            raise self._otherwise("an object at no place for one")
        raw = self._bytes(offset, form.size)
        if len(raw) < form.size:
            raise self._otherwise("an object beyond the end")
        return form.unpack(raw)

    def _bytes(self, offset: int, size: int) -> bytes:
        # Not mapped: a mapped file that is cut short while it is read would end the process (SIGBUS).
        try:
            return os.pread(self._fd, size, offset)
        except (OSError, OverflowError, ValueError) as error:
            raise self._otherwise(str(error)) from None

    def _otherwise(self, why: str) -> OtherwiseError:
        return OtherwiseError(f"{self._name}: {why}")

    def _data(self, offset: int) -> Data:
        row = self._unpack(_DATA, offset)
        return Data(offset, offset + row[2], row[6], row[7], row[8])

    def _entries_of(self, data: Data) -> Iterator[int]:
        """Yield the offsets of the entries that refer to an object; as many as it says, no more and no less."""
        if data.entries:
            yield data.entry
        elif data.entry:
            raise self._otherwise("data with an entry that it does not count")
        for items in self._arrays(data.array, max(data.entries - 1, 0)):
            yield from items

    def _check(self, offset: int) -> None:
        """Raise `OtherwiseError` where libsystemd would lose its way along the entries that refer to an object."""
        data = self._data(offset)
        before = data.entry
        for items in self._arrays(data.array, max(data.entries - 1, 0)):
            offsets = items.tolist()
            odd = items.tobytes()[:: items.itemsize].translate(None, _ALIGNED)
            if odd or before >= offsets[0] or sorted(offsets) != offsets:
                raise self._otherwise("entries are out of order")
            before = offsets[-1]
        if before >= self._size:
            raise self._otherwise("an entry beyond the end")

    def _arrays(self, at: int, left: int) -> Iterator[array[int]]:
        """Yield the offsets in a chain of arrays of entries, `left` of them."""
        code = "I" if self._compact else "Q"
        while at and (left or not self.online):  # journald may add one at this moment
            kind, _, length, following = self._unpack(_ARRAY, at)
            items = array(code)
            room = (length - _ARRAY.size) // items.itemsize
            if kind != _TYPE_ARRAY or room < 1 or at + length > self._size or 0 < following <= at:
                raise self._otherwise("a broken array of entries")
            used = min(room, left)
            raw = self._bytes(at + _ARRAY.size, min(used + 1, room) * items.itemsize)
            more = any(raw[used * items.itemsize :]) or not used
            if len(raw) < used * items.itemsize or (more and not self.online):
                raise self._otherwise("more or fewer entries than the data counts")
            items.frombytes(raw[: used * items.itemsize])
            yield items
            left -= used
            at = following
        if left:
            raise self._otherwise("fewer entries than the data counts")

    def _entry(self, offset: int) -> tuple[Found, set[int]]:
        """Return an entry and the offsets of its data."""
        kind, _, length, number, realtime, monotonic, boot, xor = self._unpack(_ENTRY, offset)
        width, code = (4, "I") if self._compact else (16, "QQ")
        items = (length - _ENTRY.size) // width
        if kind != _TYPE_ENTRY or not 0 < items <= _MOST_ITEMS or offset + length > self._size:
            raise self._otherwise("a broken entry")
        raw = self._bytes(offset + _ENTRY.size, items * width)
        if len(raw) < items * width:
            raise self._otherwise("an entry that is cut short")
        refers = struct.unpack(f"<{code * items}", raw)
        # sd_journal_get_cursor(3)
        cursor = f"s={self._sequence};i={number:x};b={boot.hex()};m={monotonic:x};t={realtime:x};x={xor:x}"
        return Found(self._sequence, number, realtime, cursor), set(refers if self._compact else refers[::2])
