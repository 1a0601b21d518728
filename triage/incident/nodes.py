"""Logs of several nodes that are one run: which belong together, and their events in one order.

A run's nodes are started with the same `--dist-init-addr` and `--nnodes` and a `--node-rank` of their own. Logs of
other services stay apart, whatever their times.
"""

from __future__ import annotations

from triage.incident.attempts import Attempt, Service
from triage.incident.clocks import Offset, Scale, offset
from triage.model import Gap
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triage.model import Event, Position

# Clocks that differ by less are taken for equal.
_APART = 2.0
# Nodes of a run are started one after the other, and one may be gone before the next begins.
_START_TOGETHER = 600.0
# Launch arguments that may differ between the nodes of a run.
_OWN = frozenset({"node_rank", "random_seed", "host", "port", "nccl_port", "engine"})


def join(services: Sequence[Service], *, together: bool = False) -> list[Service]:
    """Take the services of all logs, in the order of reading; return them with the nodes of one run as one service.

    `together` says that all are one run, whatever they say themselves.
    """
    joined: list[Service] = []
    left = list(services)
    while left:
        first = left.pop(0)
        group = [(first, Offset(0.0, 0))]
        for other in list(left):
            ahead = _same_run(first, other, [member for member, _ in group], together=together)
            if ahead is not None:
                group.append((other, ahead))
                left.remove(other)
        joined.append(first if len(group) == 1 else _merged(group))
    return joined


def _same_run(first: Service, other: Service, group: list[Service], *, together: bool) -> Offset | None:
    """Whether another log is of the same run; then by how much its clock is ahead, as far as something tells."""
    if any(set(member.logs) & set(other.logs) for member in group):
        return None  # two services of one log
    own, theirs = first.attempts[-1], other.attempts[-1]
    ahead = offset(own, theirs)
    if together:
        return ahead or Offset(0.0, 0)
    key = _run(theirs)
    if key is None or key != _run(own) or _node(theirs) in {_node(member.attempts[-1]) for member in group}:
        return None
    if ahead is None:
        return Offset(0.0, 0) if _overlap(own, theirs, 0.0) else None
    return ahead if _overlap(own, theirs, ahead.seconds) else None


def _arguments(attempt: Attempt) -> dict[str, str]:
    return next((event.data for event in attempt.events if event.rule == "arguments"), {})


def _run(attempt: Attempt) -> tuple[str, str] | None:
    said = _arguments(attempt)
    address, nodes = said.get("dist_init_addr"), said.get("nnodes", "1")
    return None if address is None or nodes == "1" else (address, nodes)


def _node(attempt: Attempt) -> str:
    return _arguments(attempt).get("node_rank", "0")


def _overlap(one: Attempt, other: Attempt, ahead: float) -> bool:
    mine, theirs = one.span, other.span
    if mine is None or theirs is None:
        return True
    low, high = theirs[0] - ahead, theirs[1] - ahead
    return low <= mine[1] + _START_TOGETHER and mine[0] <= high + _START_TOGETHER


def _merged(group: list[tuple[Service, Offset]]) -> Service:
    first = group[0][0]
    names = [service.name for service, _ in group]
    logs = [name for service, _ in group for name in service.logs]
    gaps = [Gap(gap.kind, f"{service.name}: {gap.detail}") for service, _ in group for gap in service.gaps]
    merged = Service(_title(names), [], logs, gaps, [note for service, _ in group for note in service.notes])
    merged.notes += [f"{', '.join(names)} are the nodes of one run", *_differences(group)]
    gaps += [gap for service, ahead in group[1:] for gap in _clock(first, service, ahead)]
    scales = [Scale(s.moments, s.lines, a.seconds if abs(a.seconds) > _APART else 0.0) for s, a in group]
    for index, (service, ahead) in enumerate(group):
        label = _file_name(service.name)
        others = [scale for number, scale in enumerate(scales) if number != index]
        for attempt in service.attempts:
            _place(attempt, scales[index], others)
            _shift(attempt, ahead.seconds if abs(ahead.seconds) > _APART else 0.0, label)
    merged.attempts = _paired([service.attempts for service, _ in group])
    return merged


def _file_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _title(paths: Sequence[str]) -> str:
    names = [_file_name(path) for path in paths]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"


def _clock(first: Service, other: Service, ahead: Offset) -> Iterator[Gap]:
    if not other.moments or not first.moments:
        name = (other if first.moments else first).name
        yield Gap("clock", f"{name} has no times: whose line came first can't be told")
    elif abs(ahead.seconds) > _APART:
        way = "ahead of" if ahead.seconds > 0 else "behind"
        by = f"{abs(ahead.seconds):,.0f} s"
        zone = ", another time zone it seems" if ahead.zone else ""
        count = "a moment" if ahead.moments == 1 else f"{ahead.moments} moments"
        yield Gap(
            "clock",
            f"the clock of {other.name} is {by} {way} that of {first.name}{zone}, by {count} that both logged; "
            "its times are given by the other's",
        )


def _differences(group: list[tuple[Service, Offset]]) -> Iterator[str]:
    """Launch arguments in which the nodes of a run differ though they should not."""
    said = [(service, _arguments(service.attempts[-1])) for service, _ in group]
    for name in dict.fromkeys(name for _, arguments in said for name in arguments):
        values = {arguments.get(name) for _, arguments in said if arguments}
        if name not in _OWN and len(values) > 1:
            yield f"the nodes differ in {name}: {', '.join(sorted(str(value) for value in values))}"


def _place(attempt: Attempt, own: Scale, others: Sequence[Scale]) -> None:
    """Renumber the lines of an attempt, as if all logs had been read as one in the order of time."""

    def number(line: int) -> int:
        time = own.time(line)
        return int(line + sum(scale.lines(time) for scale in others))

    for event in attempt.events:
        event.order = number(event.order)
        if "last" in event.data:
            event.data["last"] = str(number(int(event.data["last"])))
    for track in attempt.tracks:
        track.first, track.last_number = number(track.first), number(track.last_number)
        track.words = type(track.words)(((number(line), said) for line, said in track.words), track.words.maxlen)


def _shift(attempt: Attempt, ahead: float, label: str) -> None:
    """Give every position the time of the first log's clock, and the log's name where no host is known."""
    done: set[int] = set()
    for at in _positions(attempt):
        if id(at) in done:
            continue
        done.add(id(at))
        if at.time is not None:
            at.time -= ahead
        at.host = at.host or label
    for event in attempt.events:
        event.end = event.end - ahead if event.end is not None else None
    for track in attempt.tracks:
        track.host = track.host or label


def _positions(attempt: Attempt) -> Iterator[Position]:
    for event in attempt.events:
        yield event.at
        yield from (item.at for item in event.evidence)
    for track in attempt.tracks:
        yield track.last.at
        yield from (item.at for _, item in track.words)


def _paired(several: Sequence[Sequence[Attempt]]) -> list[Attempt]:
    """Put each attempt of the other logs to the attempt of the first log with which it shares most time."""
    runs = [[attempt] for attempt in several[0]]
    for attempts in several[1:]:
        for attempt in attempts:
            shared = [_shared(run[0], attempt) for run in runs]
            best = max(range(len(runs)), key=lambda index: (shared[index], index))
            if shared[best] > 0 or len(runs) == 1 or attempt is attempts[-1]:
                runs[best if shared[best] > 0 else -1].append(attempt)
            else:
                runs.insert(0, [attempt])
    return sorted(map(_one, runs), key=lambda attempt: attempt.events[0].order if attempt.events else 0)


def _shared(one: Attempt, other: Attempt) -> float:
    mine, theirs = one.span, other.span
    if mine is None or theirs is None:
        return 0.0
    return max(0.0, min(mine[1], theirs[1]) - max(mine[0], theirs[0]) + _APART)


def _one(run: Sequence[Attempt]) -> Attempt:
    events: list[Event] = sorted((event for attempt in run for event in attempt.events), key=lambda event: event.order)
    tracks = [track for attempt in run for track in attempt.tracks]
    return Attempt(run[0].unit, run[0].invocation, events, tracks, [gap for attempt in run for gap in attempt.gaps])
