"""What surrounds a unit on this host: its state, command line and environment, the file it logs to, what is installed.

Only where the journal read is this host's own: with -D or --file the unit of the same name here may be another one.
"""

from __future__ import annotations

import os
from pathlib import Path

from triage.model import Gap
from triage.records import dataclass, field
from triage.sources.units import complete, is_pattern
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.sources.query import JournalQuery
    from triage.sources.systemctl import UnitState


@dataclass(slots=True)
class Surroundings:
    """Facts of the unit, further log files to read, what could not be read, and what was looked at."""

    facts: dict[str, object] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def state_of(query: JournalQuery, unit: str) -> UnitState | None:
    """Take a journal query and a unit; return what systemd says of it now, on the host whose journal that is.

    None where that can't be asked: the journal is a copy, or systemd has no such unit.
    """
    if query.remote is not None:
        return query.remote.unit_state(unit, user=query.user)
    from triage.sources.systemctl import unit_state

    return unit_state(unit, user=query.user) if query.live else None


def surroundings(query: JournalQuery) -> Surroundings:
    """Take a journal query; return what its host knows of its units, nothing where the journal is a copy."""
    found = Surroundings()
    if not (query.live or query.remote) or len(query.units) != 1 or is_pattern(query.units[0]):
        return found
    from triage.sources.launch import facts_from_command
    from triage.sources.versions import installed_versions, interpreter_of

    name = complete(query.units[0])
    state = state_of(query, name)
    if state is None:
        return found
    found.notes.append(f"systemctl show {name}: {state.active_state} ({state.sub_state}), restarts {state.restarts}")
    found.facts.update(facts_from_command(state.exec_start, state.environment))
    found.facts.update({f"env.{key}": value for key, value in state.environment.items()})
    if query.live:
        found.facts.update(installed_versions(interpreter=interpreter_of(state.exec_start), root=state.root_directory))
    for path in state.output_files:
        try:
            readable = (
                query.live and Path(path).is_file() and Path(path).stat().st_size > 0 and os.access(path, os.R_OK)
            )
        except OSError:
            readable = False
        how = "which was read too" if readable else "which is empty or can't be read" if query.live else "there"
        found.gaps.append(Gap("output-elsewhere", f"{name} writes its output to {path}, {how}"))
        if readable:
            found.files.append(path)
    if state.log_namespace and query.namespace is None:
        found.gaps.append(
            Gap(
                "namespace",
                f"{name} logs to the journal namespace {state.log_namespace}: add --namespace=+{state.log_namespace}",
            )
        )
    return found
