"""Tracebacks that were read often enough are only counted.

A service that fails in every request fills its log with few tracebacks, each many times. Once the extraction has kept
as many equal ones as it ever keeps, the next ones change no more than a number: they are told by their bytes, before
any line is made of them. Of what is counted the last one of each kind and writer is still read, for where and when.
"""

from __future__ import annotations

from bisect import bisect_right

from triage.fingerprint import mask_volatile
from triage.lazy import regex
from triage.typed import TYPE_CHECKING, AnyStr

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

_HEAD = b"Traceback (most recent call last):\n"
_LONGEST = 8 << 10
_REMEMBERED = 1024
# After so many bytes what was counted is told.
_COUNTED = 8 << 20
_TIME = regex(rb"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?:[.,]\d+)?")
_ID = regex(rb"\b(?=[a-f]*\d)[0-9a-f]{8,}\b")

_Block = tuple[int, bytes]
# What is equal in equal tracebacks: the head without its time, the frames without carets, the masked exception line.
_Kind = tuple[bytes, bytes, str]


class Repeats:
    """Takes tracebacks out of the blocks of a log, and knows of those that are left for how many others they stand."""

    def __init__(self) -> None:
        self._enough: set[_Kind] = set()
        # Tracebacks that were passed on, by their offsets: where they end, and their kind.
        self._passed: dict[int, tuple[int, _Kind]] = {}
        self._waiting: dict[_Kind, tuple[int, bytes, int]] = {}
        self._counted = 0
        self._told: list[tuple[int, int, int]] = []
        self._frames: dict[bytes, bytes] = {}
        self._exceptions: dict[bytes, str] = {}

    def of(self, offset: int) -> int:
        """Take the offset of a line; return for how many others, which were left out, its traceback stands."""
        at = bisect_right(self._told, (offset + 1, 0, 0)) - 1
        if at < 0:
            return 0
        _, stop, count = self._told[at]
        return count if offset < stop else 0

    def enough(self, first: int, last: int) -> None:
        """Take the offsets of the first and the last line of a traceback that the extraction need not see again.

        It is believed only of what stands by itself, in which no other writer's lines are.
        """
        found = self._passed.pop(first, None)
        if found is not None and last < found[0] and len(self._enough) < _REMEMBERED:
            self._enough.add(found[1])

    def thin(self, blocks: Iterable[_Block]) -> Iterator[_Block]:
        """Take blocks of (byte offset, bytes), ascending; yield them without what only needs counting.

        What was counted is yielded as its last one, once 8 MiB were counted or something else follows.
        """
        rest, end, apart = b"", 0, False
        for offset, block in blocks:
            if offset != end:
                yield from self._tell()
                if rest:
                    yield end - len(rest), rest
                rest, apart = b"", False
            end = offset + len(block)
            data = rest + block if rest else block
            start = end - len(data)
            done, apart = yield from self._cut(start, data, apart=apart)
            rest = data[done:]
            if len(rest) > _LONGEST:
                yield from self._tell()
                yield start + done, rest
                rest, apart = b"", False
        yield from self._tell()
        if rest:
            yield end - len(rest), rest

    def _cut(self, offset: int, data: bytes, *, apart: bool) -> Generator[_Block, None, tuple[int, bool]]:
        """Yield what is left of a block, up to its last traceback, which may go on in the next one.

        Returns how much of the block is done, and whether that ends with a whole traceback.
        """
        yielded = done = 0
        head = data.find(_HEAD)
        while head >= 0:
            at = data.rfind(b"\n", 0, head) + 1
            if at != done:
                apart = False
            following = data.find(_HEAD, head + len(_HEAD))
            if following < 0:
                done = at
                break
            stop = data.rfind(b"\n", 0, following) + 1
            kind = self._kind(data[at : head + len(_HEAD)], data[head + len(_HEAD) : stop])
            known = kind in self._enough
            if known and apart and kind is not None:
                if yielded < at:
                    yield from self._tell()
                    yield offset + yielded, data[yielded:at]
                self._count(kind, offset + at, data[at:stop])
                yielded = stop
                if self._counted > _COUNTED:
                    yield from self._tell()
            elif kind is not None:
                self._pass(offset + at, offset + stop, kind)
            done, head, apart = stop, following, known
        if yielded < done:
            yield from self._tell()
            yield offset + yielded, data[yielded:done]
        return done, apart

    def _kind(self, head: bytes, text: bytes) -> _Kind | None:
        """What makes two tracebacks equal, None where it is more than frames and a line of an exception."""
        text = text.rstrip(b"\n")
        at = text.rfind(b"\n") + 1
        if len(text) > _LONGEST or not at or text[at : at + 1].isspace():
            return None
        body = text[:at]
        frames = self._frames.get(body)
        if frames is None:
            frames = _remembered(self._frames, body, _frames(body))
        if not frames:
            return None
        line = _ID.sub(b"00000000", text[at:])
        exception = self._exceptions.get(line)
        if exception is None:
            exception = _remembered(self._exceptions, line, mask_volatile(line.decode("utf-8", "replace")))
        return _TIME.sub(b"", head), frames, exception

    def _pass(self, start: int, stop: int, kind: _Kind) -> None:
        if len(self._passed) >= _REMEMBERED * 8:
            self._passed.clear()
        self._passed[start] = stop, kind

    def _count(self, kind: _Kind, offset: int, data: bytes) -> None:
        before = self._waiting.pop(kind, None)
        self._waiting[kind] = offset, data, 0 if before is None else before[2] + 1
        self._counted += len(data)

    def _tell(self) -> Iterator[_Block]:
        """Yield what is waiting; the newest of each kind was put last, so they come in their order."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        self._counted = 0
        del self._told[: -_REMEMBERED * 4]
        for offset, data, others in waiting:
            self._told.append((offset, offset + len(data), others))
            yield offset, data


def _frames(body: bytes) -> bytes:
    """Return frames without the lines of carets, nothing where other lines are between them."""
    lines = body.split(b"\n")[:-1]
    if not all(line.startswith(b"  ") for line in lines):
        return b""
    return b"\n".join(line for line in lines if line.strip(b" ^~"))


def _remembered(known: dict[bytes, AnyStr], key: bytes, value: AnyStr) -> AnyStr:
    if len(known) >= _REMEMBERED:
        known.clear()
    known[key] = value
    return value
