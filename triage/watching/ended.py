"""The diagnosis of a command that has ended: of what it printed, and of how it ended."""

from __future__ import annotations

from triage import __version__
from triage.model import Event, Position, Report, Tool, Verdict
from triage.pipeline import Options, examine, services_of
from triage.reading import Reading, read_log
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.library import Library
    from triage.sources.text import TextSource
    from triage.watching.command import Ended

# As strong as what systemd says of a main process: it explains nothing, but it proves the end.
_LEVEL = 2.5


def diagnose_ended(source: TextSource | None, name: str, ended: Ended, at: float, library: Library) -> Report:
    """Take a command's output (None where it printed nothing), the log's name, how the command ended and when, and the
    signatures; return the report. Raises `TriageError` where the output can't be read.
    """
    from triage.events import Extraction
    from triage.incident.nodes import join
    from triage.report import summary

    reading = Reading(name, Extraction()) if source is None else read_log(source, library.line_patterns())
    event = _event(ended, at)
    if event is not None:
        event.order = reading.extraction.lines
        reading.extraction.events.append(event)
    report = Report(Tool(__version__, len(library.signatures), library.digest))
    for service in join(list(services_of(reading)), together=False):
        report.incidents += examine(service, library, Options(library=library))
    for incident in report.incidents[-1:]:
        root = next((failure.id for failure in incident.failures if failure.role == "root"), None)
        report.verdicts.append(Verdict(len(report.incidents), root, summary(incident)))
    return report


def _event(ended: Ended, at: float) -> Event | None:
    """How it ended, where that is a failure: not where it was told to end."""
    if ended.status == 0 or ended.told_to:
        return None
    if ended.signal is not None:
        text, data = f"the command was killed by {ended.signal}", {"signal": ended.signal}
    else:
        text, data = f"the command exited with status {ended.status}", {}
    data["exit"] = str(ended.status)
    return Event("exit", "run/exited", Position(at, zoned=True), "", text, level=_LEVEL, fatal=True, data=data, end=at)
