"""Events of one run to an Incident: facts, phases, processes, failures folded over ranks and repeats, gaps."""

from __future__ import annotations

from functools import cache

from triage.data import knowledge
from triage.incident.facts import gather
from triage.incident.fold import fold
from triage.incident.gaps import gaps_of_lines
from triage.lazy import regex
from triage.model import Event, Evidence, Exit, Gap, Incident, Member, Phase, Process
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from triage.events import Track
    from triage.incident.attempts import Attempt

_NOT_FAILURES = ("facts", "arguments", "ready", "graceful-stop")
_LABEL = regex(r"([A-Z_]+?)_?(\d+)")


def build(attempt: Attempt, source: str, gaps: list[Gap]) -> Incident:
    """Take one attempt; return its incident, without roles or outcome (`triage.causes` gives those)."""
    incident = Incident(source=source, gaps=list(gaps))
    incident.members = _members(attempt)
    span = attempt.span
    if span:
        incident.started, incident.ended = span
    incident.began = min(attempt.events, key=lambda event: event.order).at if attempt.events else None
    incident.zoned = any(event.at.zoned for event in attempt.events)
    incident.facts = gather(attempt.events)
    book = _ranks_of_streams(attempt.tracks)
    died = _died_later(attempt.events)
    for event in attempt.events:
        _give_rank(event, book, incident.facts, died)
    _label_crashes(attempt.events)
    incident.processes = _processes(attempt)
    incident.phase, incident.ready = _progress(attempt.events)
    incident.exit = _exit(attempt.events)
    engine = "engine" in incident.facts or any(event.rule.startswith("phase/") for event in attempt.events)
    incident.failures = fold([event for event in attempt.events if _is_failure(event)], engine)
    incident.gaps += gaps_of_lines(attempt)
    return incident


def _is_failure(event: Event) -> bool:
    if event.rule in _NOT_FAILURES or event.rule.startswith(("phase/", "serving/")):
        return False
    return not (event.kind == "unit" and event.level is None and event.role != "notice")


def _members(attempt: Attempt) -> list[Member]:
    hosts = {track.host for track in attempt.tracks} | {
        event.at.host for event in attempt.events if event.kind == "unit"
    }
    named: list[str | None] = [*sorted(host for host in hosts if host)]
    return [Member(host, attempt.unit, attempt.invocation) for host in named or [None]]


def _ranks_of_streams(tracks: list[Track]) -> dict[str, set[str]]:
    book: dict[str, set[str]] = {}
    for track in tracks:
        if track.rank:
            book.setdefault(track.stream, set()).add(track.rank)
            if track.pid is not None:
                book.setdefault(f"pid {track.pid}", set()).add(track.rank)
    return book


def _died_later(events: list[Event]) -> dict[str, int]:
    """For each stream that names ranks only, where the last traceback stands of which a rank died, without a pid."""
    dies = regex(knowledge("roles")["rank_dies_intro"])
    return {
        event.stream: event.order
        for event in events
        if event.rule == "traceback" and event.ranks and event.at.pid is None
        and dies.search(event.data.get("intro", ""))
    }  # fmt: skip


@cache
def _no_rank_intro() -> re.Pattern[str]:
    return regex(knowledge("roles")["no_rank_intro"])


def _give_rank(
    event: Event, book: dict[str, set[str]], facts: dict[str, object], died: dict[str, int] | None = None
) -> None:
    """Fill in who an event is about, from its stream's only label, a pid, or the number that the engine printed.

    A traceback whose head is lost is not by the rank that dies of another one after it: each dies of one only.
    """
    if not event.ranks:
        labels = book.get(event.stream, set()) if event.kind not in ("unit", "kernel") else set()
        if event.rule == "traceback" and "headless" in event.data and event.order < (died or {}).get(event.stream, -1):
            labels = set()
        if "intro" in event.data and _no_rank_intro().search(event.data["intro"]):
            labels = set()
        if len(labels) != 1 and event.data.get("pid"):
            labels = book.get(f"pid {event.data['pid']}", set())
        if len(labels) == 1:
            event.ranks = list(labels)
        elif event.data.get("rank", "").isdigit():
            event.ranks = [_label_of_number(int(event.data["rank"]), book, facts)]
    if event.at.rank is None and event.ranks:
        event.at.rank = event.ranks[0]


def _label_crashes(events: list[Event]) -> None:
    """A crash that names no rank is that of the only rank which the launcher's table says died of its signal."""
    died: dict[str, set[str]] = {}
    for event in events:
        if event.rule == "torchelastic/failure" and event.ranks and event.data.get("signal"):
            died.setdefault(event.data["signal"], set()).update(event.ranks)
    for event in events:
        if event.kind == "native" and not event.ranks and event.data.get("signal"):
            ranks = died.get(event.data["signal"], set())
            if len(ranks) == 1:
                event.ranks = list(ranks)
                event.at.rank = event.ranks[0]


def _label_of_number(number: int, book: dict[str, set[str]], facts: dict[str, object]) -> str:
    """A global rank number in the engine's own labels, where exactly one label can be meant."""
    labels = {label for known in book.values() for label in known}
    for kind in ("TP", "PP", "DP"):
        same = sorted(label for label in labels if dict(_LABEL.findall(label)).get(kind) == str(number))
        if len(same) == 1:
            return same[0]
    if _size(facts, "tp_size") > number and _size(facts, "pp_size", 1) == 1 and _size(facts, "dp_size", 1) == 1:
        return f"TP{number}"
    return f"rank{number}"


def _size(facts: dict[str, object], name: str, default: int = 0) -> int:
    value = facts.get(name)
    return value if isinstance(value, int) else default


def _progress(events: list[Event]) -> tuple[str | None, float | None]:
    """The furthest phase that any process reached, and when the engine said that it serves."""
    order: list[str] = knowledge("phases")["order"]
    weak = regex(knowledge("phases")["weak_ready"])
    own_word = any(event.rule == "ready" for event in events)
    sglang = any(event.rule == "arguments" and event.data.get("engine") == "sglang" for event in events)
    reached, ready = -1, None
    served = False
    for event in events:
        name = event.rule.partition("/")[2] if event.rule.startswith("phase/") else None
        if name in order:
            reached = max(reached, order.index(name))
        if event.rule == "ready" or (not own_word and not sglang and weak.search(event.text)):
            ready = event.at.time if event.at.time is not None else float(event.order)
            reached = max(reached, order.index("ready"))
        if event.rule in ("serving/batch", "serving/ok"):
            served = True
    # Warm-up requests are served before the ready line; but who serves without ever having loaded a model loaded it
    # before this log begins.
    if served and (ready is not None or reached < order.index("distributed")):
        reached = order.index("serving")
    return (order[reached] if reached >= 0 else None), ready


def _processes(attempt: Attempt) -> list[Process]:
    phases: dict[tuple[str, str | None], dict[str, Phase]] = {}
    for event in attempt.events:
        if event.rule.startswith("phase/") and not event.data.get("progress"):
            rank = event.ranks[0] if event.ranks else None
            kept = phases.setdefault((event.stream, rank), {})
            name = event.rule.partition("/")[2]
            phase = kept.setdefault(name, Phase(name, event.at.time))
            if event.data["edge"] == "end":
                phase.end, phase.ended = event.at.time, True
    found: dict[tuple[str | None, str | None, int | None], Process] = {}
    labelled = {track.stream for track in attempt.tracks if track.rank}
    for track in sorted(attempt.tracks, key=lambda track: track.first):
        if track.rank is None and track.stream in labelled and track.count < 3:
            continue
        key = (track.host, track.rank, track.pid)
        process = found.setdefault(key, Process(track.rank, track.pid, track.host))
        for phase in phases.get((track.stream, track.rank), {}).values():
            process.phases.append(phase)
        if process.last is None or _later(track.last, process.last):
            process.last = track.last
    return list(found.values())[:4096]


def _later(one: Evidence, other: Evidence) -> bool:
    return (one.at.time or 0, one.at.offset) >= (other.at.time or 0, other.at.offset)


def _exit(events: list[Event]) -> Exit | None:
    found = Exit()
    for event in events:
        if event.rule == "systemd/main-exited":
            found.signal = event.data.get("signal")
            code = event.data.get("exit", "")
            found.code = int(code) if code.isdigit() and not found.signal else None
        elif event.rule == "systemd/failed":
            found.result = event.data.get("result")
        elif event.rule == "systemd/restart" and event.data.get("restarts", "").isdecimal():
            found.restarts = int(event.data["restarts"][:9])
        elif _tells_exit(event) and event.data.get("exit", "").isdecimal():
            found.signal = event.data.get("signal")
            found.code = None if found.signal else int(event.data["exit"])
    return found if found != Exit() else None


def _tells_exit(event: Event) -> bool:
    """Whether Kubernetes' API says how a container ended, or triage itself how the command did that it ran."""
    return event.data.get("origin") == "api" or event.rule == "run/exited"
