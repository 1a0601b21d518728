"""What all commands share: options, the way a report leaves, and how errors end."""

from __future__ import annotations

import errno
import os
import sys

from triage.lazy import keep
from triage.model import Report, TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path


def path_of(text: str) -> Path:
    """Take an argument; return it as a path. pathlib is loaded when one is given."""
    from pathlib import Path

    return Path(text)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that prints a report."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", "-o", choices=["text", "json", "jsonl", "markdown", "html"], default="text", metavar="FORMAT",
        help="text, json, jsonl, markdown or html (default: text)",
    )  # fmt: skip
    group.add_argument("--output-file", type=path_of, metavar="FILE", help="write the report to FILE")
    group.add_argument("--all-failures", action="store_true", help="show every failure with its role")
    group.add_argument("--explain", action="store_true", help="show which conditions held, and the nearest signatures")
    group.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="default: auto")
    group.add_argument("--no-mask", action="store_true", help="do not mask tokens, keys and passwords")
    group.add_argument("--verbose", "-v", action="store_true", help="say on standard error what was read, and how")
    parser.add_argument(
        "--signatures", action="append", default=[], metavar="DIR", help="use the signatures of DIR too"
    )


def deliver(report: Report, args: argparse.Namespace) -> int:
    """Take a report and the options; print it; return the exit status that belongs to it."""
    from triage.pipeline import exit_status
    from triage.report import render, write
    from triage.report.text import one_line

    for warning in report.warnings:
        print(f"triage: {one_line(warning)}", file=sys.stderr)
    if args.verbose:
        for note in report.notes:
            print(f"triage: {one_line(note)}", file=sys.stderr)
    if args.output_file is not None:
        text = render(report, args.format, width=100, all_failures=args.all_failures, mask=not args.no_mask)
        try:
            args.output_file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise TriageError(f"cannot write {args.output_file}: {error.strerror}") from error
    else:
        write(
            report,
            sys.stdout,
            args.format,
            color=args.color,
            all_failures=args.all_failures,
            mask=not args.no_mask,
        )
        sys.stdout.flush()
    return exit_status(report)


def guarded(work: Callable[[], int]) -> int:
    """Run a command; turn the errors a user can mend into one line and status 2, and end quietly when cut off."""
    if sys.stderr is None:  # closed: what is printed to None would go to standard output
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        return _refused("standard output is closed")
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        status = work()
        sys.stdout.flush()
        keep()
    except TriageError as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        place = error.filename
        if place is None and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            place = "cannot write to standard output"
        reason = (error.strerror or str(error)).lower()
        return _refused(f"{os.fsdecode(place)}: {reason}" if isinstance(place, str | bytes) else reason)
    return status


def _refused(reason: str) -> int:
    from triage.report.text import one_line

    print(f"triage: {one_line(reason)}", file=sys.stderr)
    return 2


def _drop_output() -> None:
    """Let nothing more be flushed at exit: the reader went away, or the disk is full."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # no file stands behind it
