"""`triage logs [FILE...|-]`, and `... | triage`."""

from __future__ import annotations

import sys

from triage.cli.common import add_output_options, deliver, path_of
from triage.model import TriageError
from triage.pipeline import Options, diagnose
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="log files: plain, .gz, .xz or .zst; - is standard input"
    )
    parser.add_argument(
        "-f", "--follow", action="store_true",
        help="follow a log that is being written and tell each failure as soon as it is diagnosed (text or jsonl)",
    )  # fmt: skip
    parser.add_argument(
        "--no-skip", action="store_true", help="read every line of large files, not only the regions that matter"
    )
    parser.add_argument(
        "--pod", action="append", type=path_of, default=[], metavar="FILE",
        help="what Kubernetes says of the pod: `kubectl get pod NAME -o json`, its events, `kubectl describe pod NAME`",
    )  # fmt: skip
    parser.add_argument(
        "--together", action="store_true", help="all files are one run; by itself triage joins the logs of its nodes"
    )
    add_output_options(parser)
    parser.epilog = """\
examples:
  triage logs server.log
  triage logs --format json server.log.1.gz
  triage logs node0.log node1.log
  kubectl logs -f my-pod | triage -f
  kubectl logs my-pod --previous | triage logs - --pod pod.json
"""


def run(args: argparse.Namespace) -> int:
    """Diagnose the files; print the report; return the exit status."""
    if not args.files and (sys.stdin is None or sys.stdin.isatty()):
        raise TriageError("no log: name a file, or pipe one in (`docker logs NAME 2>&1 | triage`)")
    if args.follow:
        from triage.cli.following import follow

        return follow(args)
    options = Options(packs=args.signatures, skip=not args.no_skip, explain=args.explain, together=args.together)
    if args.pod:
        from triage.sources.pods import read_pods

        options.pods = read_pods(args.pod)
    return deliver(diagnose(logs=args.files or ["-"], options=options), args)
