"""Equal events become one failure: over ranks, over repeats, over the two ways in which one exception is printed."""

from __future__ import annotations

from triage.fingerprint import fingerprint
from triage.incident.kinds import ExceptionKinds
from triage.model import Event, Failure
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_EVIDENCE = 24
# A line that calls itself an error so many lines before a traceback of its stream is the traceback's title.
_TITLE = (1, 2)


def fold(events: Iterable[Event], engine: bool = False) -> list[Failure]:
    """Take a run's events that are failures or notices; return its failures in the order of their first lines.

    `engine` says that an engine's own lines were seen: only then can a script's exception be another program's.
    """
    kinds = ExceptionKinds(engine=engine)
    found: dict[tuple[str, str, str], Failure] = {}
    quoted: list[Event] = []
    events = list(events)
    heads = {(event.stream, event.order) for event in events if event.rule == "traceback" and event.exception}
    for event in events:
        if event.rule == "message/error" and any((event.stream, event.order + n) in heads for n in _TITLE):
            continue
        if event.rule == "message/exception" or event.data.get("inside"):
            quoted.append(event)
            continue
        _add(found, event, kinds)
    for event in quoted:
        if not _absorbed(found.values(), event):
            _add(found, event, kinds)
    failures = sorted(found.values(), key=lambda failure: failure.order)
    for number, failure in enumerate(failures, 1):
        failure.id = f"f{number}"
    return failures


def _add(found: dict[tuple[str, str, str], Failure], event: Event, kinds: ExceptionKinds) -> None:
    mark = fingerprint(event.kind, event.rule, event.exception, event.frames, event.text)
    key = (event.kind, event.rule if event.exception is None else "", mark)
    failure = found.get(key)
    if failure is None:
        failure = found[key] = Failure(
            id="",
            kind=event.kind,
            rule=event.rule,
            fingerprint=mark,
            first=event.at,
            last=event.at,
            level=event.level,
            fatal=_is_fatal(event),
            assembly=event.assembly,
            exception=event.exception,
            frames=event.frames,
            text=event.text,
            data=dict(event.data),
            order=event.order,
            count=0,
        )
        if event.role is not None:
            failure.data.setdefault("role", event.role)
        failure.ranks = list(event.ranks)
        kinds.judge(failure)
    failure.count += 1 + int(event.data.get("repeats", "0"))
    failure.fatal = failure.fatal or _is_fatal(event)
    failure.last = event.at
    failure.data["last"] = str(max(int(failure.data.get("last", "0")), event.order, int(event.data.get("last", "0"))))
    if failure.assembly == "exact":
        failure.assembly = event.assembly
    failure.streams.add(event.stream)
    for rank in event.ranks:
        if rank not in failure.ranks:
            failure.ranks.append(rank)
    if failure.first.rank is None and event.order == failure.order and event.ranks:
        failure.first.rank = event.ranks[0]
    if len(failure.evidence) < _EVIDENCE:
        failure.evidence.extend(event.evidence[: _EVIDENCE - len(failure.evidence)])


def _is_fatal(event: Event) -> bool:
    """Whether a process dies of it; of a soft watchdog none does."""
    return event.fatal and event.data.get("soft") != "True"


def _absorbed(failures: Iterable[Failure], event: Event) -> bool:
    """A line that quotes an exception, or stands in one's message, belongs to the failure that has the traceback."""
    for failure in failures:
        if failure.exception is None or (not failure.exception.frames and event.exception is None):
            continue
        if event.exception is None:
            if event.stream in failure.streams and event.text.strip() and event.text.strip()[:200] in failure.text:
                return True
            continue
        types = [(failure.exception.type, failure.exception.message)]
        types += [(link.type, link.message) for link in failure.exception.chain]
        wanted = event.exception.type.rpartition(".")[2]
        for kind, message in types:
            if kind.rpartition(".")[2] == wanted and _alike(message, event.exception.message):
                return True
    return False


def _alike(one: str, other: str) -> bool:
    one, other = " ".join(one.split())[:120], " ".join(other.split())[:120]
    return one.startswith(other[:60]) or other.startswith(one[:60])
