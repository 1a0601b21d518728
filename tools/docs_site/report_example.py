"""A report as triage prints it today, so that the page that explains reports never shows an old one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils.parsers.rst import Directive

from docs_site import markup
from docs_site.state import known

if TYPE_CHECKING:
    from docutils import nodes

_WIDTH = 80


def example() -> str:
    """Diagnose the log that ships with triage; return the report as a terminal of 80 columns shows it."""
    import os

    from triage.data import folder
    from triage.pipeline import Options, diagnose
    from triage.report import render

    here = os.getcwd()
    # The report names the log as it was named; where this checkout lies is nobody's business.
    os.chdir(folder("demo"))
    try:
        report = diagnose(["sglang-pp8.log"], options=Options(library=known().library))
    finally:
        os.chdir(here)
    return render(report, width=_WIDTH)


class DemoReport(Directive):
    """What `triage demo` prints."""

    def run(self) -> list[nodes.Node]:
        """Return it as a block."""
        return [markup.block(example().strip("\n"), "text")]
