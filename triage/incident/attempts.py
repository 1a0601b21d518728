"""Which events belong to which run: services apart from each other, and one service's attempts apart.

In a journal every entry carries the unit and the invocation. In plain text an attempt ends where, after a sign of
death, systemd starts the unit again or the engine prints its banner again; a banner without a death before it is
another node, a draft model or a child. Attempts beside each other, once each was diagnosed, say how many there were,
and whether they failed in the same way.
"""

from __future__ import annotations

from collections import Counter

from triage.incident.kinds import ExceptionKinds
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.events import Extraction, Track
    from triage.model import Event, Failure, Gap, Incident

# Kernel lines may come this many seconds before or after the lines of the run that they concern.
_MARGIN = 5.0
# The kernel says at once what it did: trouble that it reports later than this after the end of a run is not its cause.
_AFTER_DEATH = 1.0
_STARTS = ("systemd/starting", "systemd/started")
_DEATHS = (
    "systemd/main-exited",
    "systemd/failed",
    "systemd/stopped",
    "systemd/deactivated",
    "systemd/restart",
    "sglang/sigquit",
    "sglang/subprocess-crashed",
    "sglang/scheduler-died",
    "process/abandoned",
    "argparse/error",
    "graceful-stop",
)
_AFTER = ("systemd/restart", "systemd/start-limit", "systemd/failed-to-start", "systemd/stopped", "systemd/consumed")


@dataclass(slots=True)
class Attempt(Record):
    """The events and writers of one run of one service, in order; `gaps` is what is known to be missing of it."""

    unit: str | None
    invocation: str | None
    events: list[Event] = field(default_factory=list)
    tracks: list[Track] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last time of its events, in seconds since the epoch."""
        times = [event.at.time for event in self.events if event.at.time is not None]
        times += [track.last.at.time for track in self.tracks if track.last.at.time is not None]
        return (min(times), max(times)) if times else None


@dataclass(slots=True)
class Service(Record):
    """The attempts of one service as one log has them, or the logs of its nodes, oldest first.

    `logs` are the names of the logs, `moments` and `lines` those of the extraction that the attempts are of.
    """

    name: str
    attempts: list[Attempt]
    logs: list[str]
    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    moments: list[tuple[int, float]] = field(default_factory=list)
    lines: int = 0


def split(extraction: Extraction) -> list[list[Attempt]]:
    """Take what was extracted; return for each service its attempts, oldest first, services by their last event."""
    spoken = {track.unit for track in extraction.tracks if track.unit}
    if not extraction.tracks:
        spoken = {event.unit for event in extraction.events if event.unit and event.invocation}
    if not spoken:
        named = Counter(event.unit for event in extraction.events if event.unit)
        unit = named.most_common()[0][0] if named else None
        return [_by_turns(unit, extraction.events, extraction.tracks)]
    units = sorted(spoken | {event.unit for event in extraction.events if event.unit and event.kind == "unit"})
    services = []
    shared = [event for event in extraction.events if not event.unit or event.kind == "kernel"]
    for unit in units:
        events = [event for event in extraction.events if event.unit == unit and event.kind != "kernel"]
        tracks = [track for track in extraction.tracks if track.unit == unit]
        attempts = _by_invocation(unit, events, tracks)
        _share(attempts, shared)
        services.append(attempts)
    services.sort(key=lambda attempts: attempts[-1].events[-1].order if attempts and attempts[-1].events else 0)
    return [attempts for attempts in services if attempts]


def _by_invocation(unit: str, events: list[Event], tracks: list[Track]) -> list[Attempt]:
    if not any(event.invocation for event in events) and not any(track.invocation for track in tracks):
        return _by_turns(unit, events, tracks)
    attempts: dict[str | None, Attempt] = {}
    current: str | None = None
    for event in events:
        current = event.invocation or current
        attempts.setdefault(current, Attempt(unit, current)).events.append(event)
    for track in sorted(tracks, key=lambda track: track.invocation is None):
        # journald no longer knows the invocation of lines that it reads after the unit has ended.
        invocation = track.invocation or _running(attempts, track.first)
        attempts.setdefault(invocation, Attempt(unit, invocation)).tracks.append(track)
    ordered = sorted(attempts.values(), key=_start)
    merged: list[Attempt] = []
    for attempt in ordered:
        if merged and not attempt.tracks and all(event.rule in _AFTER for event in attempt.events):
            merged[-1].events.extend(attempt.events)
        else:
            merged.append(attempt)
    return merged


def _running(attempts: dict[str | None, Attempt], number: int) -> str | None:
    """Return the invocation that had begun last when the line of this number was read."""
    begun = [(start, name) for name, attempt in attempts.items() if name and (start := _start(attempt)) <= number]
    return max(begun)[1] if begun else None


def _start(attempt: Attempt) -> int:
    numbers = [event.order for event in attempt.events] + [track.first for track in attempt.tracks]
    return min(numbers, default=0)


def _by_turns(unit: str | None, events: list[Event], tracks: list[Track]) -> list[Attempt]:
    attempts = [Attempt(unit, None)]
    starts = [0]
    dead = False
    mortal = ExceptionKinds()
    for event in events:
        begins = event.rule in _STARTS or bool(event.data.get("banner"))
        if begins and dead:
            attempts.append(Attempt(unit, None))
            starts.append(event.order)
            dead = False
        elif _is_death(event, mortal):
            dead = True
        attempts[-1].events.append(event)
    for track in tracks:
        index = max(i for i, start in enumerate(starts) if start <= track.last_number)
        attempts[index].tracks.append(track)
    return attempts


def _is_death(event: Event, kinds: ExceptionKinds) -> bool:
    """Whether a process of the service died with this event: by its rule, or of an exception that nobody caught."""
    if event.data.get("soft") == "True":
        return False
    if event.rule in _DEATHS or event.fatal:
        return True
    return event.exception is not None and kinds.uncaught(event.exception)


def _share(attempts: list[Attempt], shared: list[Event]) -> None:
    """Give each event of the kernel and of other programs to the attempts of its time, or that it names."""
    spans = [(each, each.span, _death(each), {track.pid for track in each.tracks}) for each in attempts]
    for event in shared:
        time = event.at.time
        for attempt, span, death, pids in spans:
            if attempt.unit and event.data.get("unit") not in (None, attempt.unit):
                continue
            inside = span is None or time is None or span[0] - _MARGIN <= time <= span[1] + _MARGIN
            if time is not None and death is not None and time > death + _AFTER_DEATH:
                inside = False
            named = event.data.get("pid", "").isdigit() and int(event.data["pid"]) in pids
            if inside and (named or event.kind != "kernel" or event.data.get("unit") or _concerns_all(event)):
                attempt.events.append(event)
    for attempt in attempts:
        attempt.events.sort(key=lambda event: event.order)


def _death(attempt: Attempt) -> float | None:
    ends = [e.at.time for e in attempt.events if e.rule in ("systemd/main-exited", "systemd/failed") and e.at.time]
    return min(ends, default=None)


def _concerns_all(event: Event) -> bool:
    """Trouble of the machine that names no process of the service: a GPU's Xid, a lost link, the host out of memory."""
    return event.rule != "kernel/segfault" and not (event.rule == "kernel/oom" and event.data.get("oom") == "memcg")


# --- attempts beside each other ---------------------------------------------------------------------------------------


def root_of(incident: Incident) -> Failure | None:
    """Take an incident; return its root failure, None where there is none."""
    return next((failure for failure in incident.failures if failure.role == "root"), None)


def drop_unfinished(incidents: list[Incident]) -> list[Incident]:
    """Take a service's incidents, oldest first; drop a last one that has only just begun after a failed one.

    A restarted service logs a few lines before anything can be said of it; the failure before it is what is asked for.
    """
    kept = list(incidents)
    while len(kept) > 1 and kept[-1].outcome == "starting" and kept[-2].outcome in ("failed", "degraded"):
        last = kept.pop()
        kept[-1].attempts.restarted = last.started
    return kept


def tell(incidents: list[Incident], count: int) -> None:
    """Take a service's incidents, oldest first, and how many attempts were read; fill in what came before each."""
    for index, incident in enumerate(incidents):
        incident.attempts.count = count - len(incidents) + index + 1
        own = root_of(incident)
        incident.attempts.failed = sum(before.outcome == "failed" for before in incidents[:index])
        marks = []
        for number, before in enumerate(incidents[:index], incident.attempts.count - index):
            root = root_of(before)
            marks.append(root.fingerprint if root else None)
            incident.attempts.earlier.append(_line(number, before, root))
        failed = [mark for mark in marks if mark is not None]
        if own is not None and failed:
            incident.attempts.same_fingerprint = all(mark == own.fingerprint for mark in failed)


def _line(number: int, incident: Incident, root: Failure | None) -> str:
    when = ""
    if incident.started is not None:
        from datetime import datetime, timezone

        moment = datetime.fromtimestamp(incident.started, timezone.utc)
        when = moment.strftime(" %Y-%m-%d %H:%M:%S") + (" UTC" if incident.zoned else "")
    if root is None:
        return f"attempt {number}{when}: {incident.outcome}"
    what = root.text.strip().splitlines()[0][:160] if root.text.strip() else root.rule
    if root.exception is not None:
        message = root.exception.message.strip().splitlines()
        what = f"{root.exception.type}: {message[0][:160]}" if message else root.exception.type
    ranks = f" on {', '.join(root.ranks[:8])}" if root.ranks else ""
    return f"attempt {number}{when}: {incident.outcome}, {what}{ranks}"
