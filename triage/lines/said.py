"""What prefixes say of a line, and how stacked prefixes add up."""

from __future__ import annotations

from triage.records import dataclass
from triage.typed import Literal

Origin = Literal["service", "manager", "kernel", "other"]

NO_RANK = 99
_KEPT = 20000


@dataclass(slots=True, eq=False)
class Said:
    """What one prefix says, or several together. Compared by identity: equal prefixes give the same object.

    `stream` is this one's part of the stream's name (of several: the whole name). `trust` grades `rank`, 0 is best.
    `named` says that a transport has named the writer already, so that nothing further in can pose as systemd or the
    kernel. `record` says that a record begins here; such a prefix only fills in what nobody said before it.
    `partial` marks a piece of a line that the next piece goes on with. `journal` marks a prefix of the journal.
    `where` is the source file and line that the head of a record names. `carrier` is the row of a transport.
    """

    stream: str = ""
    host: str | None = None
    unit: str | None = None
    invocation: str | None = None
    pid: int | None = None
    ident: str | None = None
    rank: str | None = None
    trust: int = NO_RANK
    severity: int | None = None
    origin: Origin = "service"
    named: bool = False
    record: bool = False
    partial: bool = False
    journal: bool = False
    where: str | None = None
    carrier: str = ""


class Merger:
    """Adds up what stacked prefixes say, from the outside in; remembers every sum."""

    def __init__(self) -> None:
        # Each sum that was made: whoever needs speed looks here before calling `add`.
        self.sums: dict[tuple[Said, Said], Said] = {}

    def add(self, outer: Said, inner: Said) -> Said:
        """Take what the prefixes so far say and what the next one says; return both together."""
        total = self.sums.get((outer, inner))
        if total is None:
            if len(self.sums) > _KEPT:
                self.sums.clear()
            total = self.sums[outer, inner] = _sum(outer, inner)
        return total


def _sum(outer: Said, inner: Said) -> Said:
    better = inner.rank is not None and inner.trust <= outer.trust
    first, second = (outer, inner) if inner.record else (inner, outer)
    return Said(
        stream=f"{outer.stream}/{inner.stream}" if inner.stream else outer.stream,
        host=_either(first.host, second.host),
        unit=_either(inner.unit, outer.unit),
        invocation=outer.invocation,
        pid=first.pid if first.pid is not None else second.pid,
        ident=_either(outer.ident, inner.ident) if outer.named else _either(inner.ident, outer.ident),
        rank=inner.rank if better else outer.rank,
        trust=inner.trust if better else outer.trust,
        severity=outer.severity if inner.severity is None else inner.severity,
        origin=outer.origin if outer.named else inner.origin,
        named=outer.named or inner.named,
        record=outer.record or inner.record,
        journal=outer.journal or inner.journal,
        where=_either(inner.where, outer.where),
        carrier=outer.carrier or inner.carrier,
    )


def _either(one: str | None, other: str | None) -> str | None:
    return other if one is None else one
