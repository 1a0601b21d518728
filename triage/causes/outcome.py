"""Whether the service failed, serves with losses, is healthy or is starting: from its failures and what it served."""

from __future__ import annotations

from triage.lazy import regex
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.incident.attempts import Attempt
    from triage.model import Event, Failure, Incident, Outcome

# Failures at least this weak follow from others; they do not say that something was broken before an end.
_WEAK = 2.0
# Said so often, waiting is no hiccup.
_AGAIN = 3
# Names of an engine's processes, as the kernel knows them. Their threads have names of their own.
_OWN = regex(r"python|pt_main_thread|sglang|vllm|VLLM|ray|torchrun")
_DEATH_OF_UNIT = ("systemd/failed", "systemd/main-exited", "systemd/failed-to-start", "systemd/start-limit")


@dataclass(slots=True)
class Course(Record):
    """What a run did, by the running numbers of its lines: -1 where it never did."""

    ready: int = -1
    served: int = -1
    answered: int = -1
    server_errors: int = 0
    server_error_last: int = -1
    stopping: int = -1
    started: int = -1
    unit_death: int = -1
    graceful: int = -1
    graceful_last: int = -1
    first_fatal: int = -1
    progress: int = -1


def course(attempt: Attempt, incident: Incident) -> Course:
    """Take a run's events; return when it was ready, what it served last, when it was stopped or died."""
    found = Course()
    for event in attempt.events:
        number, last = event.order, int(event.data.get("last", event.order))
        if event.rule == "ready" or (event.rule == "phase/http" and event.data["edge"] == "end" and incident.ready):
            found.ready = max(found.ready, number)
        elif event.rule in ("serving/batch", "serving/ok"):
            found.served = max(found.served, last)
            found.answered = max(found.answered, last)
        elif event.rule == "serving/server-error":
            found.server_errors += int(event.data["count"])
            found.server_error_last = max(found.server_error_last, last)
            found.answered = max(found.answered, last)
        elif event.rule == "serving/client-error":
            found.answered = max(found.answered, last)
        elif event.rule == "systemd/stopping":
            found.stopping = number
        elif event.rule in ("systemd/starting", "systemd/started"):
            found.started = number
        elif event.rule == "graceful-stop":
            found.graceful = number if found.graceful < 0 else found.graceful
            found.graceful_last = max(found.graceful_last, last)
        if event.rule.startswith("phase/"):
            found.progress = number
        if event.exception is not None and event.exception.type == "KeyboardInterrupt" and found.graceful < 0:
            found.graceful = found.graceful_last = number
        if event.rule in _DEATH_OF_UNIT and found.unit_death < 0:
            found.unit_death = number
        if event.fatal and found.first_fatal < 0 and not _expected_after_stop(event):
            found.first_fatal = number
    return found


def _expected_after_stop(event: Event) -> bool:
    return event.kind == "unit" and event.level is None


def stopped_by_operator(found: Course) -> bool:
    """Whether systemd was told to stop the service before anything had died."""
    return found.stopping >= 0 and not 0 <= found.first_fatal < found.stopping


def decide(incident: Incident, found: Course) -> None:
    """Set the incident's outcome; give failures that did no lasting harm their role."""
    failures = [failure for failure in incident.failures if failure.level is not None]
    if stopped_by_operator(found):
        incident.stopped_by_operator = True
        for failure in failures:
            if failure.order > found.stopping or found.served >= 0 or not failure.fatal:
                failure.role = "teardown" if failure.order > found.stopping else "unrelated"
        incident.outcome = "healthy"
        return
    candidates = [f for f in failures if f.data.get("role") != "teardown"]
    _end_in_order(candidates, found)
    candidates = [f for f in candidates if f.role != "teardown" and not _was_pending(f, found)]
    candidates = [f for f in candidates if "stall" not in f.data or stands_still(f, found)]
    fatal = [f for f in candidates if f.fatal and not _survived(f, found)]
    if fatal:
        incident.outcome = "failed"
        return
    lost = _requests_lost(candidates, found)
    hard = [f for f in candidates if not _overcome_in_start(f, found)]
    if not hard and not lost:
        incident.outcome = _quiet(incident, found)
        return
    up = found.ready >= 0 or found.answered >= 0 or any("stall" in f.data for f in candidates)
    if not up:
        before = [f for f in hard if found.graceful < 0 or f.order < found.graceful]
        incident.outcome = "failed" if before else _quiet(incident, found)
        return
    alive = max(found.served, found.answered, found.ready)
    after = [f for f in hard if _last(f) > alive and not _request(f) and not _foreign(f)]
    if after and not _mere_request_trouble(after) and found.graceful < 0:
        incident.outcome = "failed"
        return
    incident.outcome = "degraded" if lost else "healthy"


def _end_in_order(failures: list[Failure], found: Course) -> None:
    """A server that was told to end, nothing broken before, nothing served after: what its end prints is teardown.

    Only how processes end counts as such; what the kernel, Kubernetes or a GPU say does not.
    """
    alive = max(found.served, found.ready)
    if found.graceful < 0 or found.graceful_last <= alive:
        return
    before = [f for f in failures if f.order < found.graceful and (f.level or 0.0) < _WEAK and not _survived(f, found)]
    if any(f.fatal or (_last(f) > alive and not _request(f) and not _foreign(f)) for f in before):
        return
    for failure in failures:
        ends = failure.kind == "exit" or failure.exception is not None
        if failure.order > found.graceful and ends:
            failure.role = "teardown"


def _overcome_in_start(failure: Failure, found: Course) -> bool:
    """A line called an error after which the start went on, or one that is no failure while the server goes on."""
    if failure.fatal or failure.kind != "message":
        return False
    if "soft" in failure.data or "stall" in failure.data:
        return True
    guessed = failure.rule in ("message/error", "message/exception")
    return guessed and found.progress > _last(failure)


def _survived(failure: Failure, found: Course) -> bool:
    """A death of one process that the service outlived: it came up, or served, only afterwards."""
    if failure.rule == "kernel/segfault" and not _OWN.match(failure.data.get("process", "")):
        return max(found.ready, found.served) > _last(failure) >= 0
    if failure.kind in {"unit", "kernel"}:
        return False
    return failure.level is not None and failure.level >= 0.5 and found.ready > _last(failure) >= 0


def _last(failure: Failure) -> int:
    return int(failure.data.get("last", failure.order))


def _request(failure: Failure) -> bool:
    return "request" in failure.data or "soft" in failure.data


def _foreign(failure: Failure) -> bool:
    return failure.data.get("kind") in ("foreign", "client-of-the-server")


def _was_pending(failure: Failure, found: Course) -> bool:
    """What kept a container from starting, in the log of one that started."""
    return "pending" in failure.data and max(found.ready, found.answered, found.progress) >= 0


def stands_still(failure: Failure, found: Course) -> bool:
    """A server that was up waits for one of its processes, says so again and again, and serves nothing more.

    Only a server that is up runs SGLang's health check, so a log that begins later needs no line that says it was.
    """
    alive = max(found.ready, found.served, found.answered)
    late = failure.rule == "sglang/health-check" and found.progress < 0
    return failure.count >= _AGAIN and (alive >= 0 or late) and alive < _last(failure)


def _mere_request_trouble(failures: list[Failure]) -> bool:
    return all(f.level is not None and f.level >= 1.5 and f.kind == "message" for f in failures)


def _requests_lost(failures: list[Failure], found: Course) -> bool:
    # A log that begins later than the server does shows neither its start nor that it was ready.
    up = found.ready >= 0 or found.served >= 0 or found.progress < 0
    if found.server_errors and up:
        return True
    return any("lost" in f.data or ("stall" in f.data and stands_still(f, found)) for f in failures)


def _quiet(incident: Incident, found: Course) -> Outcome:
    if any("soft" in f.data and f.rule.endswith("/retract") for f in incident.failures):
        return "degraded"
    if found.ready >= 0 or found.answered >= 0 or found.graceful >= 0:
        return "healthy"
    return "starting"
