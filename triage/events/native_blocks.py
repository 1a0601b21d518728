"""Native crashes out of the lines of all streams: which lines belong to a block, where it ends.

Each stream holds the blocks that are open in it: crashes (`native_crash`), Rust panics, py-spy dumps, core dumps. The
crashes of several ranks that write into one plain stream are told apart by the grammar, by the ranks that their texts
name and by their addresses; where that leaves a choice, the events say `inferred`. A block that other records tear
stays open for some hundred lines of its stream.
"""

from __future__ import annotations

from collections import deque

from triage.events.native_crash import Crash
from triage.events.native_shapes import Found, glued_at, inner_of, start_of
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import OrderedDict
    from collections.abc import Callable, Iterator
    from re import Match

    from triage.events.coredump import CoreText
    from triage.events.native_frames import Frames
    from triage.events.native_panic import Panic
    from triage.events.native_pyspy import PySpyProcess
    from triage.model import Event, Line

    Block = Crash | Panic | PySpyProcess | CoreText

_PATIENCE = 300
_MAX_OPEN_HERE = 64
_MAX_STREAMS = 1024
# Characters of other threads' stacks: for one event, and for all events of a run together.
_DUMP = 48_000
_DUMPS = 2_000_000

_CRASH_HEADS = frozenset({"terminate", "fatal", "glibc", "assert", "handler", "overflow", "timeout"})


@dataclass(slots=True)
class Stream:
    """The open blocks of a stream; `lines` counts its lines, `writer` is the block that took the last one.

    Until line `total_until` the end of a list of extension modules may still come.
    """

    blocks: list[Block] = field(default_factory=list)
    lines: int = 0
    writer: Block | None = None
    total_until: int = 0


class NativeBlocks:
    """Takes the lines of streams in which a block is open or begins, and gives out the events of blocks."""

    def __init__(self, streams: OrderedDict[str, Stream], frames: Frames, owns: Callable[[str, int], bool]) -> None:
        """Take where to keep the streams that have open blocks, and who says whether a line announced a C++ stack in a
        stream since the clock said so much.
        """
        self._frames = frames
        self._owns_stack = owns
        self._open_streams = streams
        self._done: deque[Event] = deque()
        self._budget = _DUMPS
        self._clock = 0

    def feed(self, line: Line, clock: int) -> bool:
        """Take a line and the number of lines read so far; return whether it belongs to a block."""
        self._clock = clock
        streams = self._open_streams
        stream = streams.get(line.stream)
        if stream is None:
            stream = streams[line.stream] = Stream()
        streams.move_to_end(line.stream)
        stream.lines += 1
        took = self._offer(stream, line, line.text)
        self._expire(stream)
        if not stream.blocks and stream.total_until <= stream.lines:
            del streams[line.stream]
        while len(streams) > _MAX_STREAMS:
            _, oldest = streams.popitem(last=False)
            self._finish_all(oldest)
        return took

    def drain(self) -> Iterator[Event]:
        """Yield the events that are complete, in the order in which they became so."""
        while self._done:
            yield self._done.popleft()

    def close(self) -> None:
        """End what is still open here."""
        for stream in self._open_streams.values():
            self._finish_all(stream)
        self._open_streams.clear()

    # --- which block takes a line -----------------------------------------------------------------------------------

    def _offer(self, stream: Stream, line: Line, text: str) -> bool:
        if stream.total_until and text.lstrip().startswith("(total: "):
            stream.total_until = 0
            return True
        start = start_of(text)
        if start is not None:
            self._open(stream, line, text, start)
            return True
        cut = glued_at(text)
        if cut is not None:
            self._offer(stream, line, text[:cut])
            glued = start_of(text[cut:])
            if glued is not None:
                self._open(stream, line, text[cut:], glued)
            return True
        for block in reversed(stream.blocks):
            if not isinstance(block, Crash) and block.take(line):
                self._took(stream, block)
                return True
        if line.record or not stream.blocks:
            return False
        return self._inner(stream, line, text)

    def _inner(self, stream: Stream, line: Line, text: str) -> bool:
        inner = inner_of(text)
        if inner is None:
            return False
        kind, found = inner
        if kind == "blank":
            return stream.writer is not None and stream.writer.seen >= stream.lines - 2
        crash, sure = self._pick(stream, kind, found)
        if crash is None or (kind in ("raised", "c10") and self._owns_stack(line.stream, crash.clock)):
            return False
        if kind == "continued" and (stream.writer is not crash or crash.seen != stream.lines - 1):
            return False
        self._write(stream, (crash, sure), (kind, found), line, text)
        if kind == "extensions":
            self._finish(stream, crash)
            # Another writer's record may have been glued into the list of modules; its end then follows.
            stream.total_until = 0 if "(total:" in text[-40:] else stream.lines + 8
        return True

    def _write(self, stream: Stream, picked: tuple[Crash, bool], shape: Found, line: Line, text: str) -> None:
        crash, sure = picked
        resumed = stream.writer is not crash and crash.seen > 0 and isinstance(stream.writer, Crash)
        if resumed or not sure:
            for block in stream.blocks:
                if isinstance(block, Crash):
                    block.inferred = True
        crash.take(*shape, line, text)
        self._took(stream, crash)

    def _took(self, stream: Stream, block: Block) -> None:
        block.seen = stream.lines
        block.clock = self._clock
        stream.writer = block

    def _open(self, stream: Stream, line: Line, text: str, shape: Found) -> None:
        from triage.events.coredump import CoreText
        from triage.events.native_panic import Panic
        from triage.events.native_pyspy import PySpyProcess

        kind, found = shape
        block: Block | None = None
        if kind == "panic" and found is not None:
            block = Panic(found, line, self._frames)
        elif kind == "pyspy":
            block = PySpyProcess(found, line, self._frames)
        elif kind == "pyspy-thread":
            if any(isinstance(own, PySpyProcess) and own.take(line) for own in reversed(stream.blocks)):
                stream.writer = next(own for own in reversed(stream.blocks) if isinstance(own, PySpyProcess))
                stream.writer.seen = stream.lines
                return
            block = PySpyProcess(None, line, self._frames)
            block.take(line)
        elif kind == "core" and found is not None:
            block = CoreText(found, line, self._frames)
        if block is None:
            self._crash(stream, line, text, (kind, found))
            return
        for own in [own for own in stream.blocks if isinstance(own, type(block))]:
            self._finish(stream, own)
        self._add(stream, block)

    def _crash(self, stream: Stream, line: Line, text: str, shape: Found) -> None:
        """A head of a crash: it goes on with an open one that lacks it, or is the first line of another."""
        kind, found = shape
        recursive = kind == "terminate" and "recursively" in text[:32]
        if recursive or kind in ("fatal", "thread", "c-stack"):
            crash, sure = self._pick(stream, "filler" if recursive else kind, found)
        else:
            # A handler's stack, glibc's word and `terminate` each come first, but for one another.
            crash, sure = self._joinable(stream, kind), True
        if crash is None:
            crash, sure = Crash(line, self._frames), True
            crash.partial = kind in ("thread", "c-stack")
            self._add(stream, crash)
        self._write(stream, (crash, sure), ("filler" if recursive else kind, found), line, text)

    def _joinable(self, stream: Stream, kind: str) -> Crash | None:
        writer = stream.writer
        if not isinstance(writer, Crash) or writer not in stream.blocks or stream.lines - writer.seen > 2:
            return None
        started = writer.kinds & _CRASH_HEADS
        fits = {"handler": {"handler"}, "glibc": {"handler"}, "terminate": {"handler"}, "assert": {"handler"}}
        return writer if started and started <= fits.get(kind, set()) else None

    def _pick(self, stream: Stream, kind: str, found: Match[str] | None) -> tuple[Crash | None, bool]:
        """The crash that a line belongs to, and whether nothing else was possible."""
        able = [block for block in stream.blocks if isinstance(block, Crash) and block.takes(kind, found)]
        if len(able) < 2:
            return (able[0], True) if able else (None, True)
        writer = stream.writer
        if kind == "what" and found is not None:
            return able[0], False
        if kind == "fatal":
            whole = [crash for crash in able if crash.what or "handler" in crash.kinds or "glibc" in crash.kinds]
            # The dump comes after torch's C++ stack, where there is one.
            whole = [crash for crash in whole if "c10" in crash.kinds] or whole
            if isinstance(writer, Crash) and writer in whole:
                return writer, False
            return (whole[0] if whole else able[-1]), False
        if kind in ("c10", "thread", "binary") and found is not None:
            return _by_address(able, kind, found)
        if isinstance(writer, Crash) and writer in able:
            return writer, True
        return able[0] if kind == "raised" else max(able, key=lambda crash: crash.seen), False

    # --- opening and closing ----------------------------------------------------------------------------------------

    def _add(self, stream: Stream, block: Block) -> None:
        if len(stream.blocks) >= _MAX_OPEN_HERE:
            self._finish(stream, stream.blocks[0])
        stream.blocks.append(block)
        self._took(stream, block)
        if isinstance(block, Crash):
            block.seen = 0

    def _expire(self, stream: Stream) -> None:
        for block in [block for block in stream.blocks if stream.lines - block.seen > _PATIENCE]:
            self._finish(stream, block)

    def _finish(self, stream: Stream, block: Block) -> None:
        stream.blocks.remove(block)
        if stream.writer is block:
            stream.writer = None
        event = block.event(min(_DUMP, self._budget))
        self._budget -= len(event.data.get("threads", ""))
        self._done.append(event)

    def _finish_all(self, stream: Stream) -> None:
        for block in list(stream.blocks):
            self._finish(stream, block)


def _by_address(able: list[Crash], kind: str, found: Match[str]) -> tuple[Crash, bool]:
    """One process's addresses lie close together: take the crash whose own are nearest."""
    raw = found.groupdict().get("address") or found.groupdict().get("id") or ""
    number = int(found["n"][:6]) if kind == "c10" else None
    if number == 0:
        fresh = [crash for crash in able if crash.address is None]
        return (fresh or able)[0], False
    if number is not None:
        # A frame goes on with the stack that has come as far.
        able = [crash for crash in able if crash.next_c10 == number] or able
    known = [crash for crash in able if crash.address is not None]
    if not known or not raw:
        return max(able, key=lambda crash: crash.seen), len(able) == 1
    if kind == "thread":
        # A dump whose head has been read, if there is one.
        known = [crash for crash in known if "fatal" in crash.kinds or "timeout" in crash.kinds] or known
    own = _leading(raw)
    nearest = min(known, key=lambda crash: abs(_leading(crash.address or "") - own))
    return nearest, False


def _leading(address: str) -> int:
    """The address by its first twelve digits, so that one whose leading zeros or tail are lost compares too."""
    return int(address.lstrip("0")[:12].ljust(12, "0"), 16)
