"""`triage diff GOOD BAD`: what a run that failed has, and one that went well has not."""

from __future__ import annotations

import sys
from pathlib import Path

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from triage.compare import Comparison


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    run_of = "a log file, - for standard input, or journal:UNIT[@INVOCATION]"
    parser.add_argument("good", metavar="GOOD", help=f"the run that went well: {run_of}")
    parser.add_argument("bad", metavar="BAD", help="the run that failed, named in the same way")
    parser.add_argument(
        "-D", "--directory", type=Path, metavar="DIR", help="read the journal files below DIR, for journal:UNIT"
    )
    parser.add_argument(
        "--format",
        "-o",
        choices=["text", "json"],
        default="text",
        metavar="FORMAT",
        help="text or json (default: text)",
    )
    parser.add_argument("--output-file", type=Path, metavar="FILE", help="write to FILE")
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    parser.add_argument("--no-mask", action="store_true", help="do not mask tokens, keys and passwords")
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )
    parser.epilog = """\
An invocation is an id or a number: 0 the last, -1 the one before. The exit status is that of BAD alone.

examples:
  triage diff yesterday.log today.log
  triage diff journal:sglang@-1 journal:sglang@0
"""


def run(args: argparse.Namespace) -> int:
    """Compare the runs; print what differs; return the exit status of the bad one."""
    from triage.compare import compare, open_side
    from triage.compare.show import masker
    from triage.pipeline import Options, exit_status

    if args.good == args.bad:
        raise TriageError(f"{args.good} is named twice: a run that went well and one that failed are wanted")
    found = compare(
        open_side(args.good, args.directory), open_side(args.bad, args.directory), Options(packs=args.signatures)
    )
    mask = masker(mask=not args.no_mask)
    text = _json(found, mask) if args.format == "json" else _text(found, mask, args)
    if args.output_file is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        try:
            args.output_file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise TriageError(f"cannot write {args.output_file}: {error.strerror}") from error
    return exit_status(found.report)


def _json(found: Comparison, mask: Callable[[str], str]) -> str:
    import json

    from triage.compare.show import document

    return json.dumps(document(found, mask), indent=1, allow_nan=False) + "\n"


def _text(found: Comparison, mask: Callable[[str], str], args: argparse.Namespace) -> str:
    from triage.compare.show import view
    from triage.report import terminal
    from triage.report.layout import lay_out

    to_file = args.output_file is not None
    width = 100 if to_file else terminal.width_of(sys.stdout)
    lines = lay_out(view(found, mask), width)
    if not to_file and terminal.draws(args.color, sys.stdout):
        text = terminal.drawn(lines, width, None if args.color == "always" else sys.stdout)
    else:
        text = terminal.plain(lines)
    return text if to_file else terminal.encodable(text, sys.stdout)
