"""From sources to a report: the one place where the rooms meet.

Library use: `report = diagnose(logs=["server.log"])`, then `report.verdicts` or `triage.report.render`.
"""

from __future__ import annotations

from triage import __version__
from triage.model import Report, Tool, Verdict
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from triage.incident import Attempt
    from triage.incident.attempts import Service
    from triage.library import Library
    from triage.model import Incident
    from triage.patterns import LinePattern
    from triage.reading import Reading
    from triage.sources.pods import Pod
    from triage.sources.query import JournalQuery
    from triage.sources.text import TextSource

_KEPT_ATTEMPTS = 10


@dataclass(slots=True)
class Options(Record):
    """What changes a diagnosis: further signature packs, facts known from elsewhere, whether to use the fast skip.

    `library` is one that was loaded already, used instead of `packs` by who diagnoses many logs. With `explain` every
    root failure is also told which signatures nearly fit it. `pods` are what Kubernetes says of the logs' pods. With
    `together` all logs are of one run.
    """

    packs: Sequence[str | os.PathLike[str]] = ()
    facts: dict[str, object] = field(default_factory=dict)
    skip: bool = True
    library: Library | None = None
    explain: bool = False
    pods: Sequence[Pod] = ()
    together: bool = False


def diagnose(
    logs: Sequence[str | TextSource] = (),
    journal: JournalQuery | Sequence[JournalQuery] | None = None,
    options: Options | None = None,
) -> Report:
    """Take log files (`-` is standard input), or sources, or a journal query, or one for each host; return the report.

    Files of a rotated log are read as one, and the logs or journals of a run's nodes become one incident.

    Raises `TriageError` where the input cannot be read or the query names nothing.
    """
    options = options or Options()
    library = options.library
    if library is None:
        from triage.library import load

        library = load(options.packs)
    report = Report(Tool(__version__, len(library.signatures), library.digest))
    report.warnings = [f"signature left out: {problem}" for problem in library.problems]
    for service in _services(logs, journal, library.line_patterns(), options):
        report.notes += service.notes
        report.incidents += examine(service, library, options)
    report.incidents.sort(key=lambda incident: incident.ended or 0.0)
    _conclude(report)
    if options.explain:
        _explain(report, library)
    return report


def _services(
    logs: Sequence[str | TextSource],
    journal: JournalQuery | Sequence[JournalQuery] | None,
    patterns: Sequence[LinePattern],
    options: Options,
) -> Iterator[Service]:
    from triage.reading import open_logs, read_log

    if journal is not None:
        yield from _journals(journal, patterns, options)
    texts: list[Service] = []
    for source in open_logs(logs):
        reading = read_log(source, patterns, skip=options.skip)
        if options.pods:
            from triage.events.pods import attach

            reading.gaps += attach(reading.extraction, options.pods, reading.name, patterns)
        texts += services_of(reading)
    yield from _joined(texts, options)


def _journals(
    journal: JournalQuery | Sequence[JournalQuery], patterns: Sequence[LinePattern], options: Options
) -> list[Service]:
    from triage.reading import read_journal
    from triage.sources.query import JournalQuery

    queries = [journal] if isinstance(journal, JournalQuery) else journal
    journals = [
        service for query in queries for service in services_of(read_journal(query, patterns, skip=options.skip))
    ]
    return _joined(journals, options) if len(queries) > 1 else journals


def _joined(services: list[Service], options: Options) -> list[Service]:
    if len(services) < 2:
        return services
    from triage.incident.nodes import join

    return join(services, together=options.together)


def services_of(reading: Reading) -> Iterator[Service]:
    """Take what one source says; yield its services with their attempts, one at least."""
    from triage.incident import Attempt, split
    from triage.incident.attempts import Service

    extraction = reading.extraction
    for attempts in split(extraction) or [[Attempt(None, None)]]:
        yield Service(
            reading.name, attempts, reading.files or [reading.name], [*reading.gaps, *extraction.gaps], reading.notes,
            extraction.moments, extraction.lines,
        )  # fmt: skip
        reading.notes = []


def examine(service: Service, library: Library, options: Options) -> list[Incident]:
    """Take a service; return the incidents of its last attempts, oldest first, diagnosed."""
    from triage.incident.attempts import drop_unfinished, tell

    incidents = [_incident(attempt, service, library, options) for attempt in service.attempts[-_KEPT_ATTEMPTS:]]
    told = drop_unfinished(incidents)
    tell(told, len(service.attempts) - (len(incidents) - len(told)))
    return told


def _incident(attempt: Attempt, service: Service, library: Library, options: Options) -> Incident:
    from triage.causes import LAST_WORDS, assign, waits
    from triage.incident import build
    from triage.incident.attempts import root_of
    from triage.incident.facts import read_release
    from triage.incident.gaps import gaps_of_verdict
    from triage.match import diagnose as match
    from triage.match import diagnose_one

    incident = build(attempt, service.name, service.gaps)
    incident.sources = service.logs if len(service.logs) > 1 else []
    incident.facts.update({k: v for k, v in options.facts.items() if k not in incident.facts})
    read_release(incident)
    if any(failure.rule.startswith("native/") for failure in incident.failures):
        from triage.causes.native_evidence import attach

        attach(incident)
    match(incident, library)
    assign(incident, attempt)
    root = root_of(incident)
    if root is not None and root.rule == LAST_WORDS:
        diagnose_one(root, incident, library)
    incident.gaps += gaps_of_verdict(attempt, incident, root, waits=root is not None and waits(root))
    return incident


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
    """Take a report; return its worst service's: 0 nothing wrong, 1 failed or degraded, diagnosed, 3 unknown.

    What is merely possible is no diagnosis.
    """
    from triage.report.sentence import diagnoses, root_of

    worst = 0
    for verdict in report.verdicts:
        incident = report.incidents[verdict.incident - 1]
        if incident.outcome in ("failed", "degraded"):
            sure = any(one.confidence != "possible" for one in diagnoses(incident, root_of(incident)))
            worst = max(worst, 1 if sure else 3)
    return worst
