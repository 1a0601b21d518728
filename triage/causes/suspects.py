"""The rank that the others waited for: it raised nothing, so it is named as a suspect, never as a fact.

Two signs are used: a watchdog's py-spy dumps in which one rank's main thread stands elsewhere, and a rank that fell
silent, or stayed in an earlier phase, while the others reported that they waited.
"""

from __future__ import annotations

from triage.data import knowledge
from triage.fingerprint import fingerprint
from triage.model import Evidence, Failure, Incident, Position, Process
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.incident import Attempt

# A rank is silent when its last line is this many seconds older than the next rank's last line before the failure.
_SILENT = 20.0
_WAITING_KINDS = ("barrier", "collective-timeout")


def suspect(incident: Incident, attempt: Attempt, root: Failure) -> None:
    """Take an incident and its root; where the root is a wait, add the suspect and put its rank first."""
    if not waits(root):
        return
    from triage.events.native_pyspy import odd_one_out

    found = odd_one_out(event for event in attempt.events if event.rule == "native/py-spy")
    if found is not None:
        event, reason = found
        rank = event.data.get("rank") or (event.ranks[0] if event.ranks else None)
        _add(incident, root, rank, event.at, f"main thread elsewhere: {reason}", event.evidence[:6])
        if rank in root.ranks:
            root.ranks.remove(rank)
            root.ranks.insert(0, rank)
            root.first.rank = rank
        return
    silent = _silent(incident, root)
    if silent is not None and silent.last is not None:
        reason = f"said nothing more after: {silent.last.text[:200]}"
        _add(incident, root, silent.rank, silent.last.at, reason, [silent.last])


def waits(root: Failure) -> bool:
    """Take a root failure; return whether it only waited, for a rank that may have logged nothing."""
    if root.rule in ("sglang/watchdog", "torch/collective-timeout", "native/torch-watchdog"):
        return True
    table = knowledge("roles")
    return root.data.get("kind") in _WAITING_KINDS or table["because"].get(root.rule) in _WAITING_KINDS


def _silent(incident: Incident, root: Failure) -> Process | None:
    ranks = [p for p in incident.processes if p.rank and p.last is not None and p.last.at.time is not None]
    moment = root.first.time
    if len(ranks) < 2 or moment is None:
        return None
    ordered = sorted(ranks, key=_last_time)
    if _last_time(ordered[1]) - _last_time(ordered[0]) >= _SILENT and ordered[0].rank not in root.ranks:
        return ordered[0]
    return None


def _last_time(process: Process) -> float:
    assert process.last is not None
    return process.last.at.time or 0.0


def _add(
    incident: Incident, root: Failure, rank: str | None, at: Position, reason: str, evidence: list[Evidence]
) -> None:
    who = rank or "one process"
    text = f"{who} {reason}"
    incident.failures.append(
        Failure(
            id=f"f{len(incident.failures) + 1}",
            kind="silence",
            rule="silent-rank",
            fingerprint=fingerprint("silence", "silent-rank", None, [], "silent rank"),
            first=at,
            last=at,
            role="suspect",
            level=None,
            ranks=[rank] if rank else [],
            text=text[:2000],
            evidence=evidence,
            order=root.order,
        )
    )
