"""`triage to-journal UNIT`: diagnoses the unit's last run and writes that into the journal, where it failed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

from triage.beside.memory import Memory, alone, keep, looked, pause, recall
from triage.model import TriageError
from triage.sources.units import complete
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

_RUN = Path("/run/triage")
# What the dying processes and systemd still say of the failure comes within so many seconds.
_SETTLED = 2.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument("unit", metavar="UNIT", help="a service, with or without .service")
    parser.add_argument("--user", action="store_true", help="a unit of the calling user's service manager")
    parser.add_argument(
        "--hook", action="store_true",
        help="as systemd runs it: waits for the last lines, writes the same failure only now and then",
    )  # fmt: skip
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )


def run(args: argparse.Namespace) -> int:
    """Diagnose and write; return the exit status of the diagnosis, with `--hook` 0."""
    unit = complete(args.unit)
    if not args.hook:
        return _tell(args, unit, Memory())[0]
    folder = _folder(user=args.user)
    time.sleep(_SETTLED)
    time.sleep(pause(recall(folder, unit)))
    with alone(folder):
        memory = recall(folder, unit)
        wrote = False
        try:
            _, wrote = _tell(args, unit, memory)
        finally:
            looked(memory, wrote=wrote)
            keep(folder, unit, memory)
    return 0


def _tell(args: argparse.Namespace, unit: str, memory: Memory) -> tuple[int, bool]:
    """Diagnose the unit; write what is new into the journal; return the exit status and whether it wrote."""
    from triage.beside.native import send
    from triage.beside.note import fields, fingerprint, invocations, newest_failed
    from triage.pipeline import Options, diagnose, exit_status
    from triage.sources.live import state_of, surroundings
    from triage.sources.query import JournalQuery

    _sync()
    query = JournalQuery(units=[unit], user=args.user)
    state = state_of(query, unit)
    if state is not None and state.log_namespace:
        query.namespace = f"+{state.log_namespace}"
    around = surroundings(query)
    options = Options(packs=args.signatures, facts=dict(around.facts))
    report = diagnose(logs=around.files, journal=query, options=options)
    incident, more = newest_failed(report, unit, memory)
    worth = False
    if incident is not None:
        times, worth = memory.count(fingerprint(incident), more, time.time())
        if worth:
            send(fields(incident, unit, times, user=args.user))
    memory.note(invocations(report))
    return exit_status(report), worth


def _folder(*, user: bool) -> Path:
    """Return where it is kept what was told: the folder that systemd made, or that of this login."""
    made = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    if made:
        return Path(made)
    if not user:
        return _RUN
    login = os.environ.get("XDG_RUNTIME_DIR")
    if not login:
        raise TriageError("XDG_RUNTIME_DIR is not set: --hook --user needs a login of yours")
    return Path(login) / "triage"


def _sync() -> None:
    """Have journald write out what it holds; without that the last lines may be missing, no more."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(["journalctl", "--sync"], stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
