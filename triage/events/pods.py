"""What Kubernetes says of a container, as events and facts of its log: how it ended, which probes failed, its limits.

It is the API's own word and not the log's, so `data["origin"]` is `api`: an OOM kill that it tells of is one. Which end
of a container is the log's is told by time: `state.terminated` and `lastState.terminated` say from when to when it ran.
"""

from __future__ import annotations

import signal as signals
from bisect import bisect_right

from triage.events.message import MessageReader
from triage.events.pod_facts import facts_of, main_container
from triage.lazy import regex
from triage.model import Event, Evidence, Gap, Line, Position, TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triage.events.extract import Extraction
    from triage.patterns import LinePattern
    from triage.sources.pods import Container, Ended, Pod, Said

# A container's end is said in whole seconds, by another clock than the log's.
_SLACK = 60.0
# Events of the cluster that are so much older or newer than the log are of another container's run.
_AROUND = 600.0
_ZONE_STEP, _ZONE_MOST, _ZONE_REST = 900.0, 14 * 3600.0, 300.0
_SIGNALED = 128
_SIGTERM = 15
_STOPPED = regex(r"Stopping container\b")
_NORMAL = ("Killing", "Preempting")
# pkg/probe of Kubernetes, and net/http of Go.
_PROBED = regex(
    r"HTTP probe failed with statuscode: \d{3}|(?:Get \"https?://[^\"\s]{1,200}\": )?(?:EOF|context deadline exceeded"
    r"(?: \(Client\.Timeout exceeded while awaiting headers\))?|(?:dial|read) tcp [\d.:\[\]a-f>-]{3,100}: "
    r"(?:connect: connection refused|i/o timeout|read: connection reset by peer))"
)


def attach(extraction: Extraction, pods: Sequence[Pod], name: str, patterns: Iterable[LinePattern] = ()) -> list[Gap]:
    """Take what a log says, the pods, the log's name, the log patterns of signatures; add what the log's pod says.

    Returns what could not be told. Raises `TriageError` where there are several pods and none is the log's.
    """
    gaps: list[Gap] = []
    for pod in _of_log(extraction, pods, name):
        _Teller(extraction, pod, MessageReader(patterns), gaps).tell()
    extraction.events.sort(key=lambda event: event.order)
    return gaps


def _of_log(extraction: Extraction, pods: Sequence[Pod], name: str) -> list[Pod]:
    if len(pods) == 1:
        return list(pods)
    told = {track.host for track in extraction.tracks}
    found = [pod for pod in pods if pod.name and (pod.name in name or pod.name in told)]
    # `sglang-1` stands in `sglang-10.log` too: the longest name is meant.
    longest = max((len(pod.name) for pod in found if pod.name in name), default=0)
    found = [pod for pod in found if pod.name in told or len(pod.name) == longest]
    if not found:
        names = ", ".join(pod.name for pod in pods[:4]) or "none"
        raise TriageError(
            f"--pod tells of {len(pods)} pods ({names}), and nothing in {name} says which of them wrote it"
        )
    return found


class _Teller:
    """Adds what one pod says to an extraction."""

    def __init__(self, extraction: Extraction, pod: Pod, reader: MessageReader, gaps: list[Gap]) -> None:
        self._out = extraction
        self._pod = pod
        self._reader = reader
        self._gaps = gaps
        self._numbers = [number for number, _ in extraction.moments]
        self._times = [time for _, time in extraction.moments]
        self._next = extraction.lines
        self._shift = 0.0

    def tell(self) -> None:
        container = main_container(self._pod)
        ended = self._ended(container) if container is not None else None
        if self._pod.reason or self._pod.message:
            self._line(f"{self._pod.reason}: {self._pod.message}".strip(": "), None, 1)
        for said in self._pod.said:
            self._event(said)
        if container is not None:
            if container.state == "waiting" and container.reason not in ("", "ContainerCreating", "PodInitializing"):
                self._line(f"{container.reason}: {container.message}".strip(": "), None, 1)
            if ended is not None:
                self._end(container, ended)
            self._facts(container)

    # --- which end is the log's -------------------------------------------------------------------------------------

    def _ended(self, container: Container) -> Ended | None:
        """The end of the container that wrote the log; learns by how much the log's clock is off, if it has no zone."""
        both = [ended for ended in (container.ended, container.last) if ended is not None]
        first, last = self._out.first_time, self._out.last_time
        if first is None or last is None or not any(ended.finished for ended in both):
            return self._untimed(container)
        for shift_allowed in (False, True):
            for ended in both:
                shift = self._zone(ended, last) if shift_allowed else 0.0
                if (shift or not shift_allowed) and _within(ended, first + shift, last + shift):
                    self._shift = shift
                    return ended
        if container.state != "running" and both:
            self._gaps.append(
                Gap(
                    "clock",
                    f"no end of {container.name} that Kubernetes tells of lies at the end of this log: left out",
                )
            )
        return None

    def _untimed(self, container: Container) -> Ended | None:
        if container.state != "running":
            return container.ended or container.last
        return container.last if any(event.fatal for event in self._out.events) else None

    def _zone(self, ended: Ended, last: float) -> float:
        """How far the log's stamps, which say no zone, are behind UTC, if a zone explains the difference."""
        if self._out.zoned or ended.finished is None:
            return 0.0
        shift = round((ended.finished - last) / _ZONE_STEP) * _ZONE_STEP
        rest = ended.finished - last - shift
        return shift if abs(shift) <= _ZONE_MOST and -_SLACK <= rest <= _ZONE_REST else 0.0

    # --- events -----------------------------------------------------------------------------------------------------

    def _end(self, container: Container, ended: Ended) -> None:
        pod, code = self._pod, ended.code
        limit = container.limits.get("memory")
        text = f"Container {container.name} of pod {pod.name}: Terminated, Reason: {ended.reason or 'unknown'}"
        text += f", Exit Code: {code}" if code is not None else ""
        data = {"origin": "api", "container": container.name[:253], "pod": pod.name[:253], "reason": ended.reason[:100]}
        if code is not None:
            data["exit"] = str(code)
        if ended.reason == "OOMKilled":
            text += f", memory limit {limit}" if limit else ""
            data |= {"oom": "memcg", "signal": "SIGKILL", **({"limit": limit[:40]} if limit else {})}
            self._add(
                Event("kernel", "kubernetes/oom-killed", self._at(ended.finished), "", text, 0, fatal=True, data=data)
            )
        elif code:
            number = code - _SIGNALED
            name = _signal(number)
            data["code"] = f"-{number}" if name else str(code)
            if name:
                text, data["signal"] = f"{text} ({name})", name
            if number == _SIGTERM and self._told_to_stop(ended):
                self._add(Event("message", "graceful-stop", self._at(ended.finished), "", text, data=data))
            else:
                event = Event("exit", "container/terminated", self._at(ended.finished), "", text, 2.5, data=data)
                event.fatal = True
                self._add(event)

    def _told_to_stop(self, ended: Ended) -> bool:
        """Whether somebody deleted the pod, or stopped its containers for another reason than a failed probe."""
        near = [
            said
            for said in self._pod.said
            if said.last is None or ended.finished is None or said.last <= ended.finished + _SLACK
        ]
        return self._pod.deleted or any(said.reason == "Killing" and _STOPPED.match(said.message) for said in near)

    def _event(self, said: Said) -> None:
        if not said.warning and said.reason not in _NORMAL:
            return
        start, end = self._out.first_time, self._out.last_time
        if said.last is not None and start is not None and end is not None:
            first = said.first if said.first is not None else said.last
            if said.last - self._shift < start - _AROUND or first - self._shift > end + _AROUND:
                return
        self._line(f"{said.reason}: {_own_words(said)}", said.last, said.count)

    def _line(self, text: str, time: float | None, count: int) -> None:
        """Read a text of the API as a decisive line is read."""
        at = self._at(time)
        line = Line(text, "", at.offset, at.source, time=at.time, zoned=at.zoned, host=at.host, origin="other")
        known = self._reader.known(line)
        for event in [*([known] if known is not None else []), *self._reader.asked(line)]:
            event.at = at
            event.evidence = [Evidence(at, text[:500])]
            event.data |= {"origin": "api", "pod": self._pod.name[:253]}
            if count > 1:
                event.data["repeats"] = str(min(count, 1_000_000) - 1)
            self._add(event)

    def _facts(self, container: Container) -> None:
        facts = dict(facts_of(self._pod, container))
        if facts:
            data = {name: value[:1000] for name, value in facts.items() if value}
            self._add(Event("message", "arguments", self._at(None), "", f"pod {self._pod.name}", data=data))

    def _add(self, event: Event) -> None:
        event.stream = f"pod/{self._pod.name}"
        if not event.evidence:
            event.evidence = [Evidence(event.at, event.text[:500])]
        event.order = self._order(event)
        self._out.events.append(event)

    def _order(self, event: Event) -> int:
        """An event stands before the first line that is later; a container's end, and what has no time, after all."""
        time = event.at.time
        ends = event.rule in ("kubernetes/oom-killed", "container/terminated", "graceful-stop")
        if time is None or ends or not self._times or time >= self._times[-1]:
            self._next += 1
            return self._next
        index = bisect_right(self._times, time)
        return self._numbers[index - 1] if index else 0

    def _at(self, time: float | None) -> Position:
        """Where the API says it; times are shifted to the log's clock."""
        when = None if time is None else time - self._shift
        zoned = self._out.zoned or self._out.first_time is None
        return Position(when, zoned and time is not None, host=self._pod.node, source=self._pod.source)


def _own_words(said: Said) -> str:
    """What the kubelet itself says; of a probe's output, which a program in the container can print, only its usual
    words.
    """
    if said.reason != "Unhealthy":
        return said.message
    head, _, output = said.message.partition(": ")
    return said.message if _PROBED.fullmatch(output.strip()) else head


def _within(ended: Ended, first: float, last: float) -> bool:
    if ended.finished is None or last > ended.finished + _SLACK:
        return False
    return ended.started is None or first >= ended.started - _SLACK


def _signal(number: int) -> str | None:
    try:
        return signals.Signals(number).name if number > 0 else None
    except ValueError:
        return None
