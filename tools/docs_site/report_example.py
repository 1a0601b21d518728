"""A report as triage prints it today, so that the page that explains reports never shows an old one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docutils.parsers.rst import Directive

from docs_site import markup
from triage.data import PACKAGE

if TYPE_CHECKING:
    from docutils import nodes


class DemoReport(Directive):
    """What `triage demo` prints into a pipe, 80 columns wide, times in UTC."""

    def run(self) -> list[nodes.Node]:
        """Return it as a block."""
        there = {**os.environ, "PYTHONPATH": str(Path(PACKAGE).parent), "PYTHONUTF8": "1", "COLUMNS": "80", "TZ": "UTC"}
        demo = [sys.executable, "-m", "triage", "demo"]
        shown = subprocess.run(demo, env=there, check=True, capture_output=True, encoding="utf-8").stdout
        return [markup.block(shown.strip("\n"), "text")]
