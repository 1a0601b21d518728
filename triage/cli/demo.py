"""`triage demo`: a real failure that ships with triage, diagnosed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from triage.cli.common import add_output_options, deliver
from triage.data import folder
from triage.pipeline import Options, diagnose

if TYPE_CHECKING:
    import argparse

    from triage.model import Report


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Diagnose the demo log; print the report; return 0, since nothing failed here."""
    log = folder("demo") / "sglang-pp8.log"
    if args.format == "text" and args.output_file is None:
        sys.stdout.write(f"$ triage logs {log.name}\n\n")
        sys.stdout.flush()
    report = diagnose(logs=[str(log)], options=Options(packs=args.signatures, explain=args.explain))
    _unplace(report, log.name)
    deliver(report, args)
    return 0


def _unplace(report: Report, name: str) -> None:
    """Name the log instead of the place where the package keeps it, which is nobody's to read on in."""
    for incident in report.incidents:
        incident.source = name
        for failure in incident.failures:
            failure.first.source = ""
