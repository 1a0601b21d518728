"""What an engine's own log tells of its run: launch arguments and other facts, phases, readiness, serving.

The texts are rows of knowledge/phases.yaml and knowledge/facts_from_logs.yaml. Lines that prove serving come by the
million: they are folded into one event until something else happens.
"""

from __future__ import annotations

from itertools import chain

from triage.data import knowledge
from triage.events.arguments import parse_arguments
from triage.events.candidates import Candidates
from triage.events.positions import evidence, position
from triage.lazy import regex
from triage.model import Event, Line
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(slots=True)
class _Fold(Record):
    """Serving lines that are one event: how many there are, and the last of them."""

    event: Event
    last: Line
    count: int = 1


class ServerReader:
    """Reads facts, phases, readiness and serving off the lines of the service; these hold one of `words`."""

    def __init__(self) -> None:
        table: Any = knowledge("phases")
        self._phases = [
            (row, tuple(row["any"]), regex(row["begin"]), regex(row["end"]) if "end" in row else None)
            for row in table["phases"]
        ]
        self._facts = [(tuple(row["any"]), regex(row["re"])) for row in knowledge("facts_from_logs")["rows"]]
        ready, serving, graceful = table["ready"], table["serving"], table["graceful"]
        self._ready_words, self._ready = tuple(ready["any"]), regex(ready["re"])
        self._serving_words = tuple(serving["any"])
        self._batch, self._request = regex(serving["batch"]), regex(serving["request"])
        self._health = regex(serving["health"])
        self._graceful_words, self._graceful = tuple(graceful["any"]), regex(graceful["re"])
        # What is open for a unit, an invocation and a kind.
        self._folding: dict[tuple[str | None, str | None, str], _Fold] = {}
        words = [self._serving_words, self._ready_words, self._graceful_words]
        rows = [*words, *(row[1] for row in self._phases), *(row[0] for row in self._facts)]
        self._candidates = Candidates(rows)
        self.words = {"args", *chain.from_iterable(rows)}
        self._first_phase, self._first_fact = len(words), len(words) + len(self._phases)

    def feed(self, line: Line) -> list[Event]:
        """Take a line; return what it says of the run. Serving lines extend the event that is open for their kind; it
        says so once `settle` was called.
        """
        text = line.text
        for word in self._serving_words:
            if word in text:
                return self._serve(line, text)
        rows = self._candidates.of(text)
        told = list(self._told(line, rows)) if rows else []
        arguments = parse_arguments(text)
        if arguments:
            told.append(_event(line, "arguments", arguments))
        return told

    def _told(self, line: Line, rows: tuple[int, ...]) -> Iterator[Event]:
        """Yield what a line says; only the given rows, as they were numbered for `Candidates`, may hold."""
        text = line.text
        phases = [self._phases[n - self._first_phase] for n in rows if self._first_phase <= n < self._first_fact]
        for row, words, begin, end in phases:
            if any(word in text for word in words):
                edge = "end" if end is not None and end.search(text) else "begin" if begin.search(text) else None
                if edge:
                    event = _event(line, f"phase/{row['phase']}", {"edge": edge})
                    if row.get("banner"):
                        event.data["banner"] = "1"
                    if row.get("progress"):
                        event.data["progress"] = "1"
                    yield event
                    break
        if any(word in text for word in self._ready_words) and self._ready.search(text):
            yield _event(line, "ready", {})
        elif any(word in text for word in self._graceful_words) and self._graceful.search(text):
            yield _event(line, "graceful-stop", {})
        facts: dict[str, str] = {}
        for words, pattern in (self._facts[n - self._first_fact] for n in rows if n >= self._first_fact):
            if any(word in text for word in words):
                found = pattern.search(text)
                if found:
                    facts.update({k: v for k, v in found.groupdict().items() if v is not None})
        if facts:
            yield _event(line, "facts", facts)

    def settle(self) -> None:
        """Write into the open events of serving lines what these have come to."""
        for fold in self._folding.values():
            fold.event.end = fold.last.time
            fold.event.data.update(count=str(fold.count), last=str(fold.last.number))

    def interrupt(self) -> None:
        """Something else happened: serving lines that follow are serving after it."""
        if self._folding:
            self.settle()
            self._folding.clear()

    def _serve(self, line: Line, text: str) -> list[Event]:
        found = self._request.search(text) if '"' in text or "uri=" in text else None
        if found:
            status = int(found["status"])
            if self._health.match(found["path"]):
                kind = "probe-ok" if status < 400 else "probe-failed"
            else:
                kind = "ok" if status < 400 else "client-error" if status < 500 else "server-error"
        elif self._batch.search(text):
            kind = "batch"
        else:
            return []
        key = line.unit, line.invocation, kind
        fold = self._folding.get(key)
        if fold is not None:
            fold.count += 1
            fold.last = line
            return []
        event = _event(line, f"serving/{kind}", {"count": "1", "last": str(line.number)})
        self._folding[key] = _Fold(event, line)
        return [event]


def _event(line: Line, rule: str, data: dict[str, str]) -> Event:
    return Event(
        kind="message",
        rule=rule,
        at=position(line),
        stream=line.stream,
        text=line.text[:500],
        evidence=[evidence(line)],
        ranks=[line.rank] if line.rank else [],
        unit=line.unit,
        invocation=line.invocation,
        data=data,
        end=line.time,
        order=line.number,
    )
