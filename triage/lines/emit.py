"""Turns peeled text into `Line`s: one for each thing that a line of text holds."""

from __future__ import annotations

from triage.lazy import regex
from triage.lines.repair import LONGEST_TEXT, pieces
from triage.lines.said import Said
from triage.lines.saying import unit_in
from triage.model import Line
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.lines.prefixes import Head, Known, Peeler
    from triage.lines.said import Merger

Place = tuple[int, "int | None", "str | None"]
"""Where a line stands in the input: byte offset, line number, the journal entry's cursor."""

_KERNEL_STAMP = regex(r"\[ *\d+\.\d{6}\] ")
_KEPT = 8192


class Emitter:
    """Appends the lines of one source to a list."""

    def __init__(self, nothing: Said, peeler: Peeler, merger: Merger) -> None:
        """Take what is said of a line without prefixes (its stream is the source's name), and what reads these."""
        self._nothing = nothing
        self._source = nothing.stream
        self._peeler = peeler
        self._merger = merger
        self._rests: dict[Said, Said] = {}
        # What heads of records say by themselves, if it is the service that speaks.
        self._alone: dict[Said, Said | None] = {}

    def record(self, text: str, head: Head, offset: int, number: int | None, out: list[Line]) -> Said | None:
        """Append the line of a record, from its head on (`Peeler.plain_head`), where it is one line and nothing more.

        Returns what the record says; None, and nothing is appended, where the text needs a closer look.
        """
        one, time, end = head
        said = self._alone.get(one) or self._only(one)
        body = text[end:].rstrip()
        if said is None or _may_hold_more(body):
            return None
        out.append(
            Line(
                body, said.stream, offset, self._source, number, None, time, False,
                said.host, said.unit, said.invocation, said.pid, said.ident, said.rank, True,
                said.severity, "service", None, said.where, 0, said.carrier,
            )
        )  # fmt: skip
        return said

    def peeled(self, text: str, base: Said, place: Place, current: Said | None, out: list[Line]) -> Said | None:
        """Append the lines of a text that was peeled just now, from `base` on.

        `current` is what the last record said, for lines that were written together with it; returns the new one.
        """
        peeler = self._peeler
        said, time, zoned = peeler.said, peeler.time, peeler.zoned
        body = text[peeler.rest :]
        if peeler.suffix is not None and "[repeated" in body:
            body = peeler.suffix.sub("", body)
        if said.record:
            current = said
        elif current is not None and said is base:
            said = self._rest(current)
        if not _may_hold_more(body):
            if said.origin == "service":
                out.append(
                    Line(
                        body.rstrip(), said.stream, place[0], self._source, place[1], place[2], time, zoned,
                        said.host, said.unit, said.invocation, said.pid, said.ident, said.rank, said.record,
                        said.severity, "service", None, said.where, 0, said.carrier, peeler.stamp,
                    )
                )  # fmt: skip
            else:
                self.append(body, said, (time, zoned), place, out)
            return current
        first, *more = pieces(body)
        outer: Known = (peeler.outer, peeler.outer_time, peeler.zoned)
        self.append(first, said, (time, zoned), place, out)
        for part in more:
            peeler.peel(part, 0, outer, 1)
            said = peeler.said
            if said.record:
                current = said
            elif current is not None and said is outer[0]:
                said = self._rest(current)
            if peeler.time is not None:
                time, zoned = peeler.time, peeler.zoned
            self.append(part[peeler.rest :], said, (time, zoned), place, out)
        return current

    def append(self, text: str, said: Said, when: tuple[float | None, bool], place: Place, out: list[Line]) -> None:
        """Append one line of which nothing is left to peel. `when` is its time and whether that has a zone."""
        unit = said.unit
        if said.origin != "service":
            if said.origin == "kernel":
                text = _KERNEL_STAMP.sub("", text, count=1) if text[:1] == "[" else text
            elif unit is None and said.origin == "manager":
                unit = unit_in(text)
        out.append(
            Line(
                text.rstrip(), said.stream, place[0], self._source, place[1], place[2], when[0], when[1],
                said.host, unit, said.invocation, said.pid, said.ident, said.rank, said.record, said.severity,
                said.origin, where=said.where, carrier=said.carrier,
            )
        )  # fmt: skip

    def _only(self, one: Said) -> Said | None:
        if len(self._alone) > _KEPT:
            self._alone.clear()
        said = self._merger.add(self._nothing, one)
        self._alone[one] = said if said.origin == "service" else None
        return self._alone[one]

    def _rest(self, said: Said) -> Said:
        """Return what holds for the further lines of a record that `said` began."""
        rest = self._rests.get(said)
        if rest is None:
            if len(self._rests) > _KEPT:
                self._rests.clear()
            rest = self._rests[said] = Said(
                said.stream, said.host, said.unit, said.invocation, said.pid, said.ident, said.rank, said.trust,
                said.severity, said.origin, said.named, carrier=said.carrier,
            )  # fmt: skip
        return rest


def _may_hold_more(body: str) -> bool:
    """Whether a text may hold several lines, or more than is kept of one (`triage.lines.repair.pieces`)."""
    return "%" in body or "\\" in body or "[20" in body or "\r" in body or len(body) > LONGEST_TEXT
