"""Native crashes and single native lines out of the lines of all streams: what opens a block, and who takes a line.

Most logs hold none: what reads blocks and single lines is loaded when one may have come.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property

from triage.events.native_shapes import glued_at, start_of
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.events.native_blocks import NativeBlocks, Stream
    from triage.events.native_frames import Frames
    from triage.events.native_soft import NativeSingles
    from triage.model import Event, Line

NCCL_WARN = "NCCL WARN"
# syslog's severity (syslog(3)).
_ERROR = 3


class NativeAssembler:
    """Takes the lines of all streams in their order and gives out native events.

    `lines` counts them, those that it need not look at too; `open` are the streams that have open blocks.
    """

    def __init__(self) -> None:
        self.open: OrderedDict[str, Stream] = OrderedDict()
        self.lines = 0

    def starts(self, line: Line) -> bool:
        """Take a line; return whether it opens a native block, and so ends any exception message before it."""
        return start_of(line.text) is not None or glued_at(line.text) is not None

    def feed(self, line: Line, *, may_start: bool = True) -> bool:
        """Take a line; return whether it belongs to a native block that is open in its stream, or opens one.

        `may_start` is false where `native_shapes.may_start` says so of its text.
        """
        self.lines += 1
        if line.stream not in self.open and not (may_start and self.starts(line)):
            return False
        return self._blocks.feed(line, self.lines)

    @staticmethod
    def may_be_record(text: str) -> bool:
        """Take a text; return whether a record of it may be a single native line, whatever its digits are."""
        return NCCL_WARN in text

    def soft(self, line: Line) -> bool:
        """Take a line that no traceback took; return whether it is a single native line (it becomes an event)."""
        # Most lines of a log are records of the engine; of these only NCCL's own time stamp can hide a line of its.
        if line.record and (line.severity is None or line.severity > _ERROR) and not self.may_be_record(line.text):
            return False
        return self._singles.feed(line, self.lines)

    def drain(self) -> Iterator[Event]:
        """Yield the events that are complete, in the order in which they became so."""
        if "_blocks" in self.__dict__:
            yield from self._blocks.drain()
        if "_singles" in self.__dict__:
            yield from self._singles.drain(self.lines)

    def close(self) -> Iterator[Event]:
        """Yield all events that are left; what is still open ends here. The assembler can go on afterwards."""
        if "_blocks" in self.__dict__:
            self._blocks.close()
            yield from self._blocks.drain()
        if "_singles" in self.__dict__:
            yield from self._singles.close()

    @cached_property
    def _frames(self) -> Frames:
        from triage.events.native_frames import Frames

        return Frames()

    @cached_property
    def _blocks(self) -> NativeBlocks:
        from triage.events.native_blocks import NativeBlocks

        return NativeBlocks(self.open, self._frames, self._owns_stack)

    @cached_property
    def _singles(self) -> NativeSingles:
        from triage.events.native_soft import NativeSingles

        return NativeSingles(self._frames)

    def _owns_stack(self, stream: str, since: int) -> bool:
        return "_singles" in self.__dict__ and self._singles.owns_stack(stream, since)
