"""Makes `Line`s of physical lines and journal entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from triage.lines.decode import entry_of, json_object
from triage.lines.journal import Speakers
from triage.lines.learn import JSON
from triage.lines.loggers import Loggers
from triage.lines.prefixes import Learned, Peeler, unit_in
from triage.lines.repair import LONGEST_TEXT, decode, pieces, plain
from triage.lines.said import Merger, Said
from triage.model import Line

if TYPE_CHECKING:
    from triage.lines.clock import Clock
    from triage.lines.repair import Physical
    from triage.model import Entry

_KERNEL_STAMP = re.compile(r"\[ *\d+\.\d{6}\] ")
_BETWEEN = re.compile(r"-- (?:Boot [0-9a-f]{32} --|Reboot --|No entries --|Logs begin at .*|Journal begins at .*)$")
_OTHER = Said(origin="other")
_KEPT = 8192
_LONGEST_HELD = 1 << 20


class Place(NamedTuple):
    """Where a line stands in the input."""

    offset: int
    number: int | None
    cursor: str | None


class Known(NamedTuple):
    """What is known of a line before its own prefixes are read."""

    said: Said
    time: float | None
    zoned: bool


class Builder:
    """Builds the lines of one source, in order; keeps what one line says of the next (pieces, margins)."""

    def __init__(self, source: str, clock: Clock) -> None:
        self.learned = Learned()
        self.clock = clock
        self._source = source
        self._merger = Merger()
        self._peeler = Peeler(self.learned, clock, self._merger)
        self._speakers = Speakers()
        self._loggers = Loggers(clock)
        self._nothing = Known(Said(stream=source), None, False)
        self._json = False
        self._margin = 0
        self._above = self._nothing
        self._record: Said | None = None
        self._held: dict[str, tuple[Place, Known, list[str]]] = {}
        self._rests: dict[Said, Said] = {}

    def refresh(self) -> None:
        """Take note that `learned` has changed."""
        self._json = JSON in self.learned.rows
        self._peeler.refresh()

    def text(self, line: Physical, out: list[Line]) -> None:
        """Take a physical line; append its lines to `out`."""
        text = decode(line)
        place = Place(line.offset, line.number, None)
        if self._margin and text[:1] in ("", " ", "-") and self._between(text, place, out):
            return
        peeler = self._peeler
        peeler.peel(text, 0, *self._nothing)
        known = self._nothing
        if peeler.cut is not None:
            known = Known(peeler.cut_said, peeler.outer_time, peeler.zoned)
            held = self._hold(text[peeler.cut :], known, place, peeler.partial)
            if held is None:
                return
            if held[0] is not place:
                place, known, text = held
                peeler.peel(text, 0, *known)
        elif peeler.margin:
            self._margin = peeler.margin
            known = self._above = Known(peeler.outer, peeler.outer_time, peeler.zoned)
        if self._json and text[peeler.rest : peeler.rest + 1] in ("{", "d") and self._object(text, place, out):
            return
        self._record = self._emit(text, known.said, place, None, out)

    def entry(self, entry: Entry, number: int | None, out: list[Line]) -> None:
        """Take a journal entry; append its lines to `out`. An entry without a message has none."""
        fields = entry.fields
        message = fields.get("MESSAGE")
        if message is None:
            return
        said = self._speakers.of(entry)
        known = Known(said, entry.realtime / 1e6 if entry.realtime else None, entry.realtime > 0)
        place = Place(entry.offset, number, entry.cursor)
        text = plain(message)
        if said.origin == "service":
            if self._held or "_LINE_BREAK" in fields:
                held = self._hold(text, known, place, fields.get("_LINE_BREAK") == "line-max")
                if held is None:
                    return
                place, known, text = held
            self._block(text, known, None, place, out)
            return
        ident = fields.get("SYSLOG_IDENTIFIER")
        if said.origin == "kernel" and ident not in (None, "", "kernel"):
            # Of a line written to /dev/kmsg journald makes "NVRM: " the identifier.
            text = f"{ident}: {text}"
        for each in text.rstrip("\n").split("\n"):
            self._append(each, known, place, out)
            if said.origin != "other":
                out[-1].fields = fields

    def finish(self, out: list[Line]) -> None:
        """Append what was still held back, waiting for more of its line."""
        held, self._held = self._held, {}
        for place, known, texts in held.values():
            self._block("".join(texts), known, None, place, out)

    def _between(self, text: str, place: Place, out: list[Line]) -> bool:
        """Read what journalctl prints without a prefix: further lines of a message, under its margin, and notes."""
        margin = self._margin
        if text[:margin].isspace() and len(text) >= margin:
            self._peeler.peel(text, margin, *self._above)
            self._record = self._emit(text, self._above.said, place, self._record, out)
            return True
        if _BETWEEN.match(text):
            self._append(text, Known(_OTHER, None, False), place, out)
            return True
        return False

    def _hold(self, text: str, known: Known, place: Place, partial: bool) -> tuple[Place, Known, str] | None:
        """Join the pieces of a line; return the whole, with what is known of its first piece, or None if more follows."""
        stream = known.said.stream
        held = self._held.get(stream)
        if partial:
            if held is None:
                self._held[stream] = (place, known, [text])
            elif len(held[2]) * len(held[2][0]) < _LONGEST_HELD:
                held[2].append(text)
            return None
        if held is None:
            return place, known, text
        del self._held[stream]
        return held[0], held[1], "".join(held[2]) + text

    def _object(self, text: str, place: Place, out: list[Line]) -> bool:
        """Read the text after the prefixes as a JSON line, if it is one that holds a message."""
        peeler = self._peeler
        start = text.find("{", peeler.rest, peeler.rest + 7)
        record = json_object(text[start:]) if start >= 0 else None
        if record is None:
            return False
        known = Known(peeler.outer, peeler.outer_time, peeler.zoned)
        if not known.said.named:
            entry = entry_of(record, place.offset)
            if entry is not None:
                self.entry(entry, place.number, out)
                return True
        logged = self._loggers.read(record)
        if logged is None:
            return False
        said = self._merger.add(known.said, logged.said)
        if known.time is None:
            known = Known(said, logged.time, logged.zoned)
        else:
            known = Known(said, known.time, known.zoned)
        held = self._hold(plain(logged.text), known, place, logged.partial)
        if held is not None:
            place, known, whole = held
            self._block(whole, known, known.said if logged.record else None, place, out)
        return True

    def _block(self, text: str, known: Known, record: Said | None, place: Place, out: list[Line]) -> None:
        """Build the lines of a text that was written at once. `record` says that a record begins with its first line."""
        peeler = self._peeler
        lines = text.rstrip("\n").split("\n")
        first = len(out)
        current = None
        for line in lines:
            peeler.peel(line, 0, *known)
            if self._json and line[peeler.rest : peeler.rest + 1] == "{" and self._nested(line, place, out):
                continue
            current = self._emit(line, known.said, place, current, out)
        if record is not None and len(out) > first:
            out[first].record = True

    def _nested(self, line: str, place: Place, out: list[Line]) -> bool:
        """Read a logger's JSON line inside an entry or inside docker's JSON line, one level deep."""
        peeler = self._peeler
        record = json_object(line[peeler.rest :])
        logged = self._loggers.read(record) if record is not None else None
        if logged is None:
            return False
        known = Known(self._merger.add(peeler.outer, logged.said), peeler.outer_time, peeler.zoned)
        if known.time is None:
            known = Known(known.said, logged.time, logged.zoned)
        first = len(out)
        current = None
        for each in plain(logged.text).rstrip("\n").split("\n"):
            peeler.peel(each, 0, *known)
            current = self._emit(each, known.said, place, current, out)
        if logged.record:
            out[first].record = True
        return True

    def _emit(self, text: str, base: Said, place: Place, current: Said | None, out: list[Line]) -> Said | None:
        """Append the lines of a text that was just peeled, beginning with `base`.

        `current` is what the last record said, for lines that were written together with it; returns the new one.
        """
        peeler = self._peeler
        said, time, zoned = peeler.said, peeler.time, peeler.zoned
        body = text[peeler.rest :]
        if peeler.suffix is not None and "[repeated" in body:
            body = peeler.suffix.sub("", body)
        if said.record:
            current = self._rest(said)
        elif current is not None and said is base:
            said = current
        if "%" not in body and "\r" not in body and "\\n" not in body and len(body) < LONGEST_TEXT and body.find("[20", 1) < 0:
            self._append(body, Known(said, time, zoned), place, out)
            return current
        first, *more = pieces(body)
        outer = Known(peeler.outer, peeler.outer_time, peeler.zoned)
        self._append(first, Known(said, time, zoned), place, out)
        for part in more:
            peeler.peel(part, 0, *outer, level=1)
            said = peeler.said
            if said.record:
                current = self._rest(said)
            elif current is not None and said is outer.said:
                said = current
            if peeler.time is not None:
                time, zoned = peeler.time, peeler.zoned
            self._append(part[peeler.rest :], Known(said, time, zoned), place, out)
        return current

    def _append(self, text: str, known: Known, place: Place, out: list[Line]) -> None:
        said, time, zoned = known
        unit = said.unit
        if said.origin == "manager" and unit is None:
            unit = unit_in(text)
        elif said.origin == "kernel":
            text = _KERNEL_STAMP.sub("", text, count=1) if text[:1] == "[" else text
        out.append(
            Line(
                text.rstrip(), said.stream, place.offset, self._source, place.number, place.cursor, time, zoned,
                said.host, unit, said.invocation, said.pid, said.ident, said.rank, said.record, said.severity,
                said.origin,
            )
        )  # fmt: skip

    def _rest(self, said: Said) -> Said:
        """Return what holds for the further lines of a record that `said` began."""
        rest = self._rests.get(said)
        if rest is None:
            if len(self._rests) > _KEPT:
                self._rests.clear()
            rest = self._rests[said] = Said(
                said.stream, said.host, said.unit, said.invocation, said.pid, said.ident, said.rank, said.trust,
                said.severity, said.origin, said.named,
            )  # fmt: skip
        return rest

    def time_in(self, text: str) -> float | None:
        """Take a JSON line; return the time that it says."""
        start = text.find("{", 0, 7)
        record = json_object(text[start:]) if start >= 0 else None
        if record is None:
            return None
        entry = entry_of(record, 0)
        if entry is not None:
            return entry.realtime / 1e6 if entry.realtime else None
        logged = self._loggers.read(record)
        return logged.time if logged else None
