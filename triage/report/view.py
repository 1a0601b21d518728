"""What is shown of a report, in the order in which it is used: one view for the terminal, Markdown and HTML.

A view knows no failures and no fixes any more, only sections with labels and items; how they look is the renderer's
business.
"""

from __future__ import annotations

from triage.report import findings, reasons, surroundings
from triage.report.aftermath import aftermath, came_up
from triage.report.explained import explained
from triage.report.items import Block, View
from triage.report.onward import next_steps
from triage.report.sentence import root_of, summary
from triage.report.text import one_line
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Incident, Report

_URGENCY: dict[str, int] = {"failed": 0, "degraded": 1, "starting": 2, "healthy": 3}


def build(report: Report, all_failures: bool = False, screen: bool = False, local: bool = False) -> View:
    """Take a report, prepared by `prepare`; return its view.

    With `all_failures` every failure is listed with its role and the reason of it. For a `screen` the rest of a long
    message and the last of many fixes are left out. With `local` times whose zone is known are in the reader's zone,
    else in UTC.
    """
    blocks = [_block(incident, said, all_failures, screen, local) for incident, said in _shown(report)]
    blocks.sort(key=lambda block: _URGENCY.get(block.outcome, 0))
    tool = report.tool
    count = f", {tool.signatures:,} signatures" if tool.signatures else ""
    return View(blocks, one_line(f"triage {tool.version}{count}"))


def _shown(report: Report) -> list[tuple[Incident, str]]:
    known = range(1, len(report.incidents) + 1)
    shown = [
        (report.incidents[verdict.incident - 1], one_line(verdict.summary))
        for verdict in report.verdicts
        if verdict.incident in known
    ]
    return shown or [(incident, summary(incident)) for incident in report.incidents]


def _block(incident: Incident, said: str, all_failures: bool, screen: bool, local: bool) -> Block:
    block = Block(incident.outcome, said or summary(incident))
    root = root_of(incident)
    if root is not None or incident.outcome in ("failed", "degraded"):
        block.sections = [
            *findings.run(incident, root, local),
            *findings.failure(incident, root, screen),
            *reasons.cause(incident, root),
            *reasons.fixes(incident, root, screen),
            *surroundings.evidence(incident, root, local),
            *aftermath(incident, root, local, screen),
            *surroundings.unsure(incident),
            *next_steps(incident, root),
            *explained(root),
        ]
        block.details = [
            *surroundings.stack(root),
            *surroundings.processes(incident, local),
            *surroundings.facts(incident),
        ]
    else:
        block.sections = [*came_up(incident), *surroundings.unsure(incident)]
    if all_failures:
        block.sections += surroundings.every(incident, local)
    return block
