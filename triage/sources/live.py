"""What surrounds a unit on this host: its state, command line and environment, the file it logs to, what is installed.

Only where the journal read is this host's own: with -D or --file the unit of the same name here may be another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triage.model import Gap

if TYPE_CHECKING:
    from triage.sources.query import JournalQuery


@dataclass(slots=True)
class Surroundings:
    """Facts of the unit, further log files to read, what could not be read, and what was looked at."""

    facts: dict[str, object] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def surroundings(query: JournalQuery) -> Surroundings:
    """Take a journal query; return what this host knows of its units, nothing where the journal is not this host's."""
    found = Surroundings()
    if (
        query.directory
        or query.files
        or query.machine
        or len(query.units) != 1
        or any(c in query.units[0] for c in "*?[")
    ):
        return found
    from triage.sources.systemctl import unit_state
    from triage.sources.versions import facts_from_command, installed_versions

    name = query.units[0] if "." in query.units[0] else f"{query.units[0]}.service"
    state = unit_state(name, user=query.user)
    if state is None:
        return found
    found.notes.append(f"systemctl show {name}: {state.active_state} ({state.sub_state}), restarts {state.restarts}")
    found.facts.update(facts_from_command(state.exec_start))
    found.facts.update({f"env.{key}": value for key, value in state.environment.items()})
    found.facts.update(installed_versions(state.exec_start))
    if state.output_file:
        found.gaps.append(
            Gap("output-elsewhere", f"{name} writes its output to {state.output_file}, which was read too")
        )
        found.files.append(state.output_file)
    return found
