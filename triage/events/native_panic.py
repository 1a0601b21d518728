"""A Rust panic: where, with which message, and its backtrace if one was printed (`std::panicking`).

Since Rust 1.73 the message follows on its own line, before it stood in the head: `panicked at 'text', src/x.rs:1:2`.
"""

from __future__ import annotations

import re

from triage.events.native_frames import MAX_FRAMES, Frames
from triage.events.native_levels import verdict
from triage.events.positions import EVIDENCE_LIMIT, TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Evidence, Frame, Line

_OLD = regex(r"'(?P<message>.*)', (?P<file>[^',]+):(?P<line>\d+):\d+:?$", re.DOTALL)
_NEW = regex(r"(?P<file>.+?):(?P<line>\d+):\d+:?$")
_MORE = regex(r"(?:\s+\S|[}\])]|note: |stack backtrace:|fatal runtime error: )")
_SYMBOL = regex(r"\s*\d+: (?:0x[0-9a-f]+ - )?(?P<function>\S.*)")
_AT = regex(r"\s+at (?P<file>\S+?):(?P<line>\d+)(?::\d+)?$")
_MAX_MESSAGE = 20


class Panic:
    """The panic of one thread, taken line by line."""

    def __init__(self, found: re.Match[str], line: Line, frames: Frames) -> None:
        self.line = line
        self.last = line
        self.seen = 0
        self.clock = 0
        self.partial = False
        self._shared = frames
        self._thread = found["thread"]
        where = found.groupdict().get("where") or ""
        old = _OLD.match(where[:2000])
        place = old or _NEW.match(where[:1000])
        self._site = frames.get(place["file"], int(place["line"][:9]), "") if place else None
        self._message: list[str] = [old["message"]] if old else []
        self._awaits = old is None and place is not None
        self._stack: list[Frame] = []
        self._in_stack = False
        self._told = False
        self._heads = [line.text[:EVIDENCE_LIMIT]]
        self._evidence: list[Evidence] = [evidence(line)]

    def take(self, line: Line) -> bool:
        """Take the next line of the stream; return whether it belongs to the panic."""
        text = line.text
        if self._in_stack:
            return self._backtrace(text)
        if line.record or self._told or text.startswith('  File "'):
            return False
        if self._awaits and text.strip():
            self._awaits = False
            self._say(line)
            return True
        if text.startswith("stack backtrace:"):
            self._in_stack = True
            return True
        if not self._awaits and text and _MORE.match(text):
            if not text.startswith("note: ") and len(self._message) < _MAX_MESSAGE:
                self._say(line)
            self.last = line
            # The hint about RUST_BACKTRACE is the last line of a panic without one.
            self._told = text.startswith("note: ")
            return True
        return False

    def _say(self, line: Line) -> None:
        self.last = line
        self._message.append(line.text[:EVIDENCE_LIMIT])
        self._heads.append(line.text[:EVIDENCE_LIMIT])
        if len(self._evidence) < 6:
            self._evidence.append(evidence(line))

    def _backtrace(self, text: str) -> bool:
        text = text[:2000]
        at = _AT.match(text)
        if at is not None:
            if self._stack:
                function = self._stack[-1].function
                self._stack[-1] = self._shared.get(at["file"], int(at["line"][:9]), function)
            return True
        symbol = _SYMBOL.match(text)
        if symbol is not None:
            if len(self._stack) < MAX_FRAMES:
                self._stack.append(self._shared.get("<unknown>", None, symbol["function"]))
            return True
        return text.startswith("note: ")

    def event(self, _budget: int) -> Event:
        """Return the panic as an event; frames are outermost first, the place of the panic is the last."""
        message = "\n".join(self._message)
        judged = verdict("rust-panic", "\n".join(self._heads))
        frames = list(reversed(self._stack)) + ([self._site] if self._site else [])
        data = {"thread": self._thread[:80]}
        if message:
            data["what"] = message[:TEXT_LIMIT]
        # A panic of the main thread ends the process (status 101); any other only its own thread.
        return Event(
            kind="native",
            rule="native/rust-panic",
            at=position(self.line),
            stream=self.line.stream,
            text="\n".join(self._heads)[:TEXT_LIMIT],
            level=judged.level,
            role=judged.role,
            fatal=judged.fatal or self._thread == "main",
            frames=frames[-MAX_FRAMES:],
            evidence=self._evidence,
            ranks=[self.line.rank] if self.line.rank else [],
            assembly="partial" if self.partial or self._awaits else "exact",
            unit=self.line.unit,
            invocation=self.line.invocation,
            data=data,
            end=self.last.time,
            order=self.line.number,
        )
