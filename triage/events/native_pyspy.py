"""py-spy's dumps of all threads, which SGLang's watchdog prints of every scheduler, and the rank that differs in them.

A dump begins with `Process 616: sglang::scheduler_TP5` and `Python v3.12.3 (/usr/bin/python3.12)`; of each thread there
is a head, `Thread 616 (idle): "MainThread"`, and its frames, innermost first: `    pthread_cond_wait (libc.so.6)`,
`    broadcast (torch/distributed/distributed_c10d.py:2974)`.
"""

from __future__ import annotations

from collections import Counter

from triage.events.native_crash import MAX_THREADS, Thread
from triage.events.native_frames import MAX_FRAMES, Frames
from triage.events.native_levels import words
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Evidence, Frame, Line
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Sequence

_FRAME = regex(r"\s{1,12}(?P<function>\S.*?) \((?P<file>[^()]*?)(?::(?P<line>\d+))?\)$")
_THREAD = regex(r'Thread (?P<id>\d+|0x[0-9A-Fa-f]+) \((?P<state>[\w+ ]{1,24})\)(?:: "(?P<name>.*)")?$')
_PYTHON = regex(r"Python v\d+\.\d+")
_LABEL = regex(r"(?:ATTN_CP|MOE_DP|DP|PP|TP|EP)\d+")
_LOCALS = regex(r"\s{6,}\S")
_FRAMES_IN_TEXT = 12
_NAMED = 4

Place = tuple[str, str]


def rank_of_title(title: str) -> str | None:
    """Take a process title; return the rank label in it (`sglang::scheduler_PP3_TP1` is `PP3 TP1`), None without one.

    >>> rank_of_title("sglang::scheduler_DP2_TP0")
    'DP2 TP0'
    """
    if "sglang::" not in title and "Worker" not in title and "EngineCore" not in title:
        return None
    return " ".join(_LABEL.findall(title[:400])) or None


class PySpyProcess:
    """The dump of one process, taken line by line."""

    def __init__(self, found: re.Match[str] | None, line: Line, frames: Frames) -> None:
        self.line = line
        self.last = line
        self.seen = 0
        self.clock = 0
        self.partial = found is None
        self.pid = found["pid"] if found else None
        self._title = found["title"] if found else ""
        self._rank = rank_of_title(self._title) or line.rank
        self._threads: list[Thread] = []
        self._states: list[str] = []
        self._shared = frames
        self._evidence: list[Evidence] = [evidence(line)]

    def take(self, line: Line) -> bool:
        """Take the next line of the stream; return whether it belongs to the dump."""
        text = line.text
        if line.record or len(text) > 2000:
            return False
        head = _THREAD.match(text)
        if head is not None:
            if len(self._threads) < MAX_THREADS:
                self._threads.append(Thread(head["id"], head["name"], head["name"] == "MainThread"))
                self._states.append(head["state"])
            return self._took(line)
        found = _FRAME.match(text) if self._threads else None
        if found is not None:
            thread = self._threads[-1]
            if len(thread.frames) < MAX_FRAMES:
                number = int(found["line"][:9]) if found["line"] else None
                thread.frames.append(self._shared.get(found["file"], number, found["function"]))
                if len(self._threads) == 1 and len(self._evidence) < 12:
                    self._evidence.append(evidence(line))
            return self._took(line)
        if _PYTHON.match(text) or (self._threads and _LOCALS.match(text)):
            return self._took(line)
        return False

    def _took(self, line: Line) -> bool:
        self.last = line
        return True

    def event(self, budget: int) -> Event:
        """Return the dump as an event: `frames` are those of the main thread, outermost first."""
        main = next((t for t in self._threads if t.current), None)
        if main is None:
            main = next((t for t in self._threads if t.id == self.pid), self._threads[0] if self._threads else None)
        data = {"thread": (main.name or "MainThread") if main else "", "process": self._title[:200]}
        if main is not None:
            data["state"] = self._states[self._threads.index(main)]
        if self.pid:
            data["pid"] = self.pid
        if self._rank:
            data["rank"] = self._rank
        dump = _dump([thread for thread in self._threads if thread is not main], budget)
        if dump:
            data["threads"] = dump
        shown = [f"{frame.function} ({frame.file})" for frame in main.frames[:_FRAMES_IN_TEXT]] if main else []
        at = position(self.line)
        at.rank = self._rank or at.rank
        return Event(
            kind="native",
            rule="native/py-spy",
            at=at,
            stream=self.line.stream,
            text="\n    ".join([f"Process {self.pid or '?'}: {self._title[:200]}", *shown])[:TEXT_LIMIT],
            frames=list(reversed(main.frames)) if main else [],
            evidence=self._evidence,
            ranks=[self._rank] if self._rank else [],
            assembly="partial" if self.partial or not self._threads else "exact",
            unit=self.line.unit,
            invocation=self.line.invocation,
            data=data,
            end=self.last.time,
            order=self.line.number,
        )


def _dump(threads: Sequence[Thread], budget: int) -> str:
    lines: list[str] = []
    for thread in threads:
        block = [f"thread {thread.name or thread.id}", *(f"{f.file}:{f.function}" for f in thread.frames)]
        budget -= sum(len(part) + 1 for part in block)
        if budget < 0:
            break
        lines += block
    return "\n".join(lines)


def odd_one_out(events: Iterable[Event]) -> tuple[Event, str] | None:
    """Take the events of one incident; return the py-spy dump of the rank that is elsewhere, and why, None if none is.

    A rank's last dump counts. Lines of files do not: ranks of one build run the same code. With three ranks and more,
    the one whose main thread differs from the majority is the odd one; of two, the one that does not wait to receive
    what the other should send.
    """
    latest: dict[str, Event] = {}
    for event in events:
        if event.rule == "native/py-spy" and event.frames:
            latest[event.data.get("rank") or event.data.get("pid") or event.stream] = event
    ranks = [event for event in latest.values() if event.data.get("rank")] or list(latest.values())
    if len(ranks) < 2:
        return None
    if len(ranks) == 2:
        return _of_two(ranks[0], ranks[1])
    for places in (_python_places, _all_places):
        stacks = [places(event.frames) for event in ranks]
        counted = Counter(stacks).most_common()
        if len(counted) == 1:
            continue
        stack, majority = counted[0]
        odd = [event for event, own in zip(ranks, stacks, strict=True) if own != stack]
        if majority * 2 <= len(ranks) or len(odd) > max(1, len(ranks) // 4):
            return None
        where = ", ".join(_name(event) for event in odd[:_NAMED])
        mine = places(odd[0].frames)
        return odd[0], f"{where}: {_path(mine, stack)}; the other {majority} ranks: {_path(stack, mine)}"
    return None


def _of_two(first: Event, second: Event) -> tuple[Event, str] | None:
    waits = [_waits(event) for event in (first, second)]
    if waits[0] == waits[1]:
        return None
    stuck, waiter = (second, first) if waits[0] else (first, second)
    mine, other = _all_places(stuck.frames), _all_places(waiter.frames)
    return stuck, f"{_name(stuck)}: {_path(mine, other)}; {_name(waiter)} waits to receive: {_path(other, mine)}"


def _name(event: Event) -> str:
    return event.data.get("rank") or f"pid {event.data.get('pid', '?')}"


def _waits(event: Event) -> bool:
    waiting = words("receives")
    return any(word in frame.function for frame in event.frames for word in waiting)


def _python_places(frames: Sequence[Frame]) -> tuple[Place, ...]:
    return tuple((frame.file, frame.function) for frame in frames if frame.file.endswith(".py"))


def _all_places(frames: Sequence[Frame]) -> tuple[Place, ...]:
    return tuple((frame.file, frame.function) for frame in frames)


def _path(mine: tuple[Place, ...], other: tuple[Place, ...]) -> str:
    """The functions of a stack from where it leaves the other's, outermost first."""
    same = 0
    while same < min(len(mine), len(other)) and mine[same] == other[same]:
        same += 1
    own = [function for _, function in mine[same:]] or [mine[-1][1] if mine else "?"]
    return " > ".join(own[:8])
