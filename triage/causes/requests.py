"""Requests that a server answered with an error of its own, where no line of its log says why."""

from __future__ import annotations

from triage.fingerprint import fingerprint
from triage.model import Failure
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.incident.attempts import Attempt
    from triage.model import Incident

RULE = "serving/server-error"
_LEVEL = 1.95


def unexplained(incident: Incident, attempt: Attempt) -> Failure | None:
    """Take a degraded incident whose failures explain nothing; return its 5xx answers as a failure, added to it."""
    events = [event for event in attempt.events if event.rule == RULE]
    if not events:
        return None
    first = events[0]
    failure = Failure(
        id=f"f{len(incident.failures) + 1}",
        kind="message",
        rule=RULE,
        fingerprint=fingerprint("message", RULE, None, [], "server error"),
        first=first.at,
        last=events[-1].at,
        level=_LEVEL,
        ranks=list(first.ranks),
        count=sum(int(event.data["count"]) for event in events),
        text=first.text,
        evidence=[evidence for event in events[:6] for evidence in event.evidence[:1]],
        data={"request": "1", "lost": "1", "last": events[-1].data["last"]},
        streams={event.stream for event in events},
        order=first.order,
    )
    incident.failures.append(failure)
    return failure
