"""The kinds of message that a log holds: lines that differ in numbers, times, paths and quoted values only are of one.

Every line of a log is counted, but few are read. A line whose bytes are those of an earlier one, digits aside, is of
the kinds of that one; telling so costs a fraction of a microsecond, which is what makes logs of gigabytes feasible.
"""

from __future__ import annotations

from itertools import chain

from triage.fingerprint import mask_volatile
from triage.lazy import regex
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triage.model import Entry, Line

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_LOOKED_AT = 64 << 10
# Distinct lines that are remembered; of further ones each is read for itself.
_MOST_LINES = 400_000
_MOST_KINDS = 20_000
MOST_KNOWN = 1_000_000
_SHAPE = 300
_QUOTED = regex(r"'[^']{0,200}'|\"[^\"]{0,200}\"")
_PART_OF_OTHER = regex(r"\s|Traceback \(most recent|frame #\d|[\W\d_]*$|server_args=|.{0,40}non-default args: ")
# Words by which a line says how bad it is, with syslog's severity.
_WORDS = (
    (2, regex(r"\b(?:FATAL|Fatal|CRITICAL|panicked|terminate called)\b")),
    (3, regex(r"\b(?:ERROR|Error|error|FAILED|[Ff]ailed|\w*Exception|\w+Error|Killed|Aborted)\b")),
    (4, regex(r"\b(?:WARN|WARNING|[Ww]arning|\w*Warning|deprecated)\b")),
)
_INFO = 6


@dataclass(slots=True)
class Kind:
    """A kind of message: its first line, how bad it is (syslog's severity), how often it came; `order` is its place."""

    line: Line
    severity: int
    order: int
    places: list[int] = field(default_factory=list)
    count: int = 0


class Counter:
    """Finds the lines that have to be read, and counts the others under them."""

    def __init__(self) -> None:
        self._index: dict[int, int] = {}
        self._counts: list[int] = []
        self._places: dict[int, int] = {}

    def blocks(self, chunks: Iterable[bytes], start: int = 0) -> Iterator[tuple[int, bytes]]:
        """Take the chunks of a text; yield (byte offset, bytes) of the lines from `start` on that have to be read.

        Of a text whose entries are spread over several lines all comes.
        """
        from triage.scan import spread
        from triage.sources.text import whole

        stream = iter(chunks)
        head = b""
        for chunk in stream:
            head += chunk
            if len(head) >= _LOOKED_AT:
                break
        blocks = whole(chain([head], stream) if head else stream)
        if spread(head[:_LOOKED_AT]):
            yield from ((offset, block) for offset, block in blocks if offset + len(block) > start)
            return
        for offset, block in blocks:
            if offset + len(block) <= start:
                continue
            at = offset
            for raw, masked in zip(block.splitlines(keepends=True), block.translate(_DIGITS).splitlines(), strict=True):
                if at >= start and self._new(masked, at):
                    yield at, raw
                at += len(raw)

    def select(self, messages: Sequence[bytes]) -> list[int]:
        """Take messages of a journal; return the indices of those that have to be read."""
        return [number for number, text in enumerate(messages) if self._new(text.translate(_DIGITS), None)]

    def entries(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Take the entries that were selected; yield them, noting under which offset each is counted."""
        for entry in entries:
            place = self._index.get(hash(entry.fields.get("MESSAGE", "").encode().translate(_DIGITS)))
            if place is not None:
                self._places[entry.offset] = place
            yield entry

    def _new(self, masked: bytes, offset: int | None) -> bool:
        mark = hash(masked)
        place = self._index.get(mark)
        if place is not None:
            self._counts[place] += 1
            return False
        if len(self._index) < _MOST_LINES:
            self._index[mark] = len(self._counts)
            if offset is not None:
                self._places[offset] = len(self._counts)
            self._counts.append(1)
        return True

    def place(self, offset: int) -> int | None:
        """Take the offset of a line that was read; return under which number lines like it are counted, if they are."""
        return self._places.get(offset)

    def times(self, place: int) -> int:
        """Take such a number; return how many lines were counted under it so far."""
        return self._counts[place]


def shape(line: Line) -> str | None:
    """Take a line; return its kind, None for what belongs to something else: a traceback, a native stack, the facts."""
    text = line.text[:_SHAPE]
    if line.origin == "other" or not text or _PART_OF_OTHER.match(text):
        return None
    return mask_volatile(_QUOTED.sub("''", text))[:_SHAPE]


def severity(line: Line) -> int:
    """Take a line; return how bad it says it is, as syslog's severity."""
    said = next((number for number, words in _WORDS if words.search(line.text[:_SHAPE])), _INFO)
    return said if line.severity is None else min(said, line.severity)


def known(lines: Iterable[Line], wanted: Callable[[Line], bool]) -> set[int]:
    """Take the lines of the good log; return its kinds, as hashes, a million at most."""
    found: set[int] = set()
    for line in lines:
        kind = shape(line) if wanted(line) else None
        if kind is not None and len(found) < MOST_KNOWN:
            found.add(hash(kind))
    return found


def only_here(lines: Iterable[Line], wanted: Callable[[Line], bool], others: set[int], counter: Counter) -> list[Kind]:
    """Take the lines of the bad log and the kinds of the good one; return the kinds that only the bad log has.

    The most severe stand first, of those the rarest, of those the earliest; 20,000 at most are kept.
    """
    from triage.events.message import Noise

    noise = Noise()
    found: dict[str, Kind] = {}
    for number, line in enumerate(lines):
        kind = shape(line) if wanted(line) else None
        if kind is None or hash(kind) in others:
            continue
        same = found.get(kind)
        if same is None:
            if len(found) >= _MOST_KINDS or noise.covers(line.text):
                continue
            same = found[kind] = Kind(line, severity(line), number)
        place = counter.place(line.offset)
        if place is None:
            same.count += 1
        else:
            same.places.append(place)
    for same in found.values():
        same.count += sum(map(counter.times, same.places))
        same.places = []
    return sorted(found.values(), key=lambda one: (one.severity, one.count, one.order))
