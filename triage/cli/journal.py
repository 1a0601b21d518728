"""`triage journal UNIT...`: the last run of a systemd unit, from the journal. Flags are journalctl's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from triage.cli.common import add_output_options, deliver
from triage.model import TriageError
from triage.pipeline import Options, diagnose

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument(
        "units", nargs="*", metavar="UNIT|FIELD=VALUE",
        help="units, with or without .service, or patterns such as 'sglang*'; or matches on journal fields",
    )  # fmt: skip
    parser.add_argument("-u", "--unit", action="append", default=[], metavar="UNIT", help="the same as naming UNIT")
    where = parser.add_argument_group("which journal")
    where.add_argument("-D", "--directory", type=Path, metavar="DIR", help="read the journal files below DIR")
    where.add_argument("--file", action="append", type=Path, default=[], metavar="FILE", help="read this journal file")
    where.add_argument("--user", action="store_true", help="units of the calling user's service manager")
    where.add_argument("-M", "--machine", metavar="NAME", help="the journal of a local container")
    where.add_argument("--namespace", metavar="NAME", help="the journal namespace (LogNamespace= of the unit)")
    when = parser.add_argument_group("which part of it")
    when.add_argument(
        "-b", "--boot", nargs="?", const="0", metavar="ID", help="this boot only, or boot ID (-1: the one before)"
    )
    when.add_argument(
        "-S", "--since", metavar="TIME", help="from TIME on, as journalctl takes it: 09:30, yesterday, -2h"
    )
    when.add_argument("-U", "--until", metavar="TIME", help="up to TIME")
    when.add_argument(
        "--invocation", metavar="ID|N|all", help="this invocation: an id, -1 for the one before the last, or all"
    )
    when.add_argument("--no-kernel", action="store_true", help="leave out the kernel's lines of the same time")
    add_output_options(parser)
    parser.epilog = """\
examples:
  triage journal sglang-k26-pp8
  triage journal 'sglang@*' --since today
  triage journal sglang -D /var/log/journal.rescued --format json
"""


def run(args: argparse.Namespace) -> int:
    """Diagnose the units; print the report; return the exit status."""
    from triage.sources.live import surroundings
    from triage.sources.query import JournalQuery

    words = [*args.units, *args.unit]
    boot = args.boot
    if boot is not None and not _is_boot(boot):
        words, boot = [boot, *words], "0"
    units = [word for word in words if "=" not in word]
    matches = [word for word in words if "=" in word]
    if not units and not matches:
        raise TriageError("which unit? `triage journal NAME`; `systemctl list-units 'sglang*'` lists some")
    query = JournalQuery(
        units=units,
        matches=matches,
        directory=args.directory,
        files=args.file,
        boot=boot,
        since=args.since,
        until=args.until,
        user=args.user,
        machine=args.machine,
        namespace=args.namespace,
        invocation=args.invocation,
        kernel=not args.no_kernel,
    )
    options = Options(packs=args.signatures, explain=args.explain)
    around = surroundings(query)
    options.facts.update(around.facts)
    report = diagnose(logs=around.files, journal=query, options=options)
    for incident in report.incidents:
        incident.gaps.extend(around.gaps)
    report.notes.extend(around.notes)
    return deliver(report, args)


def _is_boot(text: str) -> bool:
    """Whether `-b X` names a boot (an offset or a 128-bit id) and not the unit that follows."""
    digits = text.lstrip("+-")
    return digits.isdigit() or (len(text) == 32 and all(c in "0123456789abcdef" for c in text))
