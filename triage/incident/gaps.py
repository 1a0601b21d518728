"""What of a run could not be read, and could change what is said of it."""

from __future__ import annotations

from triage.lazy import regex
from triage.lines.ranks import compact
from triage.model import Gap
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.incident.attempts import Attempt
    from triage.model import Event, Failure, Incident

# journald tells what it dropped with the next message that it takes; the usual interval is 30 s (journald.conf(5)).
_TOLD_AFTER = 30.0
# A traceback whose head was lost stands so near to where the log begins.
_BEGINNING = 60
_MOST_RANKS = 4096
_SHOWN = 64
_LABEL = regex(r"\b(PP|TP|DP|EP)(\d{1,6})")
_START = regex(r"Traceback \(most recent call last\)|Current thread|Fatal Python error")


def gaps_of_lines(attempt: Attempt) -> list[Gap]:
    """Take an attempt; return what is missing of its lines, and what is wrong with their times."""
    return [*attempt.gaps, *_suppressed(attempt), *_left_out(attempt), *_set_back(attempt), *_cut(attempt)]


def gaps_of_verdict(attempt: Attempt, incident: Incident, root: Failure | None, *, waits: bool) -> list[Gap]:
    """Take an attempt, its incident and its root failure; return what is missing and could change the verdict.

    `waits` says that the root only waited for others, so that whoever logged nothing may be the cause.
    """
    gaps: list[Gap] = []
    if incident.outcome not in ("failed", "degraded"):
        return gaps
    if root is not None and root.assembly == "partial" and not any(gap.kind == "truncated" for gap in incident.gaps):
        banner = any(event.rule == "arguments" or event.data.get("banner") for event in attempt.events)
        if not banner:
            gaps.append(Gap("truncated", "the log begins after the start of the service: its first lines are missing"))
    if root is None or waits:
        gaps += _missing(attempt, incident)
    return gaps


def _suppressed(attempt: Attempt) -> Iterator[Gap]:
    """What journald dropped while the run went on; what it tells with the first line is of the run before."""
    first = min((track.first for track in attempt.tracks), default=0)
    times = [track.last.at.time for track in attempt.tracks if track.last.at.time is not None]
    for event in attempt.events:
        if event.rule != "journald/suppressed" or event.order < first:
            continue
        if times and event.at.time is not None and event.at.time > max(times) + _TOLD_AFTER:
            continue
        yield Gap("suppressed", f"journald dropped {event.data.get('count', 'some')} messages (rate limit)")


def _left_out(attempt: Attempt) -> Iterator[Gap]:
    count = sum(track.left_out for track in attempt.tracks)
    if count:
        what = "1 message" if count == 1 else f"{count} messages"
        yield Gap(
            "unreadable", f"journalctl left out {what} of more than 4,096 bytes: print the journal with -o json --all"
        )


def _set_back(attempt: Attempt) -> Iterator[Gap]:
    for track in attempt.tracks:
        if track.set_back is not None:
            before, after = track.set_back
            who = track.rank or track.host
            yield Gap(
                "clock",
                f"the clock{f' of {who}' if who else ''} was set back by {before - after:,.0f} s: "
                "times before and after that can't be compared",
            )
            return


def _cut(attempt: Attempt) -> Iterator[Gap]:
    """A traceback that the beginning or the end of the log cuts."""
    first = min((track.first for track in attempt.tracks), default=0)
    banner = min((event.order for event in attempt.events if event.data.get("banner")), default=None)
    ends = {track.stream: track for track in attempt.tracks}
    partial = [event for event in attempt.events if event.exception is not None and event.assembly == "partial"]
    for event in partial:
        early = event.order - first < _BEGINNING and (banner is None or event.order < banner)
        if early and event.evidence and not _START.search(event.evidence[0].text):
            yield Gap("truncated", "the log begins inside a traceback: the lines before it are missing")
            break
    for event in partial:
        track = ends.get(event.stream)
        if track is not None and _open(event) and _stacked(track.last.text):
            yield Gap("truncated", "the log ends inside a traceback: what was raised is missing")
            break


def _open(event: Event) -> bool:
    return event.exception is not None and not event.exception.type


def _stacked(text: str) -> bool:
    return text[:1] in (" ", "\t") or _START.search(text) is not None


def _missing(attempt: Attempt, incident: Incident) -> Iterator[Gap]:
    """Ranks that the launch arguments promise and that never logged a line."""
    nodes = incident.facts.get("nnodes")
    here = {event.data["node_rank"] for event in attempt.events if "node_rank" in event.data}
    if isinstance(nodes, int) and here and len(here) < nodes:
        known = ", ".join(sorted(here, key=lambda each: (len(each), each))[:_SHOWN])
        plural = "nodes" if len(here) > 1 else "node"
        yield Gap("missing-rank", f"the run has {nodes} nodes, and only {plural} {known} logged here")
        return
    seen: dict[str, set[int]] = {}
    for process in incident.processes:
        for kind, number in _LABEL.findall(process.rank or ""):
            seen.setdefault(kind, set()).add(int(number))
    for kind, numbers in seen.items():
        size = incident.facts.get(f"{kind.lower()}_size")
        if isinstance(size, int) and 1 < size <= _MOST_RANKS:
            missing = [f"{kind}{n}" for n in range(size) if n not in numbers]
            if missing:
                more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
                yield Gap("missing-rank", f"no line from {compact(missing[:_SHOWN])}{more}")
