"""`triage remove-hook UNIT`: takes away what `triage install-hook` wrote."""

from __future__ import annotations

from triage.beside.unitfiles import Place, carry_out, hooked, plan_remove
from triage.cli.hooks import add_hook_options, run_commands, show
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    add_hook_options(parser)


def run(args: argparse.Namespace) -> int:
    """Remove the files, or show which; return 0. What was written into the journal stays."""
    plan = plan_remove(hooked(args.unit), Place.of(user=args.user))
    if args.dry_run:
        show(plan)
        return 0
    carry_out(plan)
    for path in [*plan.remove, *plan.folders]:
        print(f"removed {path}")
    run_commands(plan)
    return 0
