"""A log that is still being written: what is new in it each time that somebody looks, in bounded memory over days.

Whoever reads the stream feeds lines and looks when nothing has come for a while, when a unit died, and at the end.
Every look diagnoses what was read of each service's last attempts; a failure that was told already is only counted.
"""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy

from triage.events import Extractor
from triage.incident.attempts import root_of
from triage.incident.nodes import join
from triage.pipeline import Options, examine, services_of
from triage.reading import Reading
from triage.records import dataclass, replace
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.incident.attempts import Service
    from triage.library import Library
    from triage.model import Event, Failure, Incident, Line

# So many attempts of a service are kept: the last one may be too young to say anything of.
_ATTEMPTS = 2
# Of more events those that matter least are forgotten: failures keep the first ones, which may be the root.
_MOST_EVENTS = 4000
_FIRST, _LATEST = 200, 1000
_CONTEXT = ("facts", "arguments", "ready", "graceful-stop")
_MOST_TOLD = 10_000
# A failure that comes again and again is told again so many times later.
_STEP = 10


@dataclass(slots=True)
class News:
    """Something that was not told before.

    `incident`: an attempt failed, or serves with losses, and its root was not told yet. `failure`: one beside the
    root, or one that the service outlived. `again`: either of them came again, `times` in all. `end`: how a service
    stands when the log ends, where nothing was told of it.
    """

    kind: Literal["incident", "failure", "again", "end"]
    incident: Incident
    failure: Failure | None = None
    times: int = 1


class Follower:
    """Takes the lines of a source, or of the hosts of one run, as they come.

    `last` holds each service's last incident, by its unit; of several sources by source and unit.
    """

    def __init__(self, name: str, library: Library, options: Options | None = None) -> None:
        """Take the source's name and the signatures."""
        self.last: dict[str | None, Incident] = {}
        self._name = name
        self._library = library
        self._options = options or Options()
        self._extractor = Extractor(library.line_patterns())
        self._extractors = {name: self._extractor}
        self._seen = (0, 0)
        self._told: OrderedDict[tuple[str, ...], int] = OrderedDict()
        self._attempts: dict[str | None, int] = {}

    @property
    def unsaid(self) -> bool:
        """Whether something that may be a failure came since the last look."""
        return self._counts[0] > self._seen[0]

    @property
    def died(self) -> bool:
        """Whether a unit died since the last look."""
        return self._counts[1] > self._seen[1]

    @property
    def _counts(self) -> tuple[int, int]:
        several = self._extractors.values()
        return sum(each.failures for each in several), sum(each.deaths for each in several)

    def feed(self, lines: Iterable[Line], source: str | None = None) -> None:
        """Take the next lines, of another source than the follower's own where it is named."""
        extractor = self._extractor if source is None else self._of(source)
        for line in lines:
            extractor.feed(line)

    def _of(self, source: str) -> Extractor:
        extractor = self._extractors.get(source)
        if extractor is None:
            extractor = self._extractors[source] = Extractor(self._library.line_patterns())
        return extractor

    def add(self, event: Event) -> None:
        """Take what no line says: that nothing was said for long, that a process is gone."""
        self._extractor.add(event)

    def flush(self, source: str | None = None) -> None:
        """Nothing has come for a while, of any source or of one: what is open is finished as it is."""
        for extractor in self._extractors.values() if source is None else [self._of(source)]:
            extractor.flush()

    def look(self) -> list[News]:
        """Return what is new since the last look, in the order in which it happened; what is open waits."""
        self._seen = self._counts
        read = {
            name: list(services_of(Reading(name, extractor.result())))
            for name, extractor in self._extractors.items()
            if extractor.lines or len(self._extractors) == 1
        }
        news: list[News] = []
        self.last = {}
        for service in self._joined([service for services in read.values() for service in services]):
            incidents = examine(service, self._library, self._options)
            for incident in incidents:
                news += self._of_incident(incident)
            self._count(service, incidents)
        for name, services in read.items():
            self._forget(self._extractors[name], services)
        return news

    def _joined(self, services: list[Service]) -> list[Service]:
        """Join the nodes of one run; on copies, for joining gives every line another number and time."""
        if len(self._extractors) == 1:
            return services
        copies = [replace(service, attempts=deepcopy(service.attempts)) for service in services]
        return join(copies, together=self._options.together)

    def close(self) -> list[News]:
        """The log ends: return what is left to tell, at least how each service stands."""
        self.flush()
        news = self.look()
        news += [
            News("end", incident) for incident in self.last.values() if incident.outcome in ("healthy", "starting")
        ]
        return news

    def _of_incident(self, incident: Incident) -> Iterator[News]:
        attempt, unit = _identity(incident), _unit(incident) or ""
        root = root_of(incident)
        if incident.outcome in ("failed", "degraded"):
            mark = root.fingerprint if root is not None else incident.outcome
            if not self._known(("attempt", attempt, mark)):
                times = self._add(("root", unit, mark))
                yield News("incident" if times == 1 else "again", incident, root, times)
            elif root is not None:
                yield from self._more(incident, root, attempt)
        for failure in incident.failures:
            if failure is root or failure.level is None or not _by_itself(incident, failure):
                continue
            if not self._known(("beside", attempt, failure.fingerprint)):
                times = self._add(("failure", unit, failure.fingerprint))
                if times == 1:
                    yield News("failure", incident, failure, failure.count)
            else:
                yield from self._more(incident, failure, attempt)

    def _more(self, incident: Incident, failure: Failure, attempt: str) -> Iterator[News]:
        """A failure of one attempt that goes on: told at 10 times, at 100, and so on."""
        key = ("count", attempt, failure.fingerprint)
        told = self._told.get(key, 1)
        reached = told
        while reached * _STEP <= failure.count:
            reached *= _STEP
        if reached > told:
            self._told[key] = reached
            yield News("again", incident, failure, failure.count)

    def _known(self, key: tuple[str, ...]) -> bool:
        """Whether this was told before; from now on it was."""
        return self._add(key) > 1

    def _add(self, key: tuple[str, ...]) -> int:
        times = self._told[key] = self._told.pop(key, 0) + 1
        if len(self._told) > _MOST_TOLD:
            self._told.popitem(last=False)
        return times

    def _count(self, service: Service, incidents: list[Incident]) -> None:
        """Number the attempts through, forgotten ones included."""
        unit = service.attempts[-1].unit
        if len(self._extractors) > 1:
            unit = f"{service.name}: {unit or ''}"
        for incident in incidents:
            if not self._known(("counted", _identity(incident))):
                self._attempts[unit] = self._attempts.get(unit, 0) + 1
        if incidents:
            incidents[-1].attempts.count = max(incidents[-1].attempts.count, self._attempts[unit])
            self.last[unit] = incidents[-1]

    def _forget(self, extractor: Extractor, services: list[Service]) -> None:
        """Forget the attempts before the last ones, and of very many events those that matter least."""
        kept = [attempt for service in services for attempt in service.attempts[-_ATTEMPTS:]]
        events = list({id(event): event for attempt in kept for event in attempt.events}.values())
        if any(len(service.attempts) > _ATTEMPTS for service in services) or len(events) > _MOST_EVENTS:
            staying = {id(event) for event in _most_telling(events)}
            before = min((event.order for event in events), default=0)
            extractor.forget(lambda event: id(event) not in staying, before)


def _by_itself(incident: Incident, failure: Failure) -> bool:
    """Whether it is told beside the root: while a service goes on, what merely came later follows from nothing."""
    if failure.role == "consequence":
        merely_later = failure.because is not None and failure.because.rule in ("later", "request")
        return merely_later and incident.outcome == "degraded"
    return failure.role in ("unrelated", "recovered", "suspect")


def _most_telling(events: list[Event]) -> list[Event]:
    if len(events) <= _MOST_EVENTS:
        return events
    failures = [event for event in events if event.level is not None]
    context = [
        e for e in events if e.level is None and (e.rule in _CONTEXT or e.rule.startswith(("phase/", "systemd/")))
    ]
    others = [
        e for e in events if e.level is None and not (e.rule in _CONTEXT or e.rule.startswith(("phase/", "systemd/")))
    ]
    return [*context[:_LATEST], *others[-_LATEST:], *failures[:_FIRST], *failures[_FIRST:][-_LATEST:]]


def _unit(incident: Incident) -> str | None:
    return incident.members[0].unit if incident.members else None


def _identity(incident: Incident) -> str:
    """What tells an attempt from all others of the log."""
    member = incident.members[0] if incident.members else None
    if member is not None and member.invocation:
        return member.invocation
    unit = member.unit if member else ""
    return f"{incident.source}: {unit}@{incident.began.offset if incident.began else 0}"
