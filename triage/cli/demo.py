"""`triage demo`: a real failure that ships with triage, diagnosed."""

from __future__ import annotations

import sys

from triage.cli.common import add_output_options, deliver
from triage.data import folder
from triage.pipeline import Options, diagnose
from triage.sources.text import TextSource
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    add_output_options(parser)


def run(args: argparse.Namespace) -> int:
    """Diagnose the demo log; print the report; return 0, since nothing failed here."""
    log = folder("demo") / "sglang-pp8.log"
    if args.format == "text" and args.output_file is None:
        sys.stdout.write(f"$ triage logs {log.name}\n\n")
        sys.stdout.flush()
    # Where the package keeps the log is nobody's to read on in.
    report = diagnose(logs=[TextSource(log, name=log.name)], options=Options(packs=args.signatures))
    for incident in report.incidents:
        for failure in incident.failures:
            failure.first.source = ""
    deliver(report, args)
    return 0
