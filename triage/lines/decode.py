"""Containers that spread one entry over several physical lines: journal export, `-o verbose`, `-o json-pretty`.

One-line containers (docker's and other JSON lines) are prefixes of a kind and are read where prefixes are peeled.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.lines.repair import raw_of
from triage.model import Entry
from triage.typed import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triage.lines.repair import Physical

Unit: TypeAlias = "Physical | tuple[Entry, int | None]"
"""What becomes one or more lines: a physical line, or a decoded entry with the number of its first line."""

TOO_LONG = "[journalctl -o json left this message out: longer than 4096 bytes; use --all]"

_EXPORT_LINE = regex(rb"[A-Z_][A-Z0-9_]*(?:=|$)")
_EXPORT_NAME = regex(rb"[A-Z_][A-Z0-9_]{0,63}$")
_EXPORT_FIRST = (b"__CURSOR=", b"__REALTIME_TIMESTAMP=")
_VERBOSE_FIRST = regex(rb"\S.*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \S+ \[(?P<cursor>s=[0-9a-f]+;i=[^\]]+)\]$")
_VERBOSE_FIELD = regex(rb"    (?P<name>[A-Z_][A-Z0-9_]*)=")
_PRETTY_FIRST = regex(rb"[\[ \t]*\{$")
_PRETTY_FIELD = regex(rb'\s+"[^"]+"\s*:')
_MAY_BEGIN = frozenset(b" \t[{_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_MARKS_OF_FIRST = (*_EXPORT_FIRST, b"[s=", b"{\n", b"{\r")
_CURSOR_TIME = regex(r";t=([0-9a-f]{1,16})")
_LONGEST_TIME = 20
_LONGEST_ENTRY = 16 << 20


def containers(lines: Sequence[Physical]) -> set[str]:
    """Take some lines of the input; return which containers most of them belong to (`export`, `verbose`, `pretty`)."""
    joined = b"\n".join([*map(raw_of, lines), b""])
    # Without a first line there is no container, and most logs have none of these.
    if not any(mark in joined for mark in _MARKS_OF_FIRST):
        return set()
    counts = {"export": 0, "verbose": 0, "pretty": 0}
    firsts: set[str] = set()
    full = 0
    for line in lines:
        raw = line[2].rstrip(b"\r")
        if not raw:
            continue
        full += 1
        if raw[0] not in _MAY_BEGIN and b"[s=" not in raw:
            continue
        if _EXPORT_LINE.match(raw):
            counts["export"] += 1
            if raw.startswith(_EXPORT_FIRST):
                firsts.add("export")
        elif _VERBOSE_FIELD.match(raw):
            counts["verbose"] += 1
        elif _PRETTY_FIELD.match(raw):
            counts["pretty"] += 1
        elif raw.endswith(b"{") and _PRETTY_FIRST.match(raw):
            firsts.add("pretty")
        elif b"[s=" in raw and _VERBOSE_FIRST.match(raw):
            firsts.add("verbose")
    return {name for name in firsts if counts[name] * 4 >= full}


class Grouper:
    """Puts the lines of entries together. What belongs to no container goes through as it is."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self._open = ""
        self._lines: list[Physical] = []
        self._held = 0
        self._binary = 0
        self._header: bytes | None = None
        self._boundary = False
        self._complete = 0
        self._indent = b""

    def feed(self, lines: list[Physical]) -> list[Unit]:
        """Take the next lines; return the units that are complete."""
        if not self.known and not self._open:
            return list(lines)
        units = list(self._feed(lines))
        units += self._flush()
        return units

    def _feed(self, lines: Iterable[Physical]) -> Iterator[Unit]:
        for line in lines:
            if self._open == "export":
                if self._export(line):
                    continue
                yield from self._close()
            elif self._open == "verbose":
                if line[2].startswith(b"    "):
                    self._keep(line)
                    continue
                yield from self._close()
            elif self._open == "pretty":
                self._keep(line)
                if line[2].rstrip(b"\r,") == self._indent + b"}" or self._held > _LONGEST_ENTRY:
                    yield from self._close()
                continue
            self._open = self._begins(line[2])
            if not self._open:
                yield line
            elif self._open == "export":
                self._export(line)
            else:
                self._keep(line)

    def finish(self) -> list[Unit]:
        """Return what an input that ends in the middle of an entry still gives."""
        return list(self._close())

    def _begins(self, raw: bytes) -> str:
        known = self.known
        if "export" in known and raw.startswith(_EXPORT_FIRST):
            return "export"
        if "verbose" in known and _VERBOSE_FIRST.match(raw):
            return "verbose"
        if "pretty" in known and _PRETTY_FIRST.match(raw.rstrip(b"\r")):
            self._indent = raw.rstrip(b"\r")[:-1].replace(b"[", b"")
            return "pretty"
        return ""

    def _keep(self, line: Physical) -> None:
        self._lines.append(line)
        self._held += line[3]

    def _export(self, line: Physical) -> bool:
        """Take the next line if it is part of the export; values with a length may hold newlines."""
        if self._binary > 0:
            self._binary -= line[3]
        elif self._header is not None:
            self._header += line[2] + b"\n"
            if len(self._header) >= 8:
                self._binary = 8 + int.from_bytes(self._header[:8], "little") + 1 - len(self._header)
                self._header = None
        elif not line[2]:
            self._boundary = True
            self._complete = len(self._lines) + 1
        elif _EXPORT_NAME.match(line[2]):
            self._header = b""
            self._boundary = False
        elif _EXPORT_LINE.match(line[2]):
            self._boundary = False
        elif self._boundary:
            return False
        self._keep(line)
        return True

    def _flush(self) -> Iterator[Unit]:
        """Yield the entries of an open export that are complete, and what has grown beyond any entry."""
        if self._open == "export" and self._complete:
            complete, self._lines = self._lines[: self._complete], self._lines[self._complete :]
            self._complete = 0
            self._held = sum(line[3] for line in self._lines)
            yield from _read_export(complete)
        if self._held > _LONGEST_ENTRY:
            yield from self._close()

    def _close(self) -> Iterator[Unit]:
        lines, self._lines, self._held, self._complete = self._lines, [], 0, 0
        kind, self._open = self._open, ""
        if not lines:
            return
        if kind == "export":
            yield from _read_export(lines)
        elif kind == "verbose":
            yield _read_verbose(lines), lines[0][1]
        elif kind == "pretty":
            raw = b" ".join(line[2].strip() for line in lines).rstrip(b",").lstrip(b"[ ")
            size = sum(line[3] for line in lines)
            special = any(line[4] for line in lines)
            yield lines[0][0], lines[0][1], raw, size, special


def _read_export(lines: list[Physical]) -> Iterator[Unit]:
    from triage.sources.export import parse_export

    starts: list[tuple[int, Physical]] = []
    fed = 0
    for line in lines:
        starts.append((fed, line))
        fed += len(line[2]) + 1
    index = 0
    for entry in parse_export([b"".join(line[2] + b"\n" for line in lines)]):
        while index + 1 < len(starts) and starts[index + 1][0] <= entry.offset:
            index += 1
        first = starts[index][1]
        entry.offset = first[0]
        yield entry, first[1]


def _read_verbose(lines: list[Physical]) -> Entry:
    from triage.sources.export import FIELDS

    values: dict[str, list[str]] = {}
    into: list[str] = []
    blanks = 0
    for line in lines[1:]:
        found = _VERBOSE_FIELD.match(line[2])
        text = line[2].decode("utf-8", "replace")
        if found and (not blanks or not line[2].startswith(b" " * blanks)):
            name = found["name"].decode()
            blanks = found.end()
            into = [text[blanks:]]
            values.setdefault(name, into)
        else:
            into.append(text[blanks:])
    first = _VERBOSE_FIRST.match(lines[0][2])
    cursor = first["cursor"].decode("utf-8", "replace") if first else ""
    time = _CURSOR_TIME.search(cursor)
    fields = {name: "\n".join(value) for name, value in values.items() if name in FIELDS}
    return Entry(fields, int(time[1], 16) if time else 0, cursor or None, lines[0][0])


def entry_of(record: dict[str, Any], offset: int) -> Entry | None:
    """Take a decoded JSON object; return it as a journal entry, None if it is none.

    journalctl writes a value as text, as a list of byte values where it holds control characters, as null where it
    is longer than 4,096 bytes, and as a list of these where the field is repeated (journalctl(1), `-o json`).
    """
    if "__REALTIME_TIMESTAMP" not in record and "__CURSOR" not in record and "_BOOT_ID" not in record:
        return None
    from triage.sources.export import FIELDS

    fields: dict[str, str] = {}
    for name, value in record.items():
        if name in FIELDS:
            text = _value(value)
            if text is not None:
                fields[name] = text
    if "MESSAGE" in record and record["MESSAGE"] is None:
        fields["MESSAGE"] = TOO_LONG
    realtime = str(record.get("__REALTIME_TIMESTAMP", ""))
    cursor = record.get("__CURSOR")
    time = int(realtime) if realtime.isdecimal() and len(realtime) < _LONGEST_TIME else 0
    return Entry(fields, time, cursor if isinstance(cursor, str) else None, offset)


def _value(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        if all(isinstance(each, int) and 0 <= each < 256 for each in value):
            return bytes(value).decode("utf-8", "replace")
        return _value(value[0])
    return str(value) if isinstance(value, (int, float)) else None


def json_object(text: str) -> dict[str, Any] | None:
    """Take text that may be a JSON line, also one of `-o json-sse`; return its object, None if it is none."""
    if not text.startswith("{"):
        if not text.startswith("data: {"):
            return None
        text = text[6:]
    from json import loads

    try:
        record = loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None
