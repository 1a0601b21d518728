"""Opens the journal for a query: which way, which units, which span of time, and what of it can't be read."""

from __future__ import annotations

import os

from triage.model import Gap, TriageError
from triage.records import dataclass, field, replace
from triage.sources import span
from triage.sources.files import file_gaps, journal_files, namespaces
from triage.sources.parts import JournalSource, Part
from triage.sources.query import (
    KERNEL,
    conjoin_all,
    invocation_groups,
    manager_groups,
    match_groups,
    other_groups,
    output_groups,
)
from triage.sources.times import parse_time
from triage.sources.units import is_pattern, known_units, resolve_units, unknown_unit
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from triage.model import Entry
    from triage.sources.query import Group, JournalQuery
    from triage.sources.reader import Reader

_STARTS = ("39f53479d3a045ac8e11786248231fbf", "7d4958e842da4a758f6c1cdc7b36dcc5")  # SD_MESSAGE_UNIT_STARTED, _STARTING
_SPAWN_FAILED = "641257651c1b4ec9a8624d7a40a9e1e7"
_KERNEL_AFTER = 5_000_000
_CORE_DUMP_AFTER = 60_000_000  # writing the core of a process that held a model's weights takes a while


def open_journal(query: JournalQuery) -> JournalSource:
    """Take a query; return the journal's entries that it is about, opened through systemd-python or else journalctl.

    Raises `TriageError` for a journal that can't be read, a unit or time span that it has nothing of, and for values
    that cannot be right.
    """
    if query.remote is None:
        return _open(query)
    try:
        return _open(query)
    except TriageError as error:
        host = f"{query.remote.host}: "
        raise error if str(error).startswith(host) else type(error)(f"{host}{error}") from None


def _open(query: JournalQuery) -> JournalSource:
    query.check()
    since = parse_time(query.since) if query.since else None
    until = parse_time(query.until) if query.until else None
    if since is not None and until is not None and since > until:
        raise TriageError("--since is later than --until")
    paths = files_of(query)
    reader = choose_reader(query)
    gaps = file_gaps(paths, reader.reads) if query.remote is None else list(query.remote.gaps)
    return _Opening(query, reader, since, until, gaps).open()


def files_of(query: JournalQuery) -> list[Path]:
    """Take a query; return the files of its journal, none of a container's or another host's.

    Raises `TriageError` where there are none that can be read.
    """
    paths = journal_files(query)
    if not paths and not query.elsewhere:
        raise TriageError("this host keeps no journal: read another one with -D or --file, or a log with `triage logs`")
    return paths


class NothingYetError(TriageError):
    """What was asked for is known, but the journal has no line of it, or none of that time."""


def journal_name(query: JournalQuery) -> str:
    """Take a query; return the name of its journal: `journal`, `--user` where it is about units of user managers, and
    whose it is where it is not this host's. Folders and files have a `/` in them, names of containers have none.
    """
    kind = "journal --user" if query.user else "journal"
    if query.live:
        return kind
    if query.remote is not None:
        return f"{kind} ssh://{query.remote.host}"
    places = [str(place) for place in ([query.directory] if query.directory else query.files)]
    whose = query.machine or ", ".join(place if "/" in place else f"./{place}" for place in places)
    return f"{kind} {whose}"


def choose_reader(query: JournalQuery) -> Reader:
    """Take a query; return the way to its journal: systemd-python, or journalctl where that is not installed.

    A container's journal (`-M`) and another host's (`-H`) are read through journalctl, which finds them. Raises
    `TriageError` for a folder or file that can't be read.
    """
    from triage.sources.journal import LibsystemdReader, load
    from triage.sources.journalctl import JournalctlReader

    factory = None if query.elsewhere else load()
    return JournalctlReader(query) if factory is None else LibsystemdReader(query, factory)


@dataclass
class _Opening:
    """The steps of `open_journal` and what they share."""

    query: JournalQuery
    reader: Reader
    since: int | None
    until: int | None
    gaps: list[Gap]
    notes: list[str] = field(default_factory=list)

    def open(self) -> JournalSource:
        query = self.query
        self.wanted = match_groups(query.matches)
        if query.boot is not None and query.boot != "all":
            boot = (("_BOOT_ID", span.find_boot(self.reader, query.boot, live=query.live)),)
            self.boot: list[Group] = [boot]
            self.wanted = self._both(self.wanted, self.boot)
        else:
            self.boot = []
        units = self._units()
        parts = [part for unit in units for part in self._unit(unit)]
        if query.invocation and query.invocation != "all" and not units:
            parts = self._invocation(None, query.invocation)
        if not parts and self.wanted:
            parts = [Part(self.wanted, [], self.since, self.until)]
        self._bounds(parts, units)
        if parts:
            parts.extend(self._kernel())
        else:
            parts = [Part([], [], self.since, self.until)]
        name = journal_name(query)
        return JournalSource(name, self.reader, parts, units=units, gaps=self.gaps, notes=self.notes, begin=self.begin)

    @property
    def _uid(self) -> int | None:
        """The user whose units are meant: this one, unless root asks or the journal is another host's."""
        return os.getuid() if self.query.user and self.query.live and os.getuid() else None

    def _units(self) -> list[str]:
        """Resolve names and patterns; raise `TriageError` for units that the journal has nothing of."""
        query = self.query
        known: set[str] | None = None
        if any(map(is_pattern, query.units)):
            known = known_units(self.reader, user=query.user)
        units = resolve_units(query.units, known or ())
        for unit in units:
            if (known is None or unit not in known) and not self._first(self._groups(unit)):
                raise self._unknown(unit, known)
        return units

    def _unknown(self, unit: str, known: set[str] | None) -> TriageError:
        query = self.query
        denied = next((gap for gap in self.gaps if gap.kind == "permission"), None)
        if query.live or query.remote is not None:
            from triage.sources.live import state_of

            state = state_of(query, unit)
            if state is not None:
                said = f"{unit} is known to systemd ({state.active_state}, {state.sub_state})"
                why = denied.detail if denied else "was it ever started?"
                return NothingYetError(f"{said}, but the journal has no line of it: {why}")
        if denied is not None:
            return TriageError(f"nothing of {unit} can be read: {denied.detail}")
        names = known_units(self.reader, user=query.user) if known is None else known
        return unknown_unit(unit, names, known_units(self.reader, user=not query.user), user=query.user)

    def _groups(self, unit: str) -> list[Group]:
        user, uid = self.query.user, self._uid
        return [
            *output_groups(unit, user=user, uid=uid),
            *manager_groups(unit, user=user, uid=uid),
            *other_groups(unit, user=user),
        ]

    def _unit(self, unit: str) -> list[Part]:
        """Return what is to be read of one unit."""
        query = self.query
        manager = conjoin_all(manager_groups(unit, user=query.user, uid=self._uid), self.boot)
        if query.invocation and query.invocation != "all":
            return self._invocation(unit, span.find_invocation(self.reader, manager, query.invocation, unit))
        since = self.since
        if query.invocation is None:
            start, left = span.recent(self.reader, manager, query.attempts, self.since, self.until)
            if start is not None:
                since = start
                plural = "invocation" if left == 1 else "invocations"
                self.notes.append(f"{left} earlier {plural} of {unit} not read (--invocation all reads them)")
        output = output_groups(unit, user=query.user, uid=self._uid)
        about = [*manager_groups(unit, user=query.user, uid=self._uid), *other_groups(unit, user=query.user)]
        return [self._part(output, about, since, self.until)]

    def _part(self, output: list[Group], about: list[Group], since: int | None, until: int | None) -> Part:
        """Return a part, narrowed to the matches and the boot asked for."""
        part = Part(conjoin_all(output, self.wanted), conjoin_all(about, self.wanted), since, until)
        if not part.groups:
            raise TriageError(f"no entry can match all of {' '.join(self.query.matches)} and the unit")
        return part

    @staticmethod
    def _both(one: list[Group], other: list[Group]) -> list[Group]:
        both = conjoin_all(one, other)
        if not both and (one or other):
            raise TriageError("no entry can match all of this at once")
        return both

    def _invocation(self, unit: str | None, invocation: str) -> list[Part]:
        """Return what is to be read of one invocation, of whatever unit it is where none was named."""
        output, *about = invocation_groups(invocation)
        first, last = self._first([output, *about]), self._last([output, *about])
        if first is None or last is None:
            raise TriageError(f"--invocation {invocation}: the journal has no line of it")
        parts = [self._part([output], about, self.since, self.until)]
        fields = first.fields
        unit = unit or fields.get("UNIT") or fields.get("USER_UNIT") or fields.get("_SYSTEMD_UNIT")
        if unit:
            user = self.query.user or "USER_UNIT" in fields
            after = self._first(manager_groups(unit, user=user), last.realtime + 1)
            end = min(last.realtime + _CORE_DUMP_AFTER, after.realtime if after else last.realtime + _CORE_DUMP_AFTER)
            if others := conjoin_all(other_groups(unit, user=user), self.wanted):
                parts.append(Part([], others, first.realtime, end))
        return parts

    def _bounds(self, parts: Sequence[Part], units: Sequence[str]) -> None:
        """Find the first and the last entry, and what that tells of gaps. Raises `TriageError` where there is none."""
        query = self.query
        firsts = [entry for part in parts if (entry := self._first(part.groups, part.since, part.until))]
        lasts = [entry for part in parts if (entry := self._last(part.groups, part.since, part.until))]
        if parts and not firsts:
            what = ", ".join(units) or " ".join(query.matches)
            given = [f"--since {query.since}"] * bool(query.since) + [f"--until {query.until}"] * bool(query.until)
            given += [f"-b {query.boot}"] * (query.boot is not None)
            raise NothingYetError(f"the journal has nothing of {what}{' with ' + ' '.join(given) if given else ''}")
        last = max(lasts, key=lambda entry: entry.realtime, default=None)
        self.begin = min((entry.realtime for entry in firsts), default=None)
        self.end = last.realtime if last else None
        self.last_boot = last.fields.get("_BOOT_ID") if last else None
        for unit in units:
            self._output_gap(unit)
        if len(units) == 1 and self.since is None and not query.matches and last:
            self._rotated_gap(units[0], last)

    def _kernel(self) -> list[Part]:
        query = self.query
        if not query.kernel:
            self.gaps.append(Gap("no-kernel", "the kernel's lines were left out (--no-kernel)"))
            return []
        boot: Group = (("_BOOT_ID", self.last_boot),) if self.last_boot else ()
        if not self._first(conjoin_all([KERNEL], [boot] if boot else [])):
            self.gaps.append(
                Gap("no-kernel", "the journal has no kernel lines of this boot: an OOM kill or Xid would not show")
            )
            return []
        end = None if self.end is None else self.end + _KERNEL_AFTER
        if end is not None and self.until is not None:
            end = min(end, self.until)
        return [Part([], conjoin_all([KERNEL], self.boot), self.begin, end)]

    def _output_gap(self, unit: str) -> None:
        """Tell where a unit that was started, but of which the journal has no output, may have it."""
        query = self.query
        manager = conjoin_all(manager_groups(unit, user=query.user, uid=self._uid), self.boot)
        output = conjoin_all(output_groups(unit, user=query.user, uid=self._uid), self.boot)
        if self._first(output, self.since, self.until):
            return
        started = conjoin_all(manager, [(("MESSAGE_ID", _STARTS[0]),)])
        failed = conjoin_all(manager, [(("MESSAGE_ID", _SPAWN_FAILED),)])
        if not self._first(started, self.since, self.until) or self._first(failed, self.since, self.until):
            return
        if query.live or query.remote is not None:
            from triage.sources.live import state_of

            state = state_of(query, unit)
            if state is not None and (state.output_files or state.log_namespace):
                return  # triage.sources.live tells of it
        for name in namespaces(query) if query.namespace is None else []:
            there = choose_reader(replace(query, namespace=name))
            if next(there.read(output_groups(unit, user=query.user), limit=1), None):
                self.gaps.append(
                    Gap("namespace", f"what {unit} printed is in the journal namespace {name}: add --namespace=+{name}")
                )
                return
        self.gaps.append(
            Gap(
                "output-elsewhere",
                f"the journal has what systemd says of {unit} but nothing that it printed: its output goes elsewhere "
                "(StandardOutput=, LogNamespace=, a container's own log)",
            )
        )

    def _rotated_gap(self, unit: str, last: Entry) -> None:
        """Tell where the journal begins after the start of the last invocation."""
        own = unit in (last.fields.get("_SYSTEMD_UNIT"), last.fields.get("_SYSTEMD_USER_UNIT"))
        invocation = last.fields.get("_SYSTEMD_INVOCATION_ID") if own else span.invocation_of(last)
        if invocation is None:
            return
        starts = (("MESSAGE_ID", _STARTS[0]), ("MESSAGE_ID", _STARTS[1]))
        output, *about = invocation_groups(invocation)
        if self._first([output]) and not self._first(conjoin_all(about, [starts])):
            self.gaps.append(
                Gap("rotated", f"the journal begins after the last start of {unit}: its first lines are gone")
            )

    def _first(self, groups: Sequence[Group], since: int | None = None, until: int | None = None) -> Entry | None:
        return next(self.reader.read(groups, since, until, limit=1), None)

    def _last(self, groups: Sequence[Group], since: int | None = None, until: int | None = None) -> Entry | None:
        return next(self.reader.read(groups, since, until, newest_first=True, limit=1), None)
