"""Which lines of a log make its fixture: those of the failure with what stands around it, and those that tell facts."""

from __future__ import annotations

from collections import deque

from triage.data import knowledge
from triage.model import TriageError
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.model import Failure, Incident

# Lines of one event that lie closer together than this, in bytes, are kept with all between them.
_NEAR = 32 * 1024
_MOST_BYTES = 512 * 1024
_LONGEST = 64 * 1024
_OTHERS = 12
# Of lines with one of the words of a phase or fact, so many from before the failure.
_EACH = 3


@dataclass(slots=True)
class Trimmed:
    """Lines of a log in its order, with their line ends, and how many it has in all."""

    lines: list[bytes] = field(default_factory=list)
    total: int = 0


def trim(blocks: Iterable[bytes], incident: Incident, root: Failure, around: int) -> Trimmed:
    """Take a log's bytes, an incident and its root failure; return what to keep, `around` lines on each side of it.

    Raises `TriageError` for a log in the export format, of which no lines can be taken out.
    """
    ends = _Kept(_spans(incident, root), around)
    for number, (offset, line) in enumerate(_lines(blocks)):
        if number == 0 and line.startswith((b"__CURSOR=", b"__REALTIME_TIMESTAMP=")):
            raise TriageError(
                "a log in journalctl's export format: print it as text first (journalctl -o short-precise)"
            )
        ends.feed(offset, line)
    return ends.close()


def _spans(incident: Incident, root: Failure) -> list[tuple[int, int]]:
    """Return first and last byte of what must be kept: the root, what explains it, what followed, in order."""
    related = [one for one in incident.failures if root.because is not None and one.id == root.because.failure]
    others = [one for one in incident.failures if one.role in ("consequence", "teardown", "suspect", "recovered")]
    spans: list[tuple[int, int]] = []
    for failure in [root, *related]:
        spans += _together(_offsets(failure, root.first.source))
    for failure in others[:_OTHERS]:
        spans += _together(_offsets(failure, root.first.source))[:1]
    merged: list[tuple[int, int]] = []
    total = 0
    for start, end in spans:
        total += end - start
        if total <= _MOST_BYTES or not merged:
            merged.append((start, end))
    return sorted(merged)


def _offsets(failure: Failure, source: str) -> list[int]:
    positions = [failure.first, *(item.at for item in failure.evidence)]
    return sorted({at.offset for at in positions if at.source == source})


def _together(offsets: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for offset in offsets:
        if spans and offset - spans[-1][1] <= _NEAR:
            spans[-1] = (spans[-1][0], offset)
        else:
            spans.append((offset, offset))
    return spans


class _Kept:
    """Takes lines in order; keeps those in and around spans, and what the log said of the run before the first."""

    def __init__(self, spans: list[tuple[int, int]], around: int) -> None:
        self._spans, self._around = spans, around
        self._before: deque[tuple[int, bytes]] = deque(maxlen=around)
        self._after = 0
        self._span = 0
        self._size = 0
        self._total = 0
        self._facts: dict[bytes, deque[tuple[int, bytes]]] = {word: deque(maxlen=_EACH) for word in _words()}
        self._lines: dict[int, bytes] = {}
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=2)

    def feed(self, offset: int, line: bytes) -> None:
        """Take a line and its offset."""
        self._total += 1
        while self._span < len(self._spans) and offset > self._spans[self._span][1]:
            self._span += 1
            self._after = self._around
        inside = self._span < len(self._spans) and self._holds(offset, len(line))
        if inside:
            for earlier in self._before:
                self._keep(*earlier)
            self._before.clear()
            self._keep(offset, line)
        elif self._after > 0:
            self._after -= 1
            self._keep(offset, line)
        else:
            self._before.append((offset, line))
        if not self._spans or offset <= self._spans[0][0]:
            for word, found in self._facts.items():
                if word in line:
                    found.append((offset, line))
        self._tail.append((offset, line))

    def _holds(self, offset: int, length: int) -> bool:
        """Say whether a line lies in the span at hand, or is the long one in the middle of which it begins."""
        start, end = self._spans[self._span]
        return offset + length > start and offset <= end

    def _keep(self, offset: int, line: bytes) -> None:
        self._size += len(line)
        if self._size <= 4 * _MOST_BYTES:
            self._lines[offset] = line

    def close(self) -> Trimmed:
        """Return what was kept."""
        for found in (*self._facts.values(), self._tail):
            self._lines.update(found)
        return Trimmed([line for _, line in sorted(self._lines.items())], self._total)


def _words() -> list[bytes]:
    phases = knowledge("phases")
    rows = [*phases["phases"], phases["ready"], *knowledge("facts_from_logs")["rows"]]
    words = {word for row in rows if not row.get("progress") for word in row["any"]}
    return sorted(word.encode() for word in words | {"server_args=", "non-default args", "Starting ", "Started "})


def _lines(blocks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of every line, its end included; of a line of megabytes only its beginning."""
    rest = b""
    offset = 0
    skipped = 0
    for block in blocks:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield offset, line[:_LONGEST] + b"\n"
            offset += len(line) + skipped + 1
            skipped = 0
        if len(rest) > 2 * _LONGEST:
            skipped += len(rest) - _LONGEST
            rest = rest[:_LONGEST]
    if rest:
        yield offset, rest[:_LONGEST] + b"\n"
