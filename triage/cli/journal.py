"""`triage journal UNIT...`: the last run of a systemd unit, from the journal. Flags are journalctl's own."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from triage.cli.common import add_output_options, deliver
from triage.model import TriageError
from triage.pipeline import Options, diagnose
from triage.records import replace
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from triage.sources.query import JournalQuery


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument(
        "units", nargs="*", metavar="UNIT|FIELD=VALUE",
        help="units, with or without .service, or patterns such as 'sglang*'; or matches on journal fields",
    )  # fmt: skip
    parser.add_argument("-u", "--unit", action="append", default=[], metavar="UNIT", help="the same as naming UNIT")
    parser.add_argument(
        "-x", "-e", "--no-pager", action="store_true", dest="shown", help="as in journalctl -xeu UNIT; change nothing"
    )
    where = parser.add_argument_group("which journal")
    where.add_argument("-D", "--directory", type=Path, metavar="DIR", help="read the journal files below DIR")
    where.add_argument("--file", action="append", type=Path, default=[], metavar="FILE", help="read this journal file")
    where.add_argument("--user", action="store_true", help="units of the calling user's service manager")
    where.add_argument("-M", "--machine", metavar="NAME", help="the journal of a local container")
    where.add_argument(
        "-H", "--host", action="append", default=[], metavar="[USER@]HOST[:PORT]",
        help="the journal of another host, over ssh (never asks; only systemd is needed there); several: one run",
    )  # fmt: skip
    where.add_argument("--together", action="store_true", help="all hosts are one run, whatever their logs say")
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
    going_on = parser.add_argument_group("what is still being written")
    going_on.add_argument(
        "-f", "--follow", action="store_true",
        help="begin with the last run and tell each failure as soon as it is diagnosed (text or jsonl)",
    )  # fmt: skip
    going_on.add_argument(
        "--exec", metavar="COMMAND", help="with -f: run COMMAND for each failure, its JSON on standard input"
    )
    add_output_options(parser)
    parser.epilog = """\
examples:
  triage journal sglang-k26-pp8
  triage journal 'sglang@*' --since today
  triage journal sglang -D /var/log/journal.rescued --format json
  triage journal sglang -f --exec '/usr/local/bin/notify --channel ops'
  triage journal sglang -H root@gpu-07 -H root@gpu-08
"""


def run(args: argparse.Namespace) -> int:
    """Diagnose the units, or follow them; return the exit status."""
    from triage.sources.query import JournalQuery

    words = [*args.units, *args.unit]
    boot = args.boot
    if boot is not None and not _is_boot(boot):
        words, boot = [boot, *words], "0"
    units = [word for word in words if "=" not in word]
    matches = [word for word in words if "=" in word]
    if args.exec and not args.follow:
        raise TriageError("--exec goes with -f")
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
    with ExitStack() as connections:
        queries = _on_hosts(query, args.host, connections)
        if not units and not matches:
            from triage.sources.units import list_units, no_unit

            raise no_unit({unit for each in queries for unit in list_units(each)})
        if args.follow:
            from triage.cli.following_journal import follow_journals

            return follow_journals(args, queries)
        return _report(args, queries)


def _report(args: argparse.Namespace, queries: Sequence[JournalQuery]) -> int:
    """Diagnose what the queries are about; print the report; return the exit status."""
    from triage.sources.live import surroundings

    options = Options(packs=args.signatures, explain=args.explain, together=args.together)
    around = [surroundings(query) for query in queries]
    options.facts.update(
        (name, value)
        for name, value in around[0].facts.items()
        if all(other.facts.get(name) == value for other in around)
    )
    report = diagnose(logs=[file for each in around for file in each.files], journal=queries, options=options)
    for incident in report.incidents:
        incident.gaps.extend(gap for each in around for gap in each.gaps)
    report.notes.extend(note for each in around for note in each.notes)
    return deliver(report, args)


def _on_hosts(query: JournalQuery, hosts: Sequence[str], connections: ExitStack) -> list[JournalQuery]:
    """Take a query and the hosts of -H; return one query for each, connected; hosts out of reach are told of.

    Raises `TriageError` where none can be reached.
    """
    if not hosts:
        return [query]
    from triage.report.text import one_line
    from triage.sources.remote import Remote

    remotes = [Remote(host) for host in dict.fromkeys(hosts)]
    queries: list[JournalQuery] = []
    for remote in remotes:
        on_host = replace(query, remote=remote)
        on_host.check()
        try:
            connections.enter_context(remote)
        except TriageError as error:
            if len(remotes) == 1:
                raise
            print(f"triage: {one_line(str(error))}", file=sys.stderr)
        else:
            queries.append(on_host)
    if not queries:
        raise TriageError(f"none of the {len(remotes)} hosts can be read")
    return queries


def _is_boot(text: str) -> bool:
    """Whether `-b X` names a boot (an offset or a 128-bit id) and not the unit that follows."""
    digits = text.lstrip("+-")
    return digits.isdigit() or (len(text) == 32 and all(c in "0123456789abcdef" for c in text))
