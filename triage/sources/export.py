"""Parser of systemd's journal export format: what `journalctl -o export` prints and journal-remote reads.

An entry is a run of fields and ends with an empty line. A field is `NAME=text` and a newline or, where its value holds
a newline or control characters, `NAME`, a newline, the value's length as 64 bits little-endian, the value, a newline.
Source: systemd's docs/JOURNAL_EXPORT_FORMATS.md and systemd.journal-fields(7).
"""

from __future__ import annotations

from triage.model import Entry
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIELDS = frozenset(
    {
        "MESSAGE",
        "MESSAGE_ID",
        "PRIORITY",
        "ERRNO",
        "EXECUTABLE",
        "SYSLOG_IDENTIFIER",
        "CONTAINER_NAME",
        "_PID",
        "_UID",
        "_COMM",
        "_CMDLINE",
        "_TRANSPORT",
        "_HOSTNAME",
        "_BOOT_ID",
        "_LINE_BREAK",
        "_SYSTEMD_UNIT",
        "_SYSTEMD_USER_UNIT",
        "_SYSTEMD_INVOCATION_ID",
        "UNIT",
        "USER_UNIT",
        "INVOCATION_ID",
        "USER_INVOCATION_ID",
        "EXIT_CODE",
        "EXIT_STATUS",
        "COMMAND",
        "UNIT_RESULT",
        "JOB_RESULT",
        "JOB_TYPE",
        "N_RESTARTS",
        "N_DROPPED",
        "OBJECT_SYSTEMD_UNIT",
        "OBJECT_SYSTEMD_USER_UNIT",
        "COREDUMP_UNIT",
        "COREDUMP_USER_UNIT",
        "COREDUMP_PID",
        "COREDUMP_SIGNAL",
        "COREDUMP_SIGNAL_NAME",
        "COREDUMP_COMM",
    }
)
"""The fields that triage reads; the others of an entry (twenty on average) are passed over."""

MAX_VALUE = 1 << 20
"""Bytes kept of one value; journald splits lines at 48 KiB, native messages can be longer."""

_MAX_LENGTH = 768 << 20  # journald refuses longer values (DATA_SIZE_MAX), so a greater length is garbage
_MAX_NAME = 64
_UNSEEN = ("", "")
_NAME = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def parse_export(chunks: Iterable[bytes], fields: frozenset[str] | None = FIELDS) -> Iterator[Entry]:
    """Take the bytes of an export stream, cut anywhere; yield its entries, each as soon as its empty line is read.

    Only `fields` are kept (None keeps all), of a repeated field the first value, of a value its first `MAX_VALUE`
    bytes, decoded as UTF-8 with U+FFFD for what is broken. `offset` is the byte at which the entry starts. What cannot
    be an export is passed over: nothing is raised on any input, and no more than a few MiB are held.
    """
    stream = ExportStream(fields)
    for chunk in chunks:
        yield from stream.feed(chunk)
    yield from stream.finish()


class ExportStream:
    """Takes an export stream as it comes; see `parse_export`."""

    def __init__(self, fields: frozenset[str] | None = FIELDS) -> None:
        """Take the names of the fields to keep, None for all."""
        self._parser = _Parser(fields)
        self._rest = b""
        self._waiting: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Entry]:
        """Take the next bytes; yield the entries that they complete."""
        parser = self._parser
        self._waiting.append(chunk)
        self._size += len(chunk)
        # Joining costs as much as what is held back, so wait until the parser can move on or enough has come.
        if self._size < parser.need and not (parser.need_line and b"\n" in chunk):
            return
        data = b"".join((self._rest, *self._waiting))
        self._waiting, self._size = [], 0
        yield from parser.feed(data)
        self._rest = data[parser.used :]

    def finish(self) -> Iterator[Entry]:
        """Nothing more comes: yield what a cut-off end still gives."""
        yield from self._parser.finish(b"".join((self._rest, *self._waiting)))


class _Parser:
    """The state between two chunks: the open entry, and what the next chunk must bring."""

    def __init__(self, fields: frozenset[str] | None) -> None:
        self.used = 0
        self.need = 1
        self.need_line = True
        self._names = {name.encode(): name for name in fields or ()}
        self._all = fields is None
        # Most fields of an entry are those of the entry before, word for word.
        self._seen: dict[bytes, tuple[str, str] | None] = {}
        self._base = 0
        self._skip = 0
        self._skip_line = False
        self._after_value = False
        self._clear()

    def _clear(self) -> None:
        self._fields: dict[str, str] = {}
        self._realtime = 0
        self._cursor: str | None = None
        self._start = -1

    def feed(self, data: bytes) -> Iterator[Entry]:
        """Take what was left over and what came; yield the entries that are now complete. `used` bytes are done."""
        position = 0
        blank = -2
        size = len(data)
        self.need, self.need_line = 1, True
        while position < size:
            if self._skip or self._skip_line or self._after_value:
                position = self._pass_over(data, position)
                continue
            if data[position] == 10:
                position += 1
                if entry := self._take():
                    yield entry
                continue
            if self._start < 0:
                self._start = self._base + position
            if blank != -1 and blank < position:
                blank = data.find(b"\n\n", position)
            end = self._read_block(data, position, blank) if blank > position else position
            if end == position:
                end = self._read_field(data, position)
                if end < 0:
                    break
            position = end
        self.used = position
        self._base += position

    def finish(self, data: bytes) -> Iterator[Entry]:
        """Take the bytes left over at the end of the stream; yield the entries that a cut-off end still gives."""
        yield from self.feed(data)
        tail = data[self.used :]
        name, newline, value = tail.partition(b"\n")
        if not newline:
            name, _, value = tail.partition(b"=")
            self._keep(name, value)
        elif value[8:]:
            self._keep(name, value[8:])
        if entry := self._take():
            yield entry

    def _take(self) -> Entry | None:
        found = bool(self._fields or self._realtime or self._cursor)
        entry = Entry(self._fields, self._realtime, self._cursor, self._start) if found else None
        self._clear()
        return entry

    def _read_block(self, data: bytes, position: int, blank: int) -> int:
        """Read text fields up to the empty line after `blank`; return where it stopped, before a binary field."""
        if self._all or blank - position > MAX_VALUE:
            return position
        fields, seen = self._fields, self._seen
        lines = data[position:blank].split(b"\n")
        for index, line in enumerate(lines):
            pair = seen.get(line, _UNSEEN)
            if pair is None:
                continue
            if pair is _UNSEEN:
                pair = self._pair(line)
                if pair is _UNSEEN:
                    return position + sum(map(len, lines[:index])) + index
                if pair is None:
                    continue
            if pair[0] not in fields:
                fields[pair[0]] = pair[1]
        return blank + 1

    def _pair(self, line: bytes) -> tuple[str, str] | None:
        """Return a text field's name and value, None if it is not wanted, `_UNSEEN` for a binary field's name."""
        name, equals, value = line.partition(b"=")
        if not equals:
            return _UNSEEN
        if name[:2] == b"__":
            self._keep(name, value)
            return None
        key = self._names.get(name)
        pair = None if key is None else (key, value.decode("utf-8", "replace"))
        if key != "MESSAGE" and len(line) < 200:
            if len(self._seen) > 4096:
                self._seen.clear()
            self._seen[line] = pair
        return pair

    def _read_field(self, data: bytes, position: int) -> int:
        """Read one field; return where the next starts, or -1 if more bytes are needed."""
        newline = data.find(b"\n", position)
        if newline < 0:
            if len(data) - position <= MAX_VALUE + _MAX_NAME + 1:
                self.need = max(1, len(data) - position)
                return -1
            name, _, value = data[position : position + MAX_VALUE + _MAX_NAME + 1].partition(b"=")
            self._keep(name, value)
            self._skip_line = True
            return position + MAX_VALUE + _MAX_NAME + 1
        equals = data.find(b"=", position, newline)
        if equals >= 0:
            self._keep(data[position:equals], data[equals + 1 : min(newline, equals + 1 + MAX_VALUE)])
            return newline + 1
        name = data[position:newline]
        if len(name) > _MAX_NAME or not _NAME.issuperset(name):
            return newline + 1
        start = newline + 9
        if len(data) < start:
            return self._wait(start - len(data))
        length = int.from_bytes(data[newline + 1 : start], "little")
        if length > _MAX_LENGTH:
            return newline + 1
        kept = min(length, MAX_VALUE)
        if len(data) < start + kept:
            return self._wait(start + kept - len(data))
        self._keep(name, data[start : start + kept])
        self._skip = length - kept
        self._after_value = True
        return start + kept

    def _wait(self, size: int) -> int:
        self.need, self.need_line = size, False
        return -1

    def _pass_over(self, data: bytes, position: int) -> int:
        """Skip the rest of a value that was too long, or the newline that ends a binary value."""
        if self._skip:
            step = min(self._skip, len(data) - position)
            self._skip -= step
            return position + step
        if self._skip_line:
            newline = data.find(b"\n", position)
            self._skip_line = newline < 0
            return len(data) if newline < 0 else newline + 1
        self._after_value = False
        return position + 1 if data[position] == 10 else position

    def _keep(self, name: bytes, value: bytes) -> None:
        key = self._names.get(name)
        if key is None:
            if name == b"__REALTIME_TIMESTAMP":
                self._realtime = self._realtime or (int(value) if value.isdigit() and len(value) < 20 else 0)
            elif name == b"__CURSOR":
                self._cursor = self._cursor or value[:1024].decode("utf-8", "replace")
            elif self._all and 0 < len(name) <= _MAX_NAME and _NAME.issuperset(name) and name[:2] != b"__":
                key = name.decode()
        if key is not None and key not in self._fields:
            self._fields[key] = value[:MAX_VALUE].decode("utf-8", "replace")
