"""`triage run -- COMMAND...`: runs a command unchanged, and says why it failed if it does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Report
    from triage.watching.command import Command, Ended
    from triage.watching.health import Answer
    from triage.watching.spool import Spool


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.usage = "triage run [OPTIONS] -- COMMAND..."
    parser.add_argument(
        "--health", metavar="URL", help="say when this endpoint answers for the first time, or that it never did"
    )
    parser.add_argument(
        "--triage-status", action="store_true",
        help="end with triage's own exit status (0, 1, 3) instead of the command's",
    )  # fmt: skip
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep all that the command prints in FILE")
    group = parser.add_argument_group("the diagnosis")
    group.add_argument(
        "--format", "-o", choices=["text", "json", "jsonl", "markdown"], default="text", metavar="FORMAT",
        help="text, json, jsonl or markdown (default: text)",
    )  # fmt: skip
    group.add_argument("--output-file", type=Path, metavar="FILE", help="write it to FILE, not to standard error")
    group.add_argument("--all-failures", action="store_true", help="show every failure with its role")
    group.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    group.add_argument("--no-mask", action="store_true", help="do not mask tokens, keys and passwords")
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")
    parser.epilog = """\
What the command prints goes through unchanged; signals reach it. The exit status is the command's, 128 and the signal's
number if a signal ended it, 127 or 126 if it can't be run. Nothing is said of a command that ended well.

examples:
  triage run -- python3 -m sglang.launch_server --model-path /models/x --tp 8
  triage run --save server.log --health http://127.0.0.1:30000/health -- ./serve.sh
"""


def run(args: argparse.Namespace) -> int:
    """Run the command; diagnose its output if it failed; return the exit status."""
    import time

    from triage.watching.command import Command, CommandError
    from triage.watching.health import Probe, check_url
    from triage.watching.spool import Spool

    words = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not words:
        raise TriageError("which command? `triage run -- COMMAND...`")
    url = check_url(args.health) if args.health is not None else None
    spool = Spool(args.save, "the command")
    command = Command(words, spool.write)
    began = time.monotonic()
    answers: list[Answer] = []

    def heard(answer: Answer) -> None:
        answers.append(answer)
        if answer.state == "ok" and probe is not None:
            probe.stop()
            _say(f"{args.health} answers after {time.monotonic() - began:.0f} s", command)

    probe = Probe(url, heard) if url is not None else None
    try:
        ended = command.run(probe.start if probe is not None else None)
    except CommandError as error:
        _say(str(error))
        return error.status
    finally:
        if probe is not None:
            probe.stop()
    if spool.trouble:
        _say(spool.trouble, command)
    never = answers[-1] if answers and answers[-1].state != "ok" else None
    return _conclude(args, spool, command, ended, never)


def _conclude(args: argparse.Namespace, spool: Spool, command: Command, ended: Ended, never: Answer | None) -> int:
    """Diagnose what is left of the command; return the exit status."""
    import time

    if ended.status == 0 and not args.triage_status:
        return 0
    from triage.library import load
    from triage.pipeline import exit_status
    from triage.watching.ended import diagnose_ended

    try:
        report = diagnose_ended(spool.source(), spool.name, ended, time.time(), load(args.signatures))
    except TriageError as error:
        _say(f"its output cannot be diagnosed: {error}", command)
        return 3 if args.triage_status else ended.status
    finally:
        spool.close()
    status = exit_status(report)
    if status:
        if never is not None:
            _say(f"{args.health} never answered: {never.detail}", command)
        _deliver(report, args, command)
    return status if args.triage_status else ended.status


def _deliver(report: Report, args: argparse.Namespace, command: Command) -> None:
    from triage.report import render, write

    if args.output_file is None:
        if command.mid_line:
            sys.stderr.write("\n")
        write(report, sys.stderr, args.format, color=args.color, all_failures=args.all_failures, mask=not args.no_mask)
        sys.stderr.flush()
        return
    text = render(report, args.format, width=100, all_failures=args.all_failures, mask=not args.no_mask)
    try:
        args.output_file.write_text(text, encoding="utf-8")
    except OSError as error:
        _say(f"cannot write {args.output_file}: {error.strerror}", command)


def _say(text: str, command: Command | None = None) -> None:
    from triage.report.masking import mask
    from triage.report.text import one_line

    start = "\n" if command is not None and command.mid_line else ""
    print(f"{start}triage: {mask(one_line(text))}", file=sys.stderr, flush=True)
