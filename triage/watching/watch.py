"""Follows a unit from its start until it is ready or is not going to be.

Everything that happens comes through one queue: lines of the journal, answers of the health endpoint, and time. While
nothing happens, nothing runs but one question to systemd every ten seconds, in case the journal does not tell.
"""

from __future__ import annotations

import queue
import threading
import time

from triage.follow import Follower
from triage.model import Line, TriageError
from triage.pipeline import Options
from triage.records import dataclass
from triage.sources.query import KERNEL, manager_groups, other_groups, output_groups
from triage.typed import TYPE_CHECKING, TypeAlias
from triage.watching.course import Course
from triage.watching.gone import Pulse
from triage.watching.health import Answer, Probe
from triage.watching.origin import find_origin
from triage.watching.output import Output, blocks
from triage.watching.progress import Start
from triage.watching.verdict import Verdicts

if TYPE_CHECKING:
    from urllib.parse import SplitResult

    from triage.library import Library
    from triage.sources.feed import Feed
    from triage.watching.course import Turn
    from triage.watching.host import Host
    from triage.watching.origin import Origin
    from triage.watching.progress import Move
    from triage.watching.say import Teller
    from triage.watching.verdict import Verdict

    Item: TypeAlias = Line | Answer | tuple[str, bytes] | str | BaseException | None

# What belongs to a death is written within so many seconds of silence, or of the first word of it.
_SETTLED, _LONGEST_SETTLING = 0.35, 3.0
# While that silence is waited for, what is known by then is diagnosed: the second time takes half as long.
_BREATH = 0.02
# What the journal holds already comes without such pauses.
_CAUGHT_UP = 1.0
# Looking for failures from which a service does not recover, at most so often.
_LOOK = 5.0
# So long after a stop a new start is part of a restart that the operator asked for.
_RESTART = 2.0
# A failure that kills a service, and then silence for so long, though systemd calls the unit active.
_HOPELESS = 30.0
# A rank is called behind when it has been for so long.
_BEHIND = 10.0
_GLANCE = 10.0
# A service has so long to do something about a process that is gone.
_GONE = 3.0
_WAITING_LINES = 4096


@dataclass(slots=True)
class Settings:
    """What a watch was asked for. Durations are seconds.

    `restarts` is how many failures are outlived, as long as systemd restarts the unit and it fails differently.
    """

    timeout: float = 22 * 60.0
    stall: float = 300.0
    start: bool = False
    health: SplitResult | None = None
    restarts: int = 0


class Watch:
    """One watch of one unit. Its fields are what a screen shows."""

    def __init__(self, host: Host, unit: str, library: Library, settings: Settings, teller: Teller) -> None:
        """Take the host, the unit's full name, the signatures, what was asked for, and who is told."""
        self.host, self.unit, self.settings = host, unit, settings
        self.start = Start()
        self.course = Course(unit)
        self.answer: Answer | None = None
        self.origin: Origin | None = None
        self.began = time.monotonic()
        self._teller = teller
        self._library = library
        self._queue: queue.Queue[Item] = queue.Queue(_WAITING_LINES)
        self._feed: Feed | None = None
        self._probe: Probe | None = None
        self._pulse = Pulse(unit, local=host.query.live)
        self._life = time.monotonic()
        self._arrival = time.monotonic()
        self._settling: tuple[Turn | None, float] | None = None
        self._rehearsed = False
        self._past = False
        self._whole = False
        self._outputs: dict[str, Output] = {}
        self._stopped: float | None = None
        self._glanced = time.monotonic()
        self._looked = 0.0
        self._behind: tuple[str, float] | None = None
        self._told_behind: set[str] = set()
        self._hopeless: float | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since the start began, on the host's clock; since the watch began where there is none yet."""
        began = self.start.began
        return max(self.host.now() - began, 0.0) if began is not None else time.monotonic() - self.began

    @property
    def restarts(self) -> int:
        """How often systemd has restarted the unit, by its counter and by what it said since."""
        return self.course.restarts + (
            self.origin.restarts if self.origin is not None and not self.origin.to_start else 0
        )

    @property
    def waiting(self) -> bool:
        """Whether the unit has not been started yet."""
        return not self.course.running and self.start.began is None

    def run(self) -> Verdict:
        """Watch; return what came of it. Raises `TriageError` where the unit or its journal can't be read."""
        self.origin = find_origin(self.host, self.unit, start=self.settings.start)
        options = Options(library=self._library, facts=self.origin.facts)
        follower = Follower("journal", self._library, options)
        self._follower = follower
        self._verdicts = Verdicts(self, follower, self._library)
        groups = [
            *output_groups(self.unit, user=self.host.query.user),
            *manager_groups(self.unit, user=self.host.query.user),
            *other_groups(self.unit, user=self.host.query.user),
            KERNEL,
        ]
        self._feed = self.host.feed(groups, self.origin.since, self._queue.put)
        threading.Thread(target=self._pump, args=(self._feed,), name="journal", daemon=True).start()
        for path, size in self.origin.outputs.items():
            self._outputs[path] = Output(path, self.unit, self.host.now)
            threading.Thread(target=self._pump_file, args=(path, size), name="output", daemon=True).start()
        try:
            self._teller.began(self)
            if self.origin.to_start:
                self.host.start(self.unit)
            if self.settings.health is not None:
                self._probe = Probe(self.settings.health, self._queue.put)
                self._probe.start()
            while True:
                verdict = self._turn()
                if verdict is not None:
                    return verdict
        finally:
            self._feed.close()
            if self._probe is not None:
                self._probe.stop()

    def compare(self, verdict: Verdict) -> None:
        """Take the verdict that the unit is ready; add what changed since the run before, if that failed."""
        self._verdicts.compare(verdict)

    def _pump(self, feed: Feed) -> None:
        """Move lines from the journal to the queue; what ends the reading goes last."""
        from triage.lines import read_entries

        end: BaseException | None = None
        try:
            for line in read_entries((entry for batch in feed.batches() for entry in batch), "journal", live=True):
                self._queue.put(line)
        except (TriageError, OSError) as error:
            end = error
        self._queue.put(end)

    def _pump_file(self, path: str, size: int) -> None:
        """Move what is written to a file to the queue."""
        try:
            for block in blocks(path, size):
                self._queue.put((path, block))
        except (TriageError, OSError) as error:
            self._queue.put(str(error))

    def _turn(self) -> Verdict | None:
        """Wait for what comes next or for what is due next; return the verdict where there is one."""
        now = time.monotonic()
        try:
            item = self._queue.get(timeout=max(self._due() - now, 0.0))
        except queue.Empty:
            return self._late(time.monotonic())
        if isinstance(item, Line):
            self._arrival = time.monotonic()
            found = self._line(item)
        elif isinstance(item, Answer):
            found = self._answered(item)
        elif isinstance(item, tuple):
            found = self._written(self._outputs[item[0]].feed(item[1], self.course.invocation))
        elif isinstance(item, str):
            self._teller.note(item)
            found = None
        else:
            raise item if item is not None else TriageError("the journal ended")
        if found is None and time.monotonic() >= self._due():
            found = self._late(time.monotonic())
        return found

    def _written(self, lines: list[Line]) -> Verdict | None:
        self._arrival = time.monotonic()
        found = None
        for line in lines:
            found = found or self._line(line)
        return found

    def _due(self) -> float:
        """The next moment at which something has to be looked at, though nothing came."""
        due = [self.began + self.settings.timeout, self._glanced + _GLANCE, self._teller.due]
        due += [output.due for output in self._outputs.values()]
        if self._settling is not None:
            pause = _BREATH if not self._rehearsed else _SETTLED
            due.append(min(self._arrival + pause, self._settling[1] + _LONGEST_SETTLING))
        elif self._stopped is not None:
            due.append(self._stopped + _RESTART)
        elif not self.waiting:
            due.append(self._quiet_until())
            if self._behind is not None and self._behind[0] not in self._told_behind:
                due.append(self._behind[1] + _BEHIND)
            if self._follower.unsaid:
                due.append(self._looked + _LOOK)
        return min(due)

    def _quiet_until(self) -> float:
        """The moment from which silence is a failure.

        Not while what was written before the watch is still read; and never where what the service says is not heard,
        or where the journal begins after its start, when it may long have been up.
        """
        if not self._whole or (self.origin is not None and self.origin.deaf):
            return float("inf")
        limits = [self._life + self.settings.stall]
        if self._hopeless is not None:
            limits.append(max(self._life, self._hopeless) + _HOPELESS)
        return max(min(limits), self._arrival + _CAUGHT_UP if self._past else 0.0)

    def _line(self, line: Line) -> Verdict | None:
        self._follower.feed([line])
        moment = self._moment(line.time)
        verdict = None
        for turn in self.course.feed(line):
            verdict = verdict or self._turned(turn)
        if line.unit == self.unit and line.origin == "service" and self._settling is None:
            life = self.start.last_life
            moves = self.start.feed(line)
            if self.start.last_life != life:
                self._life = moment
                self._hopeless = None
            self._pulse.saw(line)
            self._moved(moves)
        return verdict or self._ready()

    def _moment(self, at: float | None) -> float:
        """When a line was written, on the monotonic clock: now, but for those from before the watch began."""
        now = time.monotonic()
        age = self.host.now() - at if at is not None else 0.0
        self._past = age > now - self.began
        return now - age if self._past else now

    def _turned(self, turn: Turn) -> Verdict | None:
        if turn.kind == "start":
            self._stopped = None
            self._whole = bool(turn.said) or not self._past
            if self._settling is None:
                self.start = Start(turn.at)
                self._life = self._moment(turn.at)
                self._teller.started(self, turn)
        elif turn.kind == "stopped":
            self._stopped = time.monotonic()
        elif self._settling is None:
            self._settling = (turn, time.monotonic())
        return None

    def _moved(self, moves: list[Move]) -> None:
        for move in moves:
            self._teller.moved(self, move)
            if move.kind == "ready" and self._probe is not None:
                self._probe.hurry()
        behind = self.start.behind()
        mark = f"{','.join(behind.ranks)} {behind.phase}" if behind is not None else ""
        if not mark:
            self._behind = None
        elif self._behind is None or self._behind[0] != mark:
            self._behind = (mark, time.monotonic())

    def _answered(self, answer: Answer) -> Verdict | None:
        self.answer = answer
        self._teller.answered(self, answer)
        return self._ready()

    def _ready(self) -> Verdict | None:
        """The engine says so and, where an endpoint is asked, it answers. Of an engine whose words nobody knows, or
        whose start the journal has lost, the answer is enough.
        """
        if self._settling is not None or self._stopped is not None or self.waiting:
            return None
        start = self.start
        served = start.served is not None and not start.known
        if self.settings.health is None:
            up = start.ready is not None or served
        else:
            up = self.answer is not None and self.answer.state == "ok" and (start.ready is not None or not start.known)
        return self._verdicts.ready() if up else None

    def _late(self, now: float) -> Verdict | None:
        """Something is due."""
        self._teller.draw(self)
        for output in self._outputs.values():
            if now >= output.due and (verdict := self._written(output.pause(self.course.invocation))) is not None:
                return verdict
        if self._settling is not None:
            turn, since = self._settling
            if not self._rehearsed:
                self._rehearsed = True
                self._verdicts.rehearse()
                now = time.monotonic()
            if now < min(self._arrival + _SETTLED, since + _LONGEST_SETTLING):
                return None
            return self._failed(turn)
        if self._stopped is not None:
            return self._verdicts.stopped() if now >= self._stopped + _RESTART else None
        if now >= self.began + self.settings.timeout:
            return self._verdicts.out_of_time()
        if now >= self._glanced + _GLANCE:
            self._glance(now)
        if self.waiting or self._settling is not None:
            return None
        self._look(now)
        if now >= self._quiet_until():
            return self._verdicts.quiet(now - self._life)
        if self._behind is not None and now >= self._behind[1] + _BEHIND and self._behind[0] not in self._told_behind:
            self._told_behind.add(self._behind[0])
            self._teller.behind(self)
        return None

    def _failed(self, turn: Turn | None) -> Verdict | None:
        """The unit failed, ended or is restarted: this is the end, unless restarts are to be outlived."""
        verdict = self._verdicts.failed(turn)
        if self.settings.restarts <= self._verdicts.outlived or verdict.loop:
            return verdict
        if not (self.course.restarts > self._verdicts.outlived or self.restarts_soon()):
            return verdict
        self._teller.outlived(self, verdict)
        self._verdicts.outlived += 1
        self._settling = None
        self._rehearsed = False
        self._hopeless = None
        self.start = Start() if not self.course.running else Start(self.host.now())
        self._life = time.monotonic()
        return None

    def restarts_soon(self) -> bool:
        """Whether systemd is about to start the unit again, or has."""
        if self.course.running:
            return True
        state = self.host.glance(self.unit)
        return state is not None and state.sub_state == "auto-restart"

    def _look(self, now: float) -> None:
        """Diagnose what there is, so that a failure after which nothing comes is no five minutes' wait."""
        if not self._follower.unsaid or now < self._looked + _LOOK:
            return
        self._follower.flush()
        self._follower.look()
        self._looked = time.monotonic()
        if self._verdicts.hopeless():
            self._hopeless = self._hopeless or now

    def _glance(self, now: float) -> None:
        """Ask systemd, in case the journal does not tell, and see whether the ranks' processes are still there."""
        self._glanced = now
        if self.waiting:
            return
        gone = self._pulse.gone()
        if gone and self._pulse.surely:
            self._verdicts.found_gone(gone)
            self._settling = (None, now)
            return
        if gone:
            self._glanced = now - _GLANCE + _GONE
        state = self.host.glance(self.unit)
        if state is not None and state.active_state in ("failed", "inactive"):
            self._verdicts.found_dead(state)
            self._settling = (None, now)
