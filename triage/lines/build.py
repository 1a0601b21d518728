"""Makes `Line`s of physical lines and journal entries."""

from __future__ import annotations

from functools import cached_property

from triage.lazy import regex
from triage.lines.clock import sensible
from triage.lines.decode import entry_of, json_object
from triage.lines.emit import Emitter
from triage.lines.learn import JSON
from triage.lines.prefixes import Peeler
from triage.lines.repair import decode, plain
from triage.lines.rows import Learned, rows
from triage.lines.said import Merger, Said
from triage.sources import DIAGNOSIS
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.lines.clock import Clock
    from triage.lines.emit import Place
    from triage.lines.journal import Speakers
    from triage.lines.loggers import Logged, Loggers
    from triage.lines.prefixes import Known
    from triage.lines.repair import Physical
    from triage.model import Entry, Line

_BETWEEN = regex(r"-- (?:Boot [0-9a-f]{32} --|Reboot --|No entries --|Logs begin at .*|Journal begins at .*)$")
_OTHER = Said(origin="other")
_LONGEST_HELD = 1 << 20


class Builder:
    """Builds the lines of one source, in order; keeps what one line says of the next (pieces, margins)."""

    def __init__(self, source: str, clock: Clock) -> None:
        self.learned = Learned()
        self.clock = clock
        self._merger = Merger()
        self._peeler = Peeler(self.learned, clock, self._merger)
        nothing = Said(stream=source)
        self._emitter = Emitter(nothing, self._peeler, self._merger)
        self._nothing: Known = (nothing, None, False)
        self._json = False
        self._margin = 0
        self._above: Known = self._nothing
        self._journal = False
        self._record: Said | None = None
        self._held: dict[str, tuple[Place, Known, list[str]]] = {}

    # A plain log has neither entries of a journal nor lines of JSON: what reads them is loaded when one comes.

    @cached_property
    def _speakers(self) -> Speakers:
        from triage.lines.journal import Speakers

        return Speakers()

    @cached_property
    def _loggers(self) -> Loggers:
        from triage.lines.loggers import Loggers

        return Loggers(self.clock)

    def refresh(self) -> None:
        """Take note that `learned` has changed."""
        self._json = JSON in self.learned.rows
        self._journal = any(row.learn == "hosts" and self.learned.uses(row) for row in rows())
        self._peeler.refresh()

    def text(self, line: Physical, out: list[Line]) -> None:
        """Take a physical line; append its lines to `out`."""
        offset, number, raw, _, special = line
        text = raw.decode("utf-8", "replace") if offset and not special else decode(line)
        peeler = self._peeler
        head = None if self._json else peeler.plain_head(text)
        if head is not None:
            record = self._emitter.record(text, head, offset, number, out)
            if record is not None:
                self._record = record
                return
        place: Place = (offset, number, None)
        if self._journal and text[:1] in ("", " ", "-") and self._between(text, place, out):
            return
        known: Known = self._nothing
        if head is not None:
            peeler.take(head, known)
        else:
            peeler.peel(text, 0, known, tried=not self._json)
        if peeler.cut is not None:
            known = (peeler.cut_said, peeler.outer_time, peeler.zoned)
            if peeler.partial or self._held:
                held = self._hold(text[peeler.cut :], known, place, peeler.partial)
                if held is None:
                    return
                place, known, text = held
                peeler.peel(text, 0, known)
        elif peeler.margin:
            self._margin = peeler.margin
            known = self._above = (peeler.outer, peeler.outer_time, peeler.zoned)
        if self._json and self._object(text, place, out):
            return
        self._record = self._emitter.peeled(text, known[0], place, None, out)

    def entry(self, entry: Entry, number: int | None, out: list[Line]) -> None:
        """Take a journal entry; append its lines to `out`. None for one without a message, or of triage itself."""
        fields = entry.fields
        message = fields.get("MESSAGE")
        if message is None or fields.get("MESSAGE_ID") == DIAGNOSIS:
            return
        said = self._speakers.of(entry)
        time = sensible(entry.realtime / 1e6)
        known = (said, time, time is not None)
        place = (entry.offset, number, entry.cursor)
        text = plain(message)
        if said.origin == "service":
            if self._held or "_LINE_BREAK" in fields:
                held = self._hold(text, known, place, fields.get("_LINE_BREAK") == "line-max")
                if held is None:
                    return
                place, known, text = held
            self._block(text, known, place, out)
            return
        ident = fields.get("SYSLOG_IDENTIFIER")
        if said.origin == "kernel" and ident not in (None, "", "kernel"):
            # Of a line written to /dev/kmsg journald makes "NVRM: " the identifier.
            text = f"{ident}: {text}"
        for each in text.rstrip("\n").split("\n"):
            self._emitter.append(each, said, known[1:], place, out)
            if said.origin != "other":
                out[-1].fields = fields

    def finish(self, out: list[Line]) -> None:
        """Append what was still held back, waiting for more of its line."""
        held, self._held = self._held, {}
        for place, known, texts in held.values():
            self._block("".join(texts), known, place, out)

    def time_in(self, text: str) -> float | None:
        """Take a JSON line; return the time that it says."""
        record = json_object(text)
        entry = None if record is None else entry_of(record, 0)
        if entry is not None:
            return sensible(entry.realtime / 1e6)
        logged = None if record is None else self._loggers.read(record)
        return logged.time if logged else None

    def _between(self, text: str, place: Place, out: list[Line]) -> bool:
        """Read what journalctl prints without a prefix: further lines of a message, under its margin, and notes."""
        margin = self._margin
        if 0 < margin <= len(text) and text[:margin].isspace():
            self._peeler.peel(text, margin, self._above)
            self._record = self._emitter.peeled(text, self._above[0], place, self._record, out)
            return True
        if _BETWEEN.match(text):
            self._emitter.append(text, _OTHER, (None, False), place, out)
            return True
        return False

    def _hold(self, text: str, known: Known, place: Place, partial: bool) -> tuple[Place, Known, str] | None:
        """Join the pieces of a line; return the whole, with what is known of the first, or None if more follows."""
        stream = known[0].stream
        held = self._held.get(stream)
        if not partial:
            if held is None:
                return place, known, text
            del self._held[stream]
            return held[0], held[1], "".join(held[2]) + text
        if held is None:
            self._held[stream] = (place, known, [text])
        elif sum(map(len, held[2])) < _LONGEST_HELD:
            held[2].append(text)
        return None

    def _object(self, text: str, place: Place, out: list[Line]) -> bool:
        """Read what follows the prefixes as a JSON line, if it is one that holds a message."""
        peeler = self._peeler
        record = json_object(text[peeler.rest :])
        if record is None:
            return False
        known = (peeler.outer, peeler.outer_time, peeler.zoned)
        if not known[0].named:
            entry = entry_of(record, place[0])
            if entry is not None:
                self.entry(entry, place[1], out)
                return True
        logged = self._loggers.read(record)
        if logged is None:
            return False
        known = self._with(known, logged)
        held = self._hold(plain(logged.text), known, place, logged.partial)
        if held is not None:
            place, known, whole = held
            self._block(whole, known, place, out, record=logged.record)
        return True

    def _with(self, known: Known, logged: Logged) -> Known:
        said = self._merger.add(known[0], logged.said)
        return (said, logged.time, logged.zoned) if known[1] is None else (said, known[1], known[2])

    def _block(
        self, text: str, known: Known, place: Place, out: list[Line], *, record: bool = False, nested: bool = True
    ) -> None:
        """Build the lines of a text that was written at once; they may be JSON lines of a logger themselves.

        `record` says that a record begins with the first of them.
        """
        peeler = self._peeler
        first = len(out)
        current = None
        for line in text.rstrip("\n").split("\n"):
            peeler.peel(line, 0, known)
            if self._json and nested:
                inner = json_object(line[peeler.rest :])
                logged = None if inner is None else self._loggers.read(inner)
                if logged is not None:
                    within = self._with((peeler.outer, peeler.outer_time, peeler.zoned), logged)
                    self._block(plain(logged.text), within, place, out, record=logged.record, nested=False)
                    continue
            current = self._emitter.peeled(line, known[0], place, current, out)
        if record:
            out[first].record = True
