"""`triage explain SIGNATURE`: what it means, when it holds, what mends it."""

from __future__ import annotations

import sys
from pathlib import Path

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument("signature", metavar="SIGNATURE", help="its id, as a report names it")
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )
    parser.epilog = "example:\n  triage explain sglang/pp-triton-layer0-value-buffer\n"


def run(args: argparse.Namespace) -> int:
    """Print the signature as text; return 0."""
    from triage.library import load
    from triage.report.signature import describe
    from triage.report.terminal import width_of

    library = load(args.signatures)
    signature = library.get(args.signature)
    if signature is None:
        near = library.near(args.signature)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise TriageError(f"there is no signature {args.signature!r}{hint} (`triage signatures list` shows all)")
    sys.stdout.write(describe(signature, width_of(sys.stdout)))
    return 0
