"""Reads two runs and holds them against each other."""

from __future__ import annotations

import sys

from triage.compare.facts import Change, changes
from triage.compare.kinds import Counter, Kind, known, only_here
from triage.compare.phases import Step, steps
from triage.events.positions import EVIDENCE_LIMIT
from triage.incident.attempts import root_of
from triage.model import Report, TriageError
from triage.pipeline import Options, diagnose
from triage.records import dataclass, field, replace
from triage.typed import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from triage.model import Failure, Incident, Line
    from triage.sources.query import JournalQuery
    from triage.sources.text import TextSource

_JOURNAL = "journal:"
_URGENCY = {"failed": 0, "degraded": 1, "starting": 2, "healthy": 3}


@dataclass(slots=True)
class Side:
    """One of the two runs: a log, or a unit's invocation in a journal. `spool` holds what came from standard input."""

    name: str
    query: JournalQuery | None = None
    spool: IO[bytes] | None = None

    def log(self) -> TextSource:
        """Return the log, to be read from its beginning."""
        from triage.sources.text import TextSource

        if self.spool is None:
            return TextSource(self.name)
        source = TextSource(self.spool.name)
        source.name = self.name
        return source


@dataclass(slots=True)
class Comparison:
    """What differs between two runs.

    `failures` are those that only the bad run has, the root first; `shared` are those of its failures that the good run
    has too. `kinds` are the kinds of message that only the bad run has and that are no failure's evidence, the most
    severe and rarest first. `ranks` are those that logged in the good run only.
    """

    good: Incident
    bad: Incident
    report: Report
    facts: list[Change] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    shared: list[Failure] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    ranks: list[str] = field(default_factory=list)


def open_side(text: str, directory: Path | None = None) -> Side:
    """Take `FILE`, `-`, or `journal:UNIT[@INVOCATION]`, and the folder with the journal; return that run, to be read.

    An invocation is an id or a number, as `triage journal --invocation` takes it (0 the last, -1 the one before). What
    comes from standard input is kept in a temporary file, since it is read twice. Raises `TriageError` for what cannot
    be right.
    """
    if text.startswith(_JOURNAL):
        from triage.sources.query import JournalQuery

        unit, invocation = _unit(text.removeprefix(_JOURNAL))
        if not unit:
            raise TriageError(
                f"{text} names no unit: journal:UNIT, or journal:UNIT@-1 for the invocation before the last"
            )
        return Side(text, JournalQuery(units=[unit], directory=directory, invocation=invocation))
    return Side("stdin", spool=_spooled()) if text == "-" else Side(text)


def _unit(text: str) -> tuple[str, str | None]:
    """Part the unit's name from the invocation; `sglang@a.service` is the name of a template's instance."""
    name, at, last = text.rpartition("@")
    number = last.removeprefix("-").removeprefix("+").isdecimal() and not last.startswith("+")
    if at and name and (number or _is_id(last)):
        return name, last
    return text, None


def _is_id(text: str) -> bool:
    return len(text) == 32 and all(char in "0123456789abcdef" for char in text)


def _spooled() -> IO[bytes]:
    import shutil
    import tempfile

    spool: IO[bytes] = tempfile.NamedTemporaryFile(prefix="triage-")  # noqa: SIM115  lives as long as the side
    shutil.copyfileobj(sys.stdin.buffer, spool)
    spool.flush()
    return spool


def compare(good: Side, bad: Side, options: Options | None = None) -> Comparison:
    """Take two runs; return what differs. Both are read twice: to be diagnosed, and for their kinds of message.

    Raises `TriageError` where one of them can't be read.
    """
    options = options or Options()
    if options.library is None:
        from triage.library import load

        options = replace(options, library=load(options.packs))
    reports = [_diagnosed(side, options) for side in (good, bad)]
    wrong = _worst(reports[1])
    unit = _unit_of(wrong)
    right = next((found for found in reversed(_last(reports[0])) if _unit_of(found) == unit), _last(reports[0])[-1])
    found = Comparison(right, wrong, reports[1])
    found.facts = changes(right.facts, wrong.facts)
    found.steps = steps(right, wrong)
    mine = {failure.fingerprint for failure in right.failures}
    failures = [one for one in wrong.failures if one.level is not None or one.role == "suspect"]
    found.failures = sorted((one for one in failures if one.fingerprint not in mine), key=_weight)
    found.shared = sorted((one for one in failures if one.fingerprint in mine), key=_weight)
    labels = {process.rank for process in wrong.processes}
    found.ranks = [p.rank for p in right.processes if p.rank and p.rank not in labels and _comparable(labels)]
    counter = Counter()
    others = known(*_lines(good, right, Counter()))
    told = {item.text for failure in wrong.failures for item in failure.evidence}
    found.kinds = [kind for kind in only_here(*_lines(bad, wrong, counter), others, counter) if _new(kind, told)]
    return found


def _new(kind: Kind, told: set[str]) -> bool:
    """Whether no failure has the line as its evidence already."""
    return kind.line.text[:EVIDENCE_LIMIT] not in told


def _comparable(labels: set[str | None]) -> bool:
    return any(labels)


def _weight(failure: Failure) -> tuple[bool, float, int]:
    return failure.role != "root", failure.level if failure.level is not None else 9.0, failure.order


def _diagnosed(side: Side, options: Options) -> Report:
    report = diagnose(journal=side.query, options=options) if side.query else diagnose([side.log()], options=options)
    if not report.incidents:
        raise TriageError(f"{side.name} holds no run of a service")
    return report


def _last(report: Report) -> list[Incident]:
    return [report.incidents[verdict.incident - 1] for verdict in report.verdicts] or report.incidents[-1:]


def _worst(report: Report) -> Incident:
    return min(_last(report), key=lambda one: (_URGENCY[one.outcome], root_of(one) is None))


def _unit_of(incident: Incident) -> str | None:
    return incident.members[0].unit if incident.members else None


def _lines(side: Side, incident: Incident, counter: Counter) -> tuple[Iterator[Line], Callable[[Line], bool]]:
    """Return the lines of a run that have to be read, and what tells whether a line is the service's."""
    from triage.lines import read_entries, read_text

    unit = _unit_of(incident)

    def wanted(line: Line) -> bool:
        return unit is None or line.unit is None or line.unit == unit

    if side.query is None:
        source = side.log()
        start = incident.began.offset if incident.attempts.count > 1 and incident.began is not None else 0
        return read_text(counter.blocks(source.chunks(), start), source.name), wanted
    from triage.sources import open_journal

    query = side.query
    invocation = incident.members[0].invocation if incident.members else None
    if invocation is not None:
        query = replace(query, invocation=invocation)
    journal = open_journal(query)
    return read_entries(counter.entries(journal.entries(counter.select)), journal.name), wanted
