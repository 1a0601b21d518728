"""`triage watch UNIT`: follows a unit from its start until it is ready, or says why it is not."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from triage.model import TriageError
from triage.records import replace
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from triage.sources.query import JournalQuery
    from triage.watching.host import Host
    from triage.watching.say import Teller

_TIMEOUT, _STALL = "22m", "5m"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument("unit", metavar="UNIT", help="the unit, with or without .service")
    parser.add_argument("--start", action="store_true", help="start the unit first, if it does not run")
    parser.add_argument(
        "--health", metavar="URL",
        help="ready is only who answers here too: /health, /health_generate, or /v1/models with a model's id",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", default=_TIMEOUT, metavar="TIME", help=f"give up after TIME: 90s, 22m, 1h30m (default: {_TIMEOUT})"
    )
    parser.add_argument(
        "--stall", default=_STALL, metavar="TIME",
        help=f"call it failed when the service has said nothing for TIME (default: {_STALL})",
    )  # fmt: skip
    parser.add_argument(
        "--restarts", type=int, default=0, metavar="N",
        help="outlive N failures after which systemd restarts the unit; one that fails in the same way ends it all the "
        "same (default: 0)",
    )  # fmt: skip
    where = parser.add_argument_group("where it runs")
    where.add_argument("--user", action="store_true", help="a unit of the calling user's service manager")
    where.add_argument("-M", "--machine", metavar="NAME", help="a unit of a local container")
    where.add_argument(
        "-H", "--host", metavar="[USER@]HOST[:PORT]",
        help="a unit of another host, over ssh (never asks; only systemd is needed there); --health is asked from here",
    )  # fmt: skip
    where.add_argument("--namespace", metavar="NAME", help="its journal namespace (LogNamespace= of the unit)")
    where.add_argument("-D", "--directory", type=Path, metavar="DIR", help="only the journal files below DIR are seen")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", "-o", choices=["text", "jsonl"], default="text", metavar="FORMAT", help="text or jsonl"
    )
    group.add_argument("--all-failures", action="store_true", help="show every failure with its role")
    group.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    group.add_argument("--no-mask", action="store_true", help="do not mask tokens, keys and passwords")
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )
    parser.epilog = """\
Exit status: 0 ready; 1 failed or gone quiet, and diagnosed; 3 the same, cause unknown, or stopped by the operator;
4 out of time; 130 interrupted; 2 bad usage.

examples:
  triage watch sglang-k26-pp8 --health http://127.0.0.1:30000/v1/models
  triage watch sglang-k26-pp8 --start --timeout 40m --format jsonl
"""


def run(args: argparse.Namespace) -> int:
    """Watch the unit; tell what happens; return the exit status."""
    from triage.library import load
    from triage.report.text import one_line
    from triage.sources.query import JournalQuery
    from triage.sources.units import complete
    from triage.watching.durations import parse_duration
    from triage.watching.health import check_url
    from triage.watching.host import LocalHost
    from triage.watching.watch import Settings, Watch

    unit = complete(args.unit)
    if args.restarts < 0:
        raise TriageError("--restarts takes a number of 0 or more")
    settings = Settings(
        timeout=parse_duration(args.timeout),
        stall=parse_duration(args.stall),
        start=args.start,
        health=check_url(args.health) if args.health is not None else None,
        restarts=args.restarts,
    )
    query = JournalQuery(directory=args.directory, user=args.user, machine=args.machine, namespace=args.namespace)
    library = load(args.signatures)
    for problem in library.problems:
        print(f"triage: signature left out: {one_line(str(problem))}", file=sys.stderr)
    _end_as_interrupted()
    teller = _teller(args)
    try:
        with ExitStack() as connections:
            host: Host = _there(args.host, query, connections) if args.host is not None else LocalHost(query)
            watch = Watch(host, unit, library, settings, teller)
            verdict = watch.run()
            teller.ended(watch, verdict)
    except BrokenPipeError:
        # Whoever read this went away: 0 would say that the unit is ready.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    finally:
        teller.close()
    return verdict.status


def _there(name: str, query: JournalQuery, connections: ExitStack) -> Host:
    """Take the name of another host, and which of its units are meant; return it, connected."""
    from triage.sources.remote import Remote
    from triage.watching.host import RemoteHost

    remote = Remote(name)
    replace(query, remote=remote).check()
    return RemoteHost(connections.enter_context(remote), query)


def _teller(args: argparse.Namespace) -> Teller:
    from triage.report.terminal import is_terminal
    from triage.watching.documents import Documents
    from triage.watching.say import Lines, Style

    style = Style(args.color, not args.no_mask, args.all_failures)
    if args.format == "jsonl":
        return Documents(sys.stdout, style)
    if is_terminal(sys.stdout) and os.environ.get("TERM") != "dumb":
        from triage.watching.screen import Screen

        return Screen(sys.stdout, style)
    return Lines(sys.stdout, style)


def _end_as_interrupted() -> None:
    """Let SIGTERM and SIGHUP end the watch as Ctrl-C does, so that journalctl is ended too."""
    import signal

    def interrupt(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
