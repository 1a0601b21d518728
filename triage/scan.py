"""The fast skip: which parts of a large log need reading.

Healthy chatter is most of a log. `regions` scans the raw bytes for the literals of all that may matter and passes on
only what stands around them, with the head (start-up, facts, prefixes) and the tail (the end). It decides what is
read, never what a failure is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import accumulate

from triage._engine import finder
from triage.lazy import regex
from triage.sources.text import whole
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_LONGEST_LINE = 64 << 10
_LONGEST_BLOCK = 1 << 20
_LOOKED_AT = 64 << 10
# journalctl -o json writes a message with control characters as a list of byte values and a long one as null: what is
# in them cannot be scanned for, so they are always read.
_UNSCANNABLE = (b'"MESSAGE":[', b'"MESSAGE" : [', b'"MESSAGE":null')
_ENTRY = regex(
    rb"__CURSOR=|__REALTIME_TIMESTAMP=|\S[^\n]{10,60} \[s=[0-9a-f]{8,};i=|[\[ \t]*\{\r?$",
)
_FIELD = regex(rb"(?:    )?[A-Z_][A-Z0-9_]*(?:=|$)|[ \t]+\"[^\"\n]+\" ?:")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def regions(
    chunks: Iterable[bytes],
    needles: Sequence[bytes],
    *,
    head: int = 256 << 10,
    tail: int = 128 << 10,
    context: int = 4 << 10,
) -> Iterator[tuple[int, bytes]]:
    """Take raw chunks and literals; yield what stands around the literals as (byte offset, bytes) blocks, ascending.

    The first `head` and the last `tail` bytes always belong to it. Each region reaches `context` bytes before and after
    a hit and then on to where a line begins and ends (64 KiB at most); regions that touch are one. Blocks may be parts
    of a region: a gap in the offsets, and only that, is where something was skipped. Entries that are spread over many
    lines (journal export, `-o verbose`, `-o json-pretty`) and UTF-16 cannot be cut by lines, so of these all comes.
    """
    stream = iter(chunks)
    first: list[bytes] = []
    size = 0
    for chunk in stream:
        first.append(chunk)
        size += len(chunk)
        if size >= _LOOKED_AT:
            break
    start = b"".join(first)
    if start.startswith(_UTF16) or spread(start[:_LOOKED_AT]):
        yield from whole(_chained(start, stream))
        return
    wanted = _as_written(needles)
    longest = max((len(needle) for needle in wanted), default=0)
    cutter = _Cutter(finder(wanted), longest, head, tail, context)
    for chunk in _chained(start, stream):
        for at in range(0, len(chunk), _LONGEST_BLOCK):
            yield from cutter.feed(chunk[at : at + _LONGEST_BLOCK] if len(chunk) > _LONGEST_BLOCK else chunk)
    yield from cutter.finish()


def spread(head: bytes) -> bool:
    """Take the first bytes of a text; return whether its entries are spread over many lines, a field on each."""
    lines = head.split(b"\n")
    return any(map(_ENTRY.match, lines)) and sum(map(bool, map(_FIELD.match, lines))) * 4 >= len(lines)


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _as_written(needles: Iterable[bytes]) -> list[bytes]:
    """Add how JSON writes the literals: quotes and backslashes escaped, and by Go (docker) also `<`, `>` and `&`."""
    found = dict.fromkeys(needles)
    for needle in list(found):
        escaped = needle.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\t", b"\\t")
        found[escaped] = None
        found[escaped.replace(b"<", b"\\u003c").replace(b">", b"\\u003e").replace(b"&", b"\\u0026")] = None
    found.update(dict.fromkeys(_UNSCANNABLE))
    return [needle for needle in found if needle]


def selector(
    needles: Sequence[bytes], *, head: int = 512, tail: int = 512, context: int = 32, block: int = 4096
) -> Selector:
    """Take literals; return what chooses, of blocks of journal messages in order, the indices that need reading.

    The first `head` messages always do, then each message with a literal and `context` messages around it, and the last
    `tail` messages of a block that is shorter than `block`, for it is the last. Indices are rising. Neither context nor
    tail reaches into the block before.
    """
    return Selector(needles, head, tail, context, block)


class Selector:
    """See `selector`; made ready at the first block, as the journal's files may be searched instead."""

    def __init__(self, needles: Sequence[bytes], head: int, tail: int, context: int, block: int) -> None:
        self.needles = needles
        self.head = head
        self.tail = tail
        self.context = context
        self._block = block
        self._find: Callable[[bytes], list[int]] | None = None
        self._seen = 0

    def __call__(self, messages: Sequence[bytes]) -> list[int]:
        head, tail, context, block = self.head, self.tail, self.context, self._block
        if self._find is None:
            self._find = finder(self.needles)
        before, self._seen = self._seen, self._seen + len(messages)
        size = len(messages)
        if size < block and size <= max(head - before, 0) + tail:
            return list(range(size))
        wanted = list(range(min(head - before, size)))
        hits = self._find(b"\n".join(messages))
        ends = list(accumulate(len(message) + 1 for message in messages)) if hits else []
        for hit in hits:
            index = bisect_left(ends, hit)
            low = max(index - context, wanted[-1] + 1 if wanted else 0)
            wanted.extend(range(low, min(index + context + 1, size)))
        if size < block:
            last = max(size - tail, 0)
            wanted[bisect_left(wanted, last) :] = range(last, size)
        return wanted


class _Cutter:
    """Keeps the last bytes of the stream and the regions that are not yet passed on."""

    def __init__(self, find: Callable[[bytes], list[int]], longest: int, head: int, tail: int, context: int) -> None:
        self._find = find
        self._longest = longest
        self._tail = tail
        self._context = context
        self._kept: deque[tuple[int, bytes]] = deque()
        # Where the tail begins is known at the end only, so what is passed on stays that far behind.
        self._behind = tail + _LONGEST_LINE if tail else 0
        self._held = self._behind + context + longest + _LONGEST_LINE
        self._end = 0
        self._ready = 0
        self._overlap = b""
        self._open = head > 0
        self._from = 0
        self._until = head
        self._waiting: deque[tuple[int, int]] = deque()

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Take the next chunk; yield what can be passed on."""
        start, known, most = self._end, len(self._overlap), self._longest - 1
        self._kept.append((start, chunk))
        self._end += len(chunk)
        # What lies across the border is looked at by itself: to join the chunk to it would copy the whole log.
        border = self._overlap + chunk[:most] if known else b""
        across = [end - known for end in self._find(border) if end > known] if border else []
        low = high = 0
        for end in (*across, *self._find(chunk)):
            if high and end - high <= self._context:
                high = end
                continue
            self._want(start, low, high)
            low = high = end
        self._want(start, low, high)
        if most > 0:
            self._overlap = (self._overlap + chunk)[-most:] if len(chunk) < most else chunk[-most:]
        self._ready = max(0, self._end - self._behind)
        yield from self._pass_on()
        while self._kept and self._kept[0][0] + len(self._kept[0][1]) < self._end - self._held:
            self._kept.popleft()

    def finish(self) -> Iterator[tuple[int, bytes]]:
        """Yield what is left: open regions and the tail."""
        self._ready = self._end
        if self._tail:
            self._add(self._end - self._tail, self._end)
        yield from self._pass_on()

    def _want(self, start: int, low: int, high: int) -> None:
        """Want what stands around hits that end between two places of a chunk, the first of which is 0 for none."""
        if low:
            self._add(start + low - self._longest - self._context, start + high + self._context)

    def _add(self, start: int, stop: int) -> None:
        start = max(start, 0)
        while self._waiting and start <= self._waiting[-1][1]:
            before = self._waiting.pop()
            start, stop = min(start, before[0]), max(stop, before[1])
        self._waiting.append((start, stop))

    def _pass_on(self) -> Iterator[tuple[int, bytes]]:
        while self._open or (self._waiting and self._waiting[0][0] < self._ready):
            if not self._open:
                start, self._until = self._waiting.popleft()
                self._from = max(self._from, self._line_start(start))
                self._open = True
            while self._waiting and self._waiting[0][0] <= self._until:
                self._until = max(self._until, self._waiting.popleft()[1])
            stop = self._line_end(self._until) if self._until < self._ready else 0
            if stop and self._waiting and self._waiting[0][0] <= stop:
                self._until = stop
                continue
            upto = stop or self._ready
            if upto > self._from:
                yield from self._bytes(self._from, upto)
                self._from = upto
            if not stop:
                return
            self._open = False

    def _line_start(self, at: int) -> int:
        """Return where the line that holds this byte begins, as far as it is still kept."""
        oldest = self._kept[0][0] if self._kept else 0
        low = max(self._from, oldest, at - _LONGEST_LINE)
        for offset, chunk in reversed(self._kept):
            if offset >= at:
                continue
            found = chunk.rfind(b"\n", max(0, low - offset), at - offset)
            if found >= 0:
                return offset + found + 1
            if offset <= low:
                break
        return low

    def _line_end(self, at: int) -> int:
        """Return where the line that holds the byte before this one ends, 0 if that is still to come."""
        at = max(at, 1)
        limit = at + _LONGEST_LINE
        for offset, chunk in self._kept:
            if offset + len(chunk) < at or offset > limit:
                continue
            found = chunk.find(b"\n", max(0, at - 1 - offset), max(0, limit - offset))
            if found >= 0:
                return offset + found + 1 if offset + found < self._ready else 0
        return limit if self._ready >= limit else 0

    def _bytes(self, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        for offset, chunk in self._kept:
            low, high = max(0, start - offset), stop - offset
            if high > 0 and low < len(chunk):
                yield offset + low, chunk[low:high]
