"""Where a watch begins: at the start that is going on, at one that failed just now, or at the next one."""

from __future__ import annotations

import os
from pathlib import Path

from triage.model import TriageError
from triage.records import dataclass, field, replace
from triage.sources.files import file_gaps, journal_files
from triage.sources.query import conjoin_all, invocation_groups, manager_groups, output_groups
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Entry
    from triage.sources.query import Group
    from triage.sources.reader import Reader
    from triage.sources.systemctl import UnitState
    from triage.watching.host import Host

_RUNNING = ("active", "activating", "reloading", "deactivating")
# sd-messages.h: a unit is starting, was started
_STARTS = ("7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf")
# it failed, ended, was stopped, could not be started, is restarted
_FAILED, _DEACTIVATED, _STOPPED = (
    "d9b373ed55a64feb8242e02dbe79a49c", "7ad2d189f7e94e70a38c781354912448", "9d1aaa27d60140bd96365438aad20286",
)  # fmt: skip
_ENDS = (
    _FAILED, _DEACTIVATED, _STOPPED,
    "be02cf6855d2428ba40df7e9d022f03d", "5eb03494b6584870a536b337290809b3",
)  # fmt: skip
# A run that ended so many seconds ago is the one that is meant: it was started, failed, and the watch came after it.
_BOOTED = Path("/run/systemd/system")  # sd_booted(3)
_JUST_NOW = 60.0
# A run of more seconds is not read again only to see what changed since.
_LONGEST_RUN = 2 * 3600


@dataclass(slots=True)
class Origin:
    """Where a watch begins. `since` is microseconds since the epoch, `ended` how many seconds ago the last run ended.

    `running` says that a start is going on (or went through), `to_start` that the unit is to be started. `restarts` is
    systemd's counter. `facts` are what the host says of the unit, `notes` what the user should know. `outputs` are the
    files that the unit writes to, with their sizes; `deaf` says that what it prints can't be read at all.
    """

    since: int
    running: bool = False
    recent: bool = False
    to_start: bool = False
    ended: float | None = None
    restarts: int = 0
    state: UnitState | None = None
    facts: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    outputs: dict[str, int] = field(default_factory=dict)
    deaf: bool = False


def find_origin(host: Host, unit: str, *, start: bool) -> Origin:
    """Take a host, a unit's full name, and whether it is to be started; return where to begin.

    Raises `TriageError` for a unit that there is not, and a journal that can't be read.
    """
    from triage.sources.live import surroundings
    from triage.sources.source import choose_reader

    prepare(host, unit)
    reader = choose_reader(host.query)
    user = host.query.user
    manager, output = manager_groups(unit, user=user), output_groups(unit, user=user)
    state = host.unit_state(unit)
    last = _newest(reader, [*manager, *output])
    if state is None and last is None:
        raise _unknown(reader, unit, host)
    now = host.now()
    origin = Origin(int(now * 1_000_000), state=state, restarts=state.restarts if state else 0)
    begun = _newest(reader, conjoin_all(manager, [(("MESSAGE_ID", _STARTS[0]),), (("MESSAGE_ID", _STARTS[1]),)]))
    ended = _newest(reader, conjoin_all(manager, [(("MESSAGE_ID", one),) for one in _ENDS]))
    dead = ended is not None and (begun is None or ended.realtime >= begun.realtime)
    origin.ended = now - ended.realtime / 1_000_000 if dead and ended is not None else None
    if state is not None:
        origin.running = state.active_state in _RUNNING and state.sub_state != "auto-restart"
    else:
        origin.running = last is not None and not dead
    origin.recent = not origin.running and origin.ended is not None and origin.ended < _JUST_NOW
    origin.to_start = start and not origin.running
    if origin.running or (origin.recent and not start):
        invocation = (state.invocation if state else "") or _invocation(begun or last)
        first = next(reader.read(invocation_groups(invocation), limit=1), None) if invocation else None
        if first is not None:
            origin.since = first.realtime
    origin.facts = surroundings(replace(host.query, units=[unit])).facts
    _outputs(origin, host)
    return origin


def run_before(host: Host, unit: str, began: float) -> str:
    """Take a host, a unit's full name, and when its present run began (seconds since the epoch); return the invocation
    of the run before, if that failed within a few hours; empty otherwise.
    """
    from triage.sources.source import choose_reader

    reader = choose_reader(host.query)
    manager = manager_groups(unit, user=host.query.user)
    until = int(began * 1_000_000) - 1
    ends = conjoin_all(manager, [(("MESSAGE_ID", one),) for one in _ENDS[:3]])
    last = next(reader.read(ends, until=until, newest_first=True, limit=1), None)
    while last is not None and last.fields.get("MESSAGE_ID") == _STOPPED:
        # systemd says that a unit is stopped after it said how that came about.
        last = next(reader.read(ends, until=last.realtime - 1, newest_first=True, limit=1), None)
    if last is None or last.fields.get("MESSAGE_ID") != _FAILED:
        return ""
    invocation = _invocation(last)
    first = next(reader.read(invocation_groups(invocation), limit=1), None) if invocation else None
    short = first is not None and last.realtime - first.realtime < _LONGEST_RUN * 1_000_000
    return invocation if short else ""


def prepare(host: Host, unit: str) -> None:
    """Take a host and a unit's full name; have the journal namespace of the unit read too, if it has one."""
    state = host.unit_state(unit)
    if state is not None and state.log_namespace and host.query.namespace is None:
        host.query = replace(host.query, namespace=f"+{state.log_namespace}")


def _outputs(origin: Origin, host: Host) -> None:
    """Find where else the unit's output goes, and whether it can be read there, or in the journal."""
    files = origin.state.output_files if origin.state is not None else []
    for path in files:
        try:
            origin.outputs[path] = Path(path).stat().st_size if host.query.live else 0
        except OSError:
            origin.outputs[path] = 0  # it will be there when the unit is started
    if files and not host.query.live:
        origin.outputs.clear()
        origin.deaf = True
        origin.notes.append(
            f"it writes its output to {', '.join(files)} there, which is not read: --health can tell more"
        )
    elif files:
        origin.notes.append(f"it writes its output to {', '.join(files)}, which is followed from now on")
    if host.query.live and os.geteuid():
        denied = [gap for gap in file_gaps(journal_files(host.query), lambda _: True) if gap.kind == "permission"]
        origin.deaf = origin.deaf or bool(denied)
        origin.notes += [gap.detail for gap in denied]


def _newest(reader: Reader, groups: list[Group]) -> Entry | None:
    return next(reader.read(groups, newest_first=True, limit=1), None)


def _invocation(entry: Entry | None) -> str:
    if entry is None:
        return ""
    names = ("INVOCATION_ID", "USER_INVOCATION_ID", "_SYSTEMD_INVOCATION_ID")
    return next((entry.fields[name] for name in names if entry.fields.get(name)), "")


def _unknown(reader: Reader, unit: str, host: Host) -> TriageError:
    from triage.sources.units import known_units, unknown_unit

    user = host.query.user
    known, elsewhere = known_units(reader, user=user), known_units(reader, user=not user)
    if host.query.live and not known and not _BOOTED.is_dir():
        return TriageError(
            "systemd does not run on this host: `triage run -- COMMAND` watches a command, -H HOST another host's unit"
        )
    error = unknown_unit(unit, known, elsewhere, user=user)
    return TriageError(str(error).replace(" in this journal", "", 1)) if host.controls else error
