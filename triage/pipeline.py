"""From sources to a report: the one place where the rooms meet.

Library use: `report = diagnose(logs=["server.log"])`, then `report.verdicts` or `triage.report.render`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage import __version__
from triage.model import Gap, Incident, Line, Report, Tool, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from triage.library import Library
    from triage.sources.query import JournalQuery

# Text below this size is read line by line; above it only regions around what may matter are.
_WHOLE_BYTES = 8 * 1024 * 1024
_KEPT_ATTEMPTS = 10


@dataclass(slots=True)
class Options:
    """What changes a diagnosis: further signature packs, facts known from elsewhere, whether to use the fast skip.

    `library` is one that was loaded already, used instead of `packs` by who diagnoses many logs. With `explain` every
    root failure is also told which signatures nearly fit it.
    """

    packs: Sequence[Path] = ()
    facts: dict[str, object] = field(default_factory=dict)
    skip: bool = True
    library: Library | None = None
    explain: bool = False


def diagnose(logs: Sequence[str] = (), journal: JournalQuery | None = None, options: Options | None = None) -> Report:
    """Take log files (`-` is standard input) or a journal query; return the report.

    Raises `TriageError` where the input cannot be read or the query names nothing.
    """
    options = options or Options()
    library = options.library
    if library is None:
        from triage.library import load

        library = load(options.packs)
    report = Report(Tool(__version__, len(library.signatures), library.digest))
    report.warnings = [f"signature left out: {problem}" for problem in library.problems]
    if journal is not None:
        _journal(report, journal, library, options)
    for name in logs:
        _text(report, name, library, options)
    report.incidents.sort(key=lambda incident: incident.ended or 0.0)
    _conclude(report)
    if options.explain:
        _explain(report, library)
    return report


def _journal(report: Report, query: JournalQuery, library: Library, options: Options) -> None:
    from triage.lines import read_entries
    from triage.sources import open_journal

    source = open_journal(query)
    select: Callable[[Sequence[bytes]], Sequence[int]] | None = None
    if options.skip:
        from triage.needles import needles
        from triage.scan import selector

        select = selector(needles(library.line_patterns()))
    lines = read_entries(source.entries(select), source.name)
    _run(report, lines, source.name, source.gaps, library, options)
    report.notes.append(f"read {source.name} through {source.reader}")
    report.notes.extend(getattr(source, "notes", []))


def _text(report: Report, name: str, library: Library, options: Options) -> None:
    from triage.lines import read_text
    from triage.sources.text import TextSource

    source = TextSource(name)
    blocks = _blocks(source.chunks(), library, options.skip)
    before = len(report.incidents)
    _run(report, read_text(blocks, source.name), source.name, source.gaps, library, options)
    if len(report.incidents) == before:
        report.incidents.append(Incident(source=source.name, outcome="starting", gaps=list(source.gaps)))


def _blocks(chunks: Iterable[bytes], library: Library, skip: bool) -> Iterator[tuple[int, bytes]]:
    from triage.scan import regions, whole

    if not skip:
        return whole(chunks)
    stream = iter(chunks)
    head: list[bytes] = []
    size = 0
    for chunk in stream:
        head.append(chunk)
        size += len(chunk)
        if size > _WHOLE_BYTES:
            from triage.needles import needles

            return regions(_chain(head, stream), needles(library.line_patterns()))
    return whole(head)


def _chain(head: list[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    while head:
        yield head.pop(0)
    yield from rest


def _run(report: Report, lines: Iterable[Line], name: str, gaps: list[Gap], library: Library, options: Options) -> None:
    """Take one source's lines; add an incident for each attempt of each service to the report."""
    from triage.causes import assign, attach
    from triage.events import extract
    from triage.incident import build, split
    from triage.incident.history import drop_unfinished, tell
    from triage.match import diagnose as match

    extraction = extract(lines, library.line_patterns())
    for attempts in split(extraction):
        incidents = []
        for attempt in attempts[-_KEPT_ATTEMPTS:]:
            incident = build(attempt, name, [*gaps, *extraction.gaps])
            incident.facts.update({k: v for k, v in options.facts.items() if k not in incident.facts})
            attach(incident)
            match(incident, library)
            assign(incident, attempt)
            incidents.append(incident)
        incidents = drop_unfinished(incidents)
        tell(incidents, len(attempts))
        report.incidents.extend(incidents)


def _conclude(report: Report) -> None:
    """One verdict for each service: its last incident."""
    from triage.report import summary

    last: dict[tuple[str, str | None], int] = {}
    for number, incident in enumerate(report.incidents, 1):
        unit = incident.members[0].unit if incident.members else None
        last[(incident.source, unit)] = number
    for number in last.values():
        incident = report.incidents[number - 1]
        root = next((failure.id for failure in incident.failures if failure.role == "root"), None)
        report.verdicts.append(Verdict(number, root, summary(incident)))


def _explain(report: Report, library: Library) -> None:
    """Tell the root failures that the verdicts name which signatures nearly fit them."""
    from triage.match import explain

    for verdict in report.verdicts:
        incident = report.incidents[verdict.incident - 1]
        for failure in incident.failures:
            if failure.role == "root":
                failure.near = explain(failure, incident, library)


def exit_status(report: Report) -> int:
    """Take a report; return its worst service's: 0 nothing wrong, 1 failed or degraded, diagnosed, 3 unknown."""
    worst = 0
    for verdict in report.verdicts:
        incident = report.incidents[verdict.incident - 1]
        if incident.outcome in ("failed", "degraded"):
            root = next((failure for failure in incident.failures if failure.role == "root"), None)
            worst = max(worst, 1 if root is not None and root.diagnoses else 3)
    return worst
