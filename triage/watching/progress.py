"""How far a start has come: the phases of each rank, what their progress bars say, and which rank is behind.

What the lines mean is read by `events.server`; the phases that are shown are rows of knowledge/starts.yaml.
"""

from __future__ import annotations

import re

from triage.data import knowledge
from triage.events.server import ServerReader
from triage.lazy import regex
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from triage.model import Event, Line

_DIMENSION = regex(r"([A-Z_]+?)_?(\d{1,6})")
_MOST_RANKS = 4096
_LONGEST = 500
_STEP = 10


@dataclass(slots=True)
class Span:
    """When a rank was in a phase, in seconds since the epoch; `end` is None while it is."""

    start: float
    end: float | None = None


@dataclass(slots=True)
class Bar:
    """What a progress bar says: so many done of so many, in per cent."""

    done: int
    of: int
    percent: int


@dataclass(slots=True)
class Rank:
    """One process of the service as it labels itself, `""` for those without a label."""

    label: str
    pid: int | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    bars: dict[str, Bar] = field(default_factory=dict)
    last_time: float = 0.0
    last_text: str = ""


@dataclass(slots=True)
class Move:
    """A step of a start: a phase began on the first rank or ended on the last one, its bar went on by a tenth, or the
    engine said that it is up.
    """

    kind: Literal["begin", "progress", "end", "ready"]
    phase: str
    at: float


@dataclass(slots=True)
class Behind:
    """Ranks that are further back than most, and the phase that they are in (empty where they said nothing yet)."""

    ranks: list[str]
    phase: str


class Start:
    """One start of a service, fed with its lines.

    `began` is when it began, `ready` when the engine said that it is up, `known` whether an engine's own lines were
    seen; times are seconds since the epoch.
    """

    def __init__(self, began: float | None = None) -> None:
        """Take when the start began, if that is known."""
        table: Any = knowledge("starts")
        self.order: list[str] = [row["phase"] for row in table["phases"]]
        self.began = began
        self.ready: float | None = None
        self.served: float | None = None
        self.known = False
        self.facts: dict[str, str] = {}
        self.ranks: dict[str, Rank] = {}
        self.last_life: float | None = None
        self._bar_words, self._bar = tuple(table["progress"]["any"]), re.compile(table["progress"]["re"])
        self._bar_phases: list[str] = table["progress"]["phases"]
        self._idle_words, self._idle = tuple(table["idle"]["any"]), re.compile(table["idle"]["re"])
        self._weak = re.compile(knowledge("phases")["weak_ready"])
        self._server = ServerReader()
        self._labels: dict[str, str] = {}
        self._now = began or 0.0
        self._told: set[tuple[str, str]] = set()
        self._told_percent: dict[str, int] = {}

    def feed(self, line: Line) -> list[Move]:
        """Take a line of the service; return what it moves."""
        # A line without a time, such as a progress bar's, was written when the one before it was.
        at = self._now = line.time if line.time is not None else self._now
        self.began = at if self.began is None else self.began
        rank = self._rank(line)
        self._server.interrupt()  # serving lines are wanted one by one
        events = list(self._server.feed(line))
        if line.text.strip():
            rank.last_time, rank.last_text = at, line.text[:_LONGEST]
            if not self._is_idle(line, events):
                self.last_life = at
        moves: list[Move] = []
        for event in events:
            moves += self._take(event, rank, at)
        return moves + self._progress(line, rank, at)

    @property
    def phase(self) -> str:
        """The furthest phase that any rank is in or went through; empty before the first."""
        reached = {name for rank in self.ranks.values() for name in rank.spans}
        return next((name for name in reversed(self.order) if name in reached), "")

    def span(self, phase: str) -> Span | None:
        """Take a phase; return when its first rank began it and when its last one ended it, None before that."""
        spans = [rank.spans[phase] for rank in self.ranks.values() if phase in rank.spans]
        if not spans:
            return None
        ends = [span.end for span in spans]
        expected = len(self.missing(phase)) == 0
        done = expected and all(end is not None for end in ends)
        return Span(min(span.start for span in spans), max(end for end in ends if end is not None) if done else None)

    def bar(self, phase: str) -> Bar | None:
        """Take a phase; return what the bar says that is furthest back."""
        bars = [rank.bars[phase] for rank in self.ranks.values() if phase in rank.bars]
        return min(bars, key=lambda bar: bar.percent, default=None)

    def last_rank(self, phase: str) -> str:
        """Take a phase; return the label of the rank that ended it last, if there are several that did."""
        ended = [
            (span.end, rank.label)
            for rank in self.ranks.values()
            if rank.label and (span := rank.spans.get(phase)) is not None and span.end is not None
        ]
        return max(ended)[1] if len(ended) > 1 else ""

    def times(self, phase: str) -> list[tuple[float, str]]:
        """Take a phase; return the seconds that each labelled rank took for it, the quickest first."""
        found = []
        for rank in self.ranks.values():
            span = rank.spans.get(phase)
            if rank.label and span is not None and span.end is not None:
                found.append((max(span.end - span.start, 0.0), rank.label))
        return sorted(found)

    def behind(self) -> Behind | None:
        """Return the ranks that are further back than most, None where there are none or too few to say."""
        places = {label: self._place(rank) for label, rank in self.ranks.items() if label}
        places.update(dict.fromkeys(self._unseen() if any(places.values()) else (), (-1, 0)))
        if len(places) < 2:
            return None
        ordered = sorted(places.values())
        middle = ordered[len(ordered) // 2]
        # One bar is drawn by the first rank of a stage only, so nothing follows from it.
        late = [label for label, place in places.items() if place < middle and place == ordered[0]]
        if not late or middle[0] < 0:
            return None
        phase = self.order[ordered[0][0]] if ordered[0][0] >= 0 else ""
        return Behind(sorted(late, key=_natural), phase)

    def missing(self, phase: str) -> list[str]:
        """Take a phase; return the labelled ranks that have not begun it though others did."""
        if not any(rank.label and phase in rank.spans for rank in self.ranks.values()):
            return []
        later = self.order.index(phase)
        seen = [
            label
            for label, rank in self.ranks.items()
            if label and phase not in rank.spans and self._place(rank)[0] < later
        ]
        return sorted([*seen, *self._unseen()], key=_natural)

    def _take(self, event: Event, rank: Rank, at: float) -> list[Move]:
        if event.rule == "arguments":
            self.facts.update(event.data)
            return []
        if event.rule.startswith("phase/"):
            self.known = True
            return self._step(event, rank, at)
        if event.rule in ("serving/batch", "serving/ok"):
            self.served = at
            return []
        if event.rule == "ready":
            self.known = True
            return self._up(at)
        return []

    def _step(self, event: Event, rank: Rank, at: float) -> list[Move]:
        name, edge = event.rule.partition("/")[2], event.data["edge"]
        if name == "http":
            if edge == "end" and self._weak.search(event.text) and not self._waits_for_own_word():
                return [*self._enter("warmup", rank, at), *self._up(at)]
            return self._enter("warmup", rank, at)
        if name not in self.order:
            return []
        moves = self._enter(name, rank, at)
        if edge == "end":
            rank.spans[name].end = at
        return [*moves, *self._ended()]

    def _enter(self, name: str, rank: Rank, at: float) -> list[Move]:
        """A rank is in a phase: it has left those before."""
        index = self.order.index(name)
        if name not in rank.spans:
            before = [span.end for other, span in rank.spans.items() if span.end and self.order.index(other) < index]
            # A pool is only told when it is there: it began when what came before had ended.
            rank.spans[name] = Span(max(before) if before and name == "kv-pool" else at)
        for other, span in rank.spans.items():
            if span.end is None and self.order.index(other) < index:
                span.end = at
        if name == "distributed":
            for main in self.ranks.values():
                if "args" in main.spans and main.spans["args"].end is None:
                    main.spans["args"].end = at
        moves = [Move("begin", name, rank.spans[name].start)] if self._new("begin", name) else []
        return [*self._ended(), *moves]

    def _ended(self) -> list[Move]:
        moves = []
        for name in self.order:
            if ("end", name) in self._told or ("begin", name) not in self._told:
                continue
            span = self.span(name)
            if span is not None and span.end is not None and self._new("end", name):
                moves.append(Move("end", name, span.end))
        return moves

    def _up(self, at: float) -> list[Move]:
        if self.ready is not None:
            return []
        self.ready = at
        for rank in self.ranks.values():
            for span in rank.spans.values():
                span.end = at if span.end is None else span.end
        return [*self._ended(), Move("ready", "ready", at)]

    def _new(self, edge: str, name: str) -> bool:
        if (edge, name) in self._told:
            return False
        self._told.add((edge, name))
        return True

    def _waits_for_own_word(self) -> bool:
        """Whether the engine has a ready line of its own: SGLang says it after its warm-up (knowledge/phases.yaml)."""
        return self.facts.get("engine") == "sglang"

    def _progress(self, line: Line, rank: Rank, at: float) -> list[Move]:
        if not any(word in line.text for word in self._bar_words):
            return []
        found = self._bar.search(line.text)
        open_ = [name for name in self._bar_phases if name in rank.spans and rank.spans[name].end is None]
        if found is None or not open_:
            return []
        name = open_[-1]
        rank.bars[name] = Bar(int(found["done"]), int(found["of"]), min(int(found["percent"]), 100))
        least = self.bar(name)
        if least is None or least.percent < self._told_percent.get(name, -_STEP) + _STEP:
            return []
        self._told_percent[name] = least.percent
        return [Move("progress", name, at)]

    def _rank(self, line: Line) -> Rank:
        """Return the rank whose line it is; a line without a label is that of the label its process wrote before."""
        label = line.rank or self._labels.get(line.stream, "")
        rank = self.ranks.get(label)
        if rank is None:
            if len(self.ranks) >= _MOST_RANKS:
                return Rank(label)
            rank = self.ranks[label] = Rank(label)
        if line.rank and line.pid is not None:
            # Where all ranks write through one process, as in a log that was copied, it says nothing of who wrote.
            known = self._labels.setdefault(line.stream, line.rank)
            self._labels[line.stream] = line.rank if known == line.rank else ""
            rank.pid = line.pid
        return rank

    def _is_idle(self, line: Line, events: list[Event]) -> bool:
        if any(event.rule.startswith("serving/probe") for event in events):
            return True
        words = any(word in line.text for word in self._idle_words)
        return words and self._idle.search(line.text) is not None

    def _place(self, rank: Rank) -> tuple[int, int]:
        """How far a rank is: the furthest phase that it began, and whether it has ended it."""
        index = max((self.order.index(name) for name in rank.spans), default=-1)
        return index, int(index >= 0 and rank.spans[self.order[index]].end is not None)

    def _unseen(self) -> list[str]:
        """Return the labels of ranks that the launch arguments promise and that have said nothing yet."""
        pipeline, tensor = self._size("pp_size"), self._size("tp_size")
        if pipeline * tensor < 2 or self._size("dp_size") > 1 or self._size("nnodes") > 1:
            return []
        if pipeline * tensor > _MOST_RANKS:
            return []
        seen = set()
        for label in self.ranks:
            numbers = dict(_DIMENSION.findall(label))
            if numbers:
                seen.add((int(numbers.get("PP", 0)), int(numbers.get("TP", 0))))
        if not seen:
            return []
        return [
            " ".join(([f"PP{p}"] if pipeline > 1 else []) + ([f"TP{t}"] if tensor > 1 else []))
            for p in range(pipeline)
            for t in range(tensor)
            if (p, t) not in seen
        ]

    def _size(self, name: str) -> int:
        text = str(self.facts.get(name, ""))
        return int(text) if text.isdecimal() and len(text) < 6 else 1


def _natural(label: str) -> list[tuple[int, str]]:
    return [(int(number), name) for name, number in _DIMENSION.findall(label)] or [(0, label)]
