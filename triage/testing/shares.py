"""How many tracebacks come out of mixed logs exactly as they went in, by the number of ranks and the length of runs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from triage.events.interleave import Edges
from triage.events.traceback import TracebackAssembler
from triage.events.traceback_shapes import FRAME, shape
from triage.events.traceback_stream import StreamTracebacks
from triage.lines import read_text
from triage.testing.weave import Weave, interleave
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triage.model import Event, Line

Mix = Literal["equal", "elsewhere", "unrelated"]
MIXES: tuple[Mix, ...] = ("equal", "elsewhere", "unrelated")
_HEAD = "[2025-11-29 14:00:00 TP{rank}] Scheduler hit an exception: Traceback (most recent call last):"


@dataclass(frozen=True, slots=True)
class Share:
    """Of `stacks` tracebacks printed by `ranks` ranks in runs of `run` lines, `exact` had every frame and every line of
    their message right, and of `logs` mixed logs `whole` had all of them.
    """

    mix: Mix
    ranks: int
    run: int
    stacks: int
    exact: int
    logs: int
    whole: int


def stacks_of(data: bytes, name: str = "log") -> list[list[str]]:
    """Take a log; return the tracebacks in it that are whole and beyond doubt, each once, as lines without the head."""
    streams: dict[str, StreamTracebacks] = {}
    for number, line in enumerate(read_text([(0, data)], name)):
        streams.setdefault(line.stream, StreamTracebacks(_ends, Edges())).feed(line, number)
    found: dict[tuple[str, ...], None] = {}
    for stream in streams.values():
        stream.close()
        for stack in stream.done:
            if stack.head is not None and not (stack.waiting or stack.inferred or stack.cut):
                found[tuple(line.text for line, _ in stack.lines[1:])] = None
    return [list(lines) for lines in found if _alone(lines)]


def _ends(line: Line) -> bool:
    return line.record or line.origin != "service"


def _alone(lines: Sequence[str]) -> bool:
    """Whether the lines, put below a head, are one whole traceback again."""
    events = _events(_printed(lines, 0).encode())
    return len(events) == 1 and events[0].assembly == "exact"


def _printed(lines: Sequence[str], rank: int) -> str:
    return "\n".join([_HEAD.format(rank=rank), *lines]) + "\n"


def _events(data: bytes) -> list[Event]:
    assembler = TracebackAssembler(_ends)
    for line in read_text([(0, data)], "mixed"):
        assembler.feed(line)
    return list(assembler.close())


def measure(
    stacks: Sequence[Sequence[str]], mix: Mix, ranks: int, run: int, seeds: Sequence[int], weave: Weave | None = None
) -> Share:
    """Take tracebacks as lines, how the ranks' differ, the number of ranks, the mean run, and seeds; return the share.

    `equal`: every rank prints the same traceback; `elsewhere`: one rank's takes another way after some frames;
    `unrelated`: two different ones by turns.
    """
    exact = whole = 0
    base = weave or Weave()
    for seed in seeds:
        logs = list(_drawn(stacks, mix, ranks, random.Random(seed)))
        texts = [_printed(lines, rank) for rank, lines in enumerate(logs)]
        mixed = interleave(texts, seed, Weave(run, **{name: getattr(base, name) for name in _KEPT}))
        right = _right(texts, mixed.data)
        exact += right
        whole += right == ranks
    return Share(mix, ranks, run, ranks * len(seeds), exact, len(seeds), whole)


_KEPT = ("write", "labels", "carrier", "colour", "bars", "nccl", "crlf")


def _drawn(stacks: Sequence[Sequence[str]], mix: Mix, ranks: int, rng: random.Random) -> Iterator[Sequence[str]]:
    first, second = (stacks[n] for n in (rng.sample(range(len(stacks)), 2) if len(stacks) > 1 else (0, 0)))
    odd = rng.randrange(ranks)
    if mix == "elsewhere":
        one, other = (rng.choice(_frames_at(lines)) for lines in (first, second))
        second = [*first[:one], *second[other:]]
    for rank in range(ranks):
        other_one = (mix == "elsewhere" and rank == odd) or (mix == "unrelated" and rank % 2)
        yield second if other_one else first


def _frames_at(lines: Sequence[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if shape(line) == FRAME] or [0]


def _right(texts: Sequence[str], mixed: bytes) -> int:
    """Count the ranks whose traceback came out as it is alone."""
    came = {event.ranks[0]: _told(event) for event in _events(mixed) if event.ranks}
    alone = [_events(text.encode())[0] for text in texts]
    return sum(came.get(event.ranks[0]) == _told(event) for event in alone)


def _told(event: Event) -> tuple[object, ...]:
    info = event.exception
    assert info is not None
    stacks = [info.frames, *(link.frames for link in info.chain)]
    frames = [[(f.file, f.line, f.function, f.text) for f in stack] for stack in stacks]
    return info.type, info.message, frames, [(link.type, link.message) for link in info.chain]
