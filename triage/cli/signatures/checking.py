"""`triage signatures check`: what is wrong with signature files, why it matters, what to write instead."""

from __future__ import annotations

from pathlib import Path

from triage.cli.signatures import packs_option
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(name: str, parser: argparse.ArgumentParser) -> None:  # noqa: ARG001 - there is one action here
    """Add the options."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders (default: those in use)")
    parser.add_argument("-q", "--quiet", action="store_true", help="one line each, and no warnings")
    packs_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print every issue and a summary; return 1 where there are errors."""
    from triage.data import folder
    from triage.library.lint import check
    from triage.report.text import one_line

    places = args.paths or [folder("signatures"), *args.signatures]
    for place in places:
        if not place.exists():
            raise TriageError(f"there is no {place}")
    issues = check(places)
    for issue in issues:
        if args.quiet and issue.severity == "warning":
            continue
        print(one_line(str(issue) if args.quiet else issue.place))
        if not args.quiet:
            print(f"    why:   {one_line(issue.why)}\n    write: {one_line(issue.write)}")
    errors = sum(issue.severity == "error" for issue in issues)
    print(f"{errors} errors, {len(issues) - errors} warnings")
    return 1 if errors else 0
