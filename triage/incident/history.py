"""Attempts beside each other: how many there were, and whether they failed in the same way."""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Failure, Incident


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
