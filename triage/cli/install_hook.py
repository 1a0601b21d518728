"""`triage install-hook UNIT`: from now on systemd has triage look at the unit each time that it failed."""

from __future__ import annotations

from triage.beside.unitfiles import Place, carry_out, hooked, plan_install
from triage.cli.hooks import add_hook_options, run_commands, show
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    add_hook_options(parser)
    parser.epilog = """\
After each failed stop a service of its own (low priority, bounded in time and memory) diagnoses the unit and writes
what it found into the journal: `journalctl -x -u UNIT` and `systemctl status UNIT` show it. The unit itself is neither
held up nor made to fail, and need not be restarted.

examples:
  triage install-hook sglang-k26-pp8 --dry-run
  sudo triage install-hook 'sglang@.service'     all instances of a template
"""


def run(args: argparse.Namespace) -> int:
    """Write the files, or show them; return 0."""
    from triage.sources.systemctl import service_settings, unit_files

    unit, place = hooked(args.unit), Place.of(user=args.user)
    plan = plan_install(unit, place)
    if args.dry_run:
        show(plan)
        return 0
    files = unit_files(unit, user=args.user)
    if files is None:
        raise TriageError(f"systemd has no unit {unit}: `systemctl list-unit-files` lists those that there are")
    if not place.user:
        from triage.beside.owners import check_owned_by_root

        check_owned_by_root()
    carry_out(plan)
    for path in plan.write:
        print(f"wrote {path}")
    run_commands(plan)
    for command in service_settings(files).get("ExecStopPost", []):
        if "-" not in command[: len(command) - len(command.lstrip("@-:+!|"))] and "triage-diagnose@" not in command:
            print(
                f"note: where ExecStopPost={command} fails, systemd leaves out what comes behind it: triage is told "
                "then only when systemd gives up"
            )
    return 0
