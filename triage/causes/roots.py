"""Which failure is the root, and what the others are to it, with the rule that says so.

Every failure has a level: 0 for an own exception, 3 for a line that only says that a child failed. The root is the
earliest of the strongest level; it is never chosen by how many ranks repeat it. What a signature says of a failure's
role or of what it explains comes before the general rules.
"""

from __future__ import annotations

from triage.causes.outcome import Course, course, decide, stands_still
from triage.causes.suspects import suspect
from triage.causes.words import last_words, tell
from triage.data import knowledge
from triage.events.chain import promote
from triage.model import Because, Failure, Incident
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.incident.attempts import Attempt

# A signature's role, as a level at least.
_ROLE_LEVELS = {"consequence": 2.0, "teardown": 3.0}
# A line that a signature calls a reason is as strong as an unexplained exit, however little the line itself says.
_KNOWN_LINE = 1.0
# Lines of the root's process so few lines before it may say why it happened.
_NEAR = 400
# Nothing weaker than this can be called a root while the service is not down.
_WEAKEST_DEGRADED = 2.1


def assign(incident: Incident, attempt: Attempt) -> None:
    """Take an incident whose failures are folded and matched; set its outcome and every failure's role and because."""
    _promote_links(incident)
    _signature_roles(incident)
    found = course(attempt, incident)
    decide(incident, found)
    if incident.outcome in ("healthy", "starting"):
        _quieten(incident)
        return
    last_words(incident, attempt)
    root = _root(incident, attempt, found)
    if root is not None:
        root.role = "root"
        _explain_root(incident, root)
        tell(incident, root)
        suspect(incident, attempt, root)
    _others(incident, root, found)


def _promote_links(incident: Incident) -> None:
    """Name a failure after the link of its chain that its best signature matched, where that is sure enough.

    Of a direct cause the first stays the name, whatever a signature matched: it is what happened. While another
    exception was being handled, the last is the name, unless a signature knows an earlier one.
    """
    for failure in incident.failures:
        if failure.exception is None or not failure.diagnoses:
            continue
        best = failure.diagnoses[0]
        link = failure.exception.chain[best.link - 1] if best.link else None
        if link is not None and link.relation != "cause" and best.confidence != "possible":
            failure.exception = promote(failure.exception, best.link)
            for diagnosis in failure.diagnoses:
                diagnosis.link = 0 if diagnosis.link == best.link else diagnosis.link


def _signature_roles(incident: Incident) -> None:
    for failure in incident.failures:
        for diagnosis in failure.diagnoses[:1]:
            if diagnosis.confidence == "possible" or failure.level is None:
                continue
            if diagnosis.role in _ROLE_LEVELS:
                failure.level = max(failure.level, _ROLE_LEVELS[diagnosis.role])
                failure.data.setdefault("role", diagnosis.role)
            elif diagnosis.role == "root" and failure.kind == "message":
                failure.level = min(failure.level, _KNOWN_LINE)


def _quieten(incident: Incident) -> None:
    for failure in incident.failures:
        if failure.role == "unrelated" and failure.level is not None:
            failure.role = "teardown" if failure.data.get("role") == "teardown" else "recovered"


def _candidates(incident: Incident) -> list[Failure]:
    return [f for f in incident.failures if f.level is not None and f.data.get("role") != "teardown"]


def _root(incident: Incident, attempt: Attempt, found: Course) -> Failure | None:
    candidates = _candidates(incident)
    if incident.outcome == "degraded":
        strong = [f for f in candidates if (f.level or 0.0) <= _WEAKEST_DEGRADED or _stalled(f, found)]
        late = [f for f in strong if int(f.data.get("last", f.order)) > found.ready or "request" in f.data]
        if not late:
            # Requests were answered with 5xx, and nothing was said: that is all there is to name.
            from triage.causes.requests import unexplained

            answers = unexplained(incident, attempt)
            late = [answers] if answers is not None else []
        candidates = late or strong or [f for f in incident.failures if "soft" in f.data][:1]
    if not candidates:
        return None
    dead = [f for f in candidates if not _overcome(f, found)] or candidates
    dead = [f for f in dead if "stall" not in f.data or stands_still(f, found)] or dead
    dead = _own_victims(incident, dead)
    root = min(dead, key=lambda f: (f.level if f.level is not None else 3.0, f.order))
    return _told_whole(dead, root) or root


def _stalled(failure: Failure, found: Course) -> bool:
    return "stall" in failure.data and stands_still(failure, found)


def _told_whole(candidates: list[Failure], root: Failure) -> Failure | None:
    """Of a root whose exception line is lost, the known line before it that says what it was, if there is one."""
    if root.exception is None or root.exception.type or any(d.confidence != "possible" for d in root.diagnoses):
        return None
    told = [
        failure
        for failure in candidates
        if failure.kind == "message"
        and failure.order < root.order
        and failure.level is not None
        and failure.level <= _KNOWN_LINE
        and any(d.role == "root" and d.confidence != "possible" for d in failure.diagnoses[:1])
    ]
    return min(told, key=lambda failure: failure.order, default=None)


def _own_victims(incident: Incident, candidates: list[Failure]) -> list[Failure]:
    """Of processes that the kernel killed for memory, leave out neighbours if its own is among them."""
    pids = {str(process.pid) for process in incident.processes if process.pid is not None}
    pids |= {f.data["pid"] for f in incident.failures if f.kind == "exit" and "pid" in f.data}
    kills = [f for f in candidates if f.rule == "kernel/oom"]
    own = [f for f in kills if f.data.get("pid") in pids or f.ranks]
    return [f for f in candidates if f not in kills or f in own] if own else candidates


def _overcome(failure: Failure, found: Course) -> bool:
    """The service came up, or served, only after this one: it cannot be why the run ended."""
    last = int(failure.data.get("last", failure.order))
    return not failure.fatal and found.ready > last


def _explain_root(incident: Incident, root: Failure) -> None:
    """A warning that a signature calls the reason is attached to the root, and its remedies lead."""
    mine = {diagnosis.signature for diagnosis in root.diagnoses}
    for other in incident.failures:
        if other is root:
            continue
        for diagnosis in other.diagnoses:
            explains = mine & set(diagnosis.explains) and root.id not in diagnosis.beyond
            if explains and diagnosis.role in ("notice", "root"):
                root.because = Because(other.id, "explained-by")
                root.diagnoses.insert(0, diagnosis)
                return
    if any(diagnosis.confidence != "possible" for diagnosis in root.diagnoses):
        return
    for other in incident.failures:
        near = root.order - _NEAR <= other.order < root.order and (root.streams & other.streams)
        known = [d for d in other.diagnoses if d.role == "root" and d.confidence != "possible"]
        if other is not root and near and known and other.kind in ("message", "native"):
            root.because = Because(other.id, "native-evidence")
            root.diagnoses = [*known, *root.diagnoses]
            return


def _others(incident: Incident, root: Failure | None, found: Course) -> None:
    table = knowledge("roles")
    for failure in incident.failures:
        if failure is root or failure.level is None:
            continue
        rule = failure.data.get("kind") or table["because"].get(failure.rule) or "later"
        if root is not None and root.because is not None and root.because.failure == failure.id:
            continue
        if failure.data.get("role") == "teardown" or (found.stopping >= 0 and failure.order > found.stopping):
            failure.role = "teardown"
        elif _overcome(failure, found):
            failure.role = "recovered"
        elif root is not None and _follows(failure, root):
            failure.role = "consequence"
        else:
            failure.role = "unrelated"
        if root is not None and failure.role in ("consequence", "teardown"):
            failure.because = Because(root.id, rule)


def _follows(failure: Failure, root: Failure) -> bool:
    weaker = (failure.level or 0.0) > (root.level or 0.0)
    return failure.order > root.order or weaker
