"""systemd-coredump: a process that died of a signal, with the stack of its threads where one could be made.

The journal entry has its own MESSAGE_ID and fields (systemd-coredump(8), `sd-messages.h`); the message is
`Process 1097 (python3) of user 0 dumped core.`, and, where the core could be read, modules and stacks. As plain text
(`journalctl -o short`, a copy of a message) only the message is left, and the signal is not known.
"""

from __future__ import annotations

import re

from triage.events.native_frames import MAX_FRAMES, Frames
from triage.events.native_levels import verdict
from triage.events.native_pyspy import rank_of_title
from triage.events.native_shapes import NUMBERS
from triage.events.positions import EVIDENCE_LIMIT, TEXT_LIMIT, evidence, position
from triage.lazy import regex
from triage.model import Event, Evidence, Frame, Line

MESSAGE_ID = "fc2e22bc6ee647b6b90729ab34a250b1"
_HEAD = regex(r"Process (?P<pid>\d+) \((?P<process>[^)]{1,32})\) of user \d+ (?:dumped core|terminated abnormally)")
_FRAME = regex(r"\s*#\d+ +0x[0-9a-f]+ (?P<function>\S+) \((?P<file>[^()+]+?)(?: \+ 0x[0-9a-f]+)?\)")
_SOURCE = regex(r"\s*#\d+ +0x[0-9a-f]+ (?P<function>\S.*?) \((?P<file>\S+?):(?P<line>\d+)\)")
_THREAD = regex(r"\s*Stack trace of thread (?P<id>\d+):")
_PART = regex(r"\s*(?:Module |Found module |Stack trace |ELF object binary architecture:|#\d+ )")
_INVOCATION = regex(r"^INVOCATION_ID=([0-9a-f]{32})$", re.MULTILINE)
_MESSAGE_LINES = 400


def parse(line: Line) -> Event | None:
    """Take a line of the journal; return the core dump that its entry reports, None if it reports none.

    The entry's other physical lines give None: the event is made of its first line and of its MESSAGE field.
    """
    fields = line.fields or {}
    whole = fields.get("MESSAGE_ID") == MESSAGE_ID
    if not whole and line.ident != "systemd-coredump":
        return None
    message = line.text if "\n" in line.text else fields.get("MESSAGE", line.text)
    head = _HEAD.match(line.text)
    if head is None and not (whole and line.text and message.startswith(line.text)):
        return None
    dump = CoreText(head, line, Frames(512))
    for text in message.split("\n", _MESSAGE_LINES)[1:_MESSAGE_LINES]:
        dump.read(text)
    signal = fields.get("COREDUMP_SIGNAL_NAME") or NUMBERS.get(_number(fields.get("COREDUMP_SIGNAL")))
    event = dump.event(0)
    judged = verdict("coredump", signal or "")
    event.level, event.role, event.fatal = judged.level, judged.role, judged.fatal
    event.unit = fields.get("COREDUMP_UNIT") or fields.get("COREDUMP_USER_UNIT") or event.unit
    # The dump is written by a unit of its own; the invocation that died stands in the dead process's environment.
    found = _INVOCATION.search(fields.get("COREDUMP_ENVIRON", "")[:65_536])
    event.invocation = found[1] if found else None
    for name, field in (("pid", "COREDUMP_PID"), ("process", "COREDUMP_COMM"), ("command", "COREDUMP_CMDLINE")):
        if fields.get(field):
            event.data[name] = fields[field][:EVIDENCE_LIMIT]
    if signal:
        event.data["signal"] = signal
        event.text = f"{event.text.splitlines()[0]} (signal {signal})\n" + "\n".join(event.text.splitlines()[1:])
        event.text = event.text.rstrip()[:TEXT_LIMIT]
    rank = rank_of_title(event.data.get("command", ""))
    if rank:
        event.ranks = [rank]
    event.at.pid = _number(fields.get("COREDUMP_PID")) or event.at.pid
    return event


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 12 else 0


class CoreText:
    """The message of systemd-coredump, taken line by line."""

    def __init__(self, head: re.Match[str] | None, line: Line, frames: Frames) -> None:
        self.line = line
        self.last = line
        self.seen = 0
        self.clock = 0
        self.partial = head is None
        self._data = {name: head[name] for name in ("pid", "process")} if head else {}
        self._shared = frames
        self._frames: list[Frame] = []
        self._threads = 0
        self._heads = [line.text.partition("\n")[0][:EVIDENCE_LIMIT]]
        self._evidence: list[Evidence] = [evidence(line)]

    def take(self, line: Line) -> bool:
        """Take the next line of the stream; return whether it belongs to the message."""
        if line.record or not _PART.match(line.text):
            return False
        self.read(line.text)
        self.last = line
        return True

    def read(self, text: str) -> None:
        """Take the next line of the message; frames of the first thread, which is the one that crashed, are kept."""
        text = text[:2000]
        if _THREAD.match(text):
            self._threads += 1
        found = (_FRAME.match(text) or _SOURCE.match(text)) if self._threads == 1 else None
        if found is not None and len(self._frames) < MAX_FRAMES:
            number = int(found["line"][:9]) if "line" in found.groupdict() else None
            self._frames.append(self._shared.get(found["file"], number, found["function"]))
            if len(self._heads) < 8:
                self._heads.append(text.strip()[:EVIDENCE_LIMIT])

    def event(self, _budget: int) -> Event:
        """Return the dump as an event; the level is that of an unknown signal."""
        judged = verdict("coredump", "")
        return Event(
            kind="native",
            rule="native/coredump",
            at=position(self.line),
            stream=self.line.stream,
            text="\n".join(self._heads)[:TEXT_LIMIT],
            level=judged.level,
            role=judged.role,
            fatal=judged.fatal,
            frames=list(reversed(self._frames)),
            evidence=self._evidence,
            ranks=[self.line.rank] if self.line.rank else [],
            assembly="partial" if self.partial else "exact",
            unit=self.line.unit,
            invocation=self.line.invocation,
            data=self._data | {"thread": "crashing"},
            end=self.last.time,
            order=self.line.number,
        )
