"""`triage signatures test`: every fixture through the whole pipeline."""

from __future__ import annotations

from triage.cli.signatures import packs_option
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(name: str, parser: argparse.ArgumentParser) -> None:  # noqa: ARG001 - there is one action here
    """Add the options."""
    parser.add_argument(
        "what", nargs="*", metavar="PATH|ID", help="packs, logs, signature files, ids or areas (default: all there are)"
    )
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="share the work among N processes")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the fixtures that fail, and the summary")
    packs_option(parser)
    parser.epilog = """\
examples:
  triage signatures test
  triage signatures test sglang/pp-triton-layer0-value-buffer
  triage signatures test my-pack -j 4
"""


def run(args: argparse.Namespace) -> int:
    """Print one line for each fixture and a summary; return 1 where one fails."""
    from triage.authoring.select import select
    from triage.authoring.selftest import run as run_fixtures
    from triage.authoring.selftest import summary
    from triage.report.text import one_line

    if not 1 <= args.jobs <= 256:
        raise TriageError("--jobs is a number of processes, from 1 to 256")
    found, packs = select(args.what, args.signatures)
    outcomes = []
    for one in run_fixtures(found, packs, args.jobs):
        outcomes.append(one)
        if one.problems:
            print(f"FAIL  {one_line(one.fixture.name)}: {one_line('; '.join(one.problems))}", flush=True)
        elif not args.quiet:
            print(f"ok    {one_line(one.fixture.name)}", flush=True)
    print(summary(outcomes))
    return 1 if any(one.problems for one in outcomes) else 0
