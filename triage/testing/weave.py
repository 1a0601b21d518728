"""Mixes the logs of single ranks at random, as several processes that write into one pipe mix them.

The rules are those of a real pipe (pipe(7)): what one rank wrote keeps its order, and writers take turns at the ends of
writes. Who prints line by line changes at line ends; who prints in blocks is cut every 4,096 bytes, wherever that falls
in a line.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Carrier = Literal["", "journal", "compose", "cri", "kubectl"]

PIPE_BUF = 4096
_BAR = "Loading safetensors checkpoint shards: {percent:3d}% Completed | {done}/64 [00:0{done}<00:12, 4.{done:02d}it/s]"
_NCCL = "gpu-node:{pid}:{thread} [{gpu}] NCCL INFO Channel 0{gpu}/02 :    0   1   2   3"
_START = 14 * 3600
_NEWLINE = re.compile(r"\r?\n")


@dataclass(frozen=True, slots=True)
class Weave:
    r"""How logs are mixed and what comes between them.

    `run` is the mean number of lines (or of writes) before another rank writes. `write` is the size in bytes at which
    a rank's output is torn, None where every rank writes whole lines. `labels` puts `[rank0]: ` before every line, as
    torchrun does. `carrier` is what stands before every line of the whole: the journal's short format, where every rank
    has a pid of its own, or that of a container. `colour`, `bars` and `nccl` are the shares of lines that are coloured,
    after which a progress bar is drawn (half of the bars have no line end and stick to what follows), and that are
    followed by a line of NCCL's. `crlf` ends lines with `\r\n`. `lost_head` and `lost_tail` are the shares of the
    bytes of the whole that are missing at its ends.
    """

    run: float = 5.0
    write: int | None = None
    labels: bool = False
    carrier: Carrier = ""
    colour: float = 0.0
    bars: float = 0.0
    nccl: float = 0.0
    crlf: bool = False
    lost_head: float = 0.0
    lost_tail: float = 0.0


@dataclass(slots=True)
class Woven:
    """The mixed log as `data`; `whole` has for each rank the lines of its log, counted from 0, that stand in it untorn,
    and at which byte of `data` they begin.
    """

    data: bytes
    whole: list[dict[int, int]]

    @property
    def text(self) -> str:
        """The mixed log as text."""
        return self.data.decode("utf-8", "replace")


# A piece of one rank's output: its text, its line's number if it is a whole line, and whether its line ends with it.
_Piece = tuple[str, "int | None", bool]


def interleave(logs: Sequence[str], seed: int, weave: Weave | None = None) -> Woven:
    """Take the logs of single ranks, a seed and how they are to be mixed; return them mixed.

    The same seed gives the same log. Raises `ValueError` where there is no log or a share is not between 0 and 1.
    """
    weave = weave or Weave()
    _check(logs, weave)
    rng = random.Random(seed)
    queues = [_pieces(log, rank, rng, weave) for rank, log in enumerate(logs)]
    return _written(_turns(queues, rng, weave.run), len(logs), rng, weave)


def _check(logs: Sequence[str], weave: Weave) -> None:
    if not logs:
        raise ValueError("there is no log to interleave")
    if weave.run < 1 or (weave.write is not None and weave.write < 1):
        raise ValueError("a run and a write are 1 at least")
    for name in ("colour", "bars", "nccl", "lost_head", "lost_tail"):
        if not 0 <= getattr(weave, name) <= 1:
            raise ValueError(f"{name} is a share between 0 and 1")


def _pieces(log: str, rank: int, rng: random.Random, weave: Weave) -> list[_Piece]:
    lines = _NEWLINE.split(log)
    if not lines[-1]:
        lines.pop()
    label = f"[rank{rank}]: " if weave.labels else ""
    shown = [_coloured(label + line, rng, weave.colour) for line in lines]
    if weave.write is None:
        return [(line, number, True) for number, line in enumerate(shown)]
    pieces: list[_Piece] = []
    # The first write seen may have begun anywhere in a block.
    room = rng.randint(1, weave.write)
    for number, line in enumerate(shown):
        rest, torn = line, False
        while (size := len(rest.encode()) + 1) > room:
            cut = _cut(rest, room) or (1 if room >= weave.write else 0)
            if cut:
                pieces.append((rest[:cut], None, False))
                rest, torn = rest[cut:], True
            elif pieces:
                pieces.append(("", None, False))
            room = weave.write
        pieces.append((rest, None if torn else number, True))
        room -= size
    return pieces


def _cut(text: str, room: int) -> int:
    """The number of characters whose bytes fill the room: a character is never torn here, mending that is decoding."""
    return len(text.encode()[:room].decode("utf-8", "ignore"))


def _coloured(line: str, rng: random.Random, share: float) -> str:
    if not share or rng.random() >= share:
        return line
    return f"\x1b[{rng.choice(('31', '33;1', '36', '38;5;208'))}m{line}\x1b[0m"


def _turns(queues: list[list[_Piece]], rng: random.Random, run: float) -> list[tuple[int, _Piece]]:
    """Let the ranks write in turn. Pieces of one write stay together: only lines, or torn ends, are a turn's end."""
    left = {rank: iter(queue) for rank, queue in enumerate(queues) if queue}
    waiting = {rank: next(pieces) for rank, pieces in left.items()}
    torn = any(not piece[2] for queue in queues for piece in queue)
    out: list[tuple[int, _Piece]] = []
    writer = rng.choice(sorted(waiting)) if waiting else -1
    while waiting:
        piece = waiting[writer]
        out.append((writer, piece))
        following = next(left[writer], None)
        if following is None:
            del waiting[writer]
        else:
            waiting[writer] = following
        ends = not piece[2] if torn else True
        others = sorted(rank for rank in waiting if rank != writer)
        if writer not in waiting or (others and ends and rng.random() < 1.0 / run):
            writer = rng.choice(others) if others else -1
    return out


def _written(turns: list[tuple[int, _Piece]], ranks: int, rng: random.Random, weave: Weave) -> Woven:
    end = "\r\n" if weave.crlf else "\n"
    out: list[str] = []
    owners: list[tuple[int, int] | None] = []
    stuck = begun = ""
    clean = True
    for count, (rank, (text, number, ends)) in enumerate(turns):
        clean = clean and not begun
        begun += text
        if not ends:
            continue
        out.append(_carried(stuck + begun, rank, len(out), weave.carrier) + end)
        owners.append((rank, number) if number is not None and clean else None)
        stuck, begun, clean = "", "", True
        for extra, sticks in _between(rng, weave, count):
            if sticks:
                stuck = extra
            else:
                out.append(_carried(extra, rank, len(out), weave.carrier) + end)
                owners.append(None)
    if stuck or begun:
        out.append(_carried(stuck + begun, 0, len(out), weave.carrier))
        owners.append(None)
    return _cut_off(out, owners, ranks, weave)


def _between(rng: random.Random, weave: Weave, count: int) -> list[tuple[str, bool]]:
    """What others write after a line: a progress bar, glued to the next line or not, or a line of NCCL's."""
    found: list[tuple[str, bool]] = []
    if weave.nccl and rng.random() < weave.nccl:
        pid = 4100 + rng.randrange(8)
        found.append((_NCCL.format(pid=pid, thread=pid + 77, gpu=pid % 8), False))
    if weave.bars and rng.random() < weave.bars:
        bars = [_BAR.format(percent=n * 100 // 64, done=n) for n in (count % 8, count % 8 + 1)]
        found.append(("\r" + "\r".join(bars), rng.random() < 0.5))
    return found


def _carried(line: str, rank: int, number: int, carrier: Carrier) -> str:
    seconds = _START + number // 20
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if carrier == "journal":
        return f"Nov 29 {clock} gpu-node sglang[{4100 + rank}]: {line}"
    if carrier == "cri":
        return f"2025-11-29T{clock}.{number % 20 * 50_000_000:09d}Z stderr F {line}"
    if carrier == "compose":
        return f"sglang-1  | {line}"
    return f"[pod/sglang-0/server] {line}" if carrier == "kubectl" else line


def _cut_off(out: list[str], owners: list[tuple[int, int] | None], ranks: int, weave: Weave) -> Woven:
    sizes = [len(text.encode()) for text in out]
    total = sum(sizes)
    first, last = int(total * weave.lost_head), total - int(total * weave.lost_tail)
    whole: list[dict[int, int]] = [{} for _ in range(ranks)]
    at = 0
    for size, owner in zip(sizes, owners, strict=True):
        if owner is not None and first <= at and at + size <= last:
            whole[owner[0]][owner[1]] = at - first
        at += size
    return Woven("".join(out).encode()[first : max(first, last)], whole)
