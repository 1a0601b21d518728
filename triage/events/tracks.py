"""Who wrote: one track for each writer of the service, with its last line and last words, and what its clock did."""

from __future__ import annotations

from collections import deque
from math import inf

from triage.events.positions import EVIDENCE_LIMIT, evidence
from triage.model import Evidence
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Line

# Of more writers those that have been silent for longest are forgotten.
_MOST = 20_000
# A stamp so many seconds older than the one before it, of the same writer, is a clock that was set back.
_SET_BACK = 60.0
_MOMENTS = 4096


@dataclass(slots=True)
class Track(Record):
    """One writer of the service: a stream, and a rank where its lines named one.

    `newest` is its last line that is not blank, `last` the same as evidence, which is made when somebody asks. `first`
    and `last_number` are the running numbers of its first and last line, `words` its last lines that nobody knew,
    oldest first. `times` are its latest stamps, without a zone and with one; `set_back` is the first pair of stamps
    between which its clock went back by more than a minute. `left_out` counts messages that journalctl left out for
    their length.
    """

    stream: str
    rank: str | None
    pid: int | None
    host: str | None
    unit: str | None
    invocation: str | None
    first: int
    last_number: int
    newest: Line | Evidence
    count: int = 0
    command: str | None = None
    words: deque[tuple[int, Evidence]] = field(default_factory=lambda: deque(maxlen=4))
    times: list[float] = field(default_factory=lambda: [0.0, 0.0])
    set_back: tuple[float, float] | None = None
    left_out: int = 0

    @property
    def last(self) -> Evidence:
        """Its last line that is not blank."""
        if not isinstance(self.newest, Evidence):
            self.newest = evidence(self.newest)
        return self.newest


class Tracks:
    """The tracks of all writers, in the order in which they were first seen; `done` holds those that a start ended."""

    def __init__(self) -> None:
        self.done: list[Track] = []
        self._open: dict[tuple[str, str | None], Track] = {}

    def take(self, line: Line) -> Track:
        """Take a line of the service; return the track of its writer, with the line counted."""
        key = (line.stream, line.rank)
        track = self._open.get(key)
        if track is None:
            track = self._begin(key, line)
        text = line.text
        if text.strip() or not track.count:
            # Of a long line its beginning is kept.
            track.newest = line if len(text) <= EVIDENCE_LIMIT else evidence(line)
        track.count += 1
        track.last_number = line.number
        time = line.time
        if time is not None:
            zoned = line.zoned
            before = track.times[zoned]
            if time < before and time < before - _SET_BACK and track.set_back is None:
                track.set_back = (before, time)
            track.times[zoned] = time
        return track

    def _begin(self, key: tuple[str, str | None], line: Line) -> Track:
        track = self._open[key] = Track(
            line.stream, line.rank, line.pid, line.host, line.unit, line.invocation, line.number, line.number, line
        )
        if len(self._open) > _MOST:
            self._drop()
        return track

    def turn(self, before: int) -> None:
        """A start: writers whose last line is older end here, so that each attempt keeps its own last lines."""
        for key in [key for key, track in self._open.items() if track.last_number < before]:
            self.done.append(self._open.pop(key))
        del self.done[:-_MOST]

    def forget(self, before: int) -> None:
        """Forget the writers whose last line is older."""
        self.done = [track for track in self.done if track.last_number >= before]
        self._open = {key: track for key, track in self._open.items() if track.last_number >= before}

    def all(self) -> list[Track]:
        """Return all tracks."""
        return [*self.done, *self._open.values()]

    def _drop(self) -> None:
        oldest = sorted(self._open, key=lambda key: self._open[key].last_number)[: _MOST // 4]
        for key in oldest:
            del self._open[key]


class Moments:
    """When which line was written: pairs of a line's running number and its time, both rising, a few thousand at most.

    They tie the lines of one log to those of another. Only times beyond `after` are kept, so whoever has many that are
    not need not ask.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[int, float]] = []
        self.after = -inf
        self._step = 0.0

    def add(self, number: int, time: float) -> None:
        """Take a line's number and time; a time that is hardly later than the last one kept is passed over."""
        if time <= self.after:
            return
        pairs = self.pairs
        pairs.append((number, time))
        if len(pairs) >= _MOMENTS:
            self._step = max(self._step * 2, (pairs[-1][1] - pairs[0][1]) / _MOMENTS)
            del pairs[1::2]
        self.after = pairs[-1][1] + self._step
