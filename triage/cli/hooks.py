"""What `install-hook` and `remove-hook` share."""

from __future__ import annotations

import shlex
import subprocess

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from triage.beside.unitfiles import Plan

_TIMEOUT = 60.0


def add_hook_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of both commands."""
    parser.add_argument("unit", metavar="UNIT", help="a service, with or without .service; or a template such as x@")
    parser.add_argument("--dry-run", "-n", action="store_true", help="show what would be written, removed and run")
    parser.add_argument("--user", action="store_true", help="a unit of the calling user's service manager")


def show(plan: Plan) -> None:
    """Print what a plan would do."""
    for path, text in plan.write.items():
        print(f"# would write {path}\n{text}")
    for path in [*plan.remove, *plan.folders]:
        print(f"# would remove {path}")
    for command in plan.commands:
        print(f"# would run {shlex.join(command)}")


def run_commands(plan: Plan) -> None:
    """Run a plan's commands. Raises `TriageError` for one that fails: the files are in place then."""
    for command in plan.commands:
        text = shlex.join(command)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TriageError(f"{text} could not be run ({type(error).__name__}): run it by hand") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {done.returncode}"]
            raise TriageError(f"{text}: {said[0]}: run it by hand")
