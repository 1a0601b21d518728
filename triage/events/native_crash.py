"""One process's death as its native code printed it: terminate, signal handlers, glibc's aborts, faulthandler.

The parts come in this order, each of them optional: a signal handler's native stack; glibc's or `terminate`'s reason,
`what():`, torch's C++ frames; `Fatal Python error`, the Python stacks of all threads, the extension modules. A `Crash`
collects the parts of one process; which of several open crashes a line belongs to is for `native.py` to say.
"""

from __future__ import annotations

from triage.events.native_frames import MAX_FRAMES, Frames
from triage.events.native_levels import Verdict, names, verdict, words
from triage.events.native_shapes import NUMBERS, SIGNALS, rank_in
from triage.events.positions import EVIDENCE_LIMIT, TEXT_LIMIT, evidence, position
from triage.model import Event, Evidence, Frame, Line
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

MAX_THREADS = 40
_MAX_EVIDENCE = 12
_MAX_HEADS = 16
_FRAMES_IN_TEXT = 6


@dataclass(slots=True)
class Thread:
    """A thread of a dump with its frames, innermost first, as printed."""

    id: str
    name: str | None
    current: bool
    frames: list[Frame] = field(default_factory=list)


class Crash:
    """The parts of one process's native crash that have been seen so far.

    `seen` and `clock` count the lines of its stream and of all streams when it last took one; `address` is one of its
    own addresses.
    """

    def __init__(self, line: Line, frames: Frames) -> None:
        self.line = line
        self.rank = line.rank
        self.seen = 0
        self.clock = 0
        self.last = line
        self.address: str | None = None
        self.state = ""
        self.kinds: set[str] = set()
        self.next_c10 = 0
        self.inferred = False
        self.partial = False
        self.what: list[str] = []
        self._type: str | None = None
        self._fatal: str | None = None
        self._signal: str | None = None
        self._site: Frame | None = None
        self._native: list[Frame] = []
        self._threads: list[Thread] = []
        self._torn: tuple[str, int] | None = None
        self._heads: list[str] = []
        self._evidence: list[Evidence] = []
        self._shared = frames

    # --- which lines it can take -------------------------------------------------------------------------------------

    def takes(self, kind: str, found: re.Match[str] | None) -> bool:
        """Take a line's kind and match; return whether the grammar allows it next."""
        if kind == "what":
            return "terminate" in self.kinds and not self.what
        if kind == "raised":
            return bool(self.what) and self._site is None
        if kind == "c10":
            return (
                bool(self.kinds & {"terminate", "what"}) and found is not None and int(found["n"][:6]) >= self.next_c10
            )
        if kind == "continued":
            return self.state in ("what", "handler", "glibc", "fatal")
        if kind == "nframe":
            return self.state == "handler"
        if kind in ("at", "ucx"):
            return self.state in ("handler", "glibc")
        if kind == "binary":
            return self.state == "c-stack"
        if kind in ("pyframe", "torn"):
            return self.state == "thread"
        if kind == "torn-end":
            return self._torn is not None
        if kind == "fatal":
            # After the threads only if the head of another process's dump was taken for this one's.
            return "fatal" not in self.kinds and ("thread" not in self.kinds or "terminate" in self.kinds)
        if kind in ("thread", "c-stack"):
            return True
        if kind == "extensions":
            return "fatal" in self.kinds
        return kind in ("filler", "blank")

    # --- taking them --------------------------------------------------------------------------------------------------

    def take(self, kind: str, found: re.Match[str] | None, line: Line, text: str) -> None:
        """Take a line that belongs to this crash: its kind, its match and its text (a torn line's own part of it)."""
        self.last = line
        self.kinds.add(kind)
        if self.rank is None and line.rank is not None:
            self.rank = line.rank
        if kind in ("terminate", "fatal", "glibc", "assert", "handler", "overflow", "what", "timeout"):
            self._head(kind, found, line, text)
        elif kind in ("c10", "raised", "nframe", "at", "ucx", "binary"):
            self._native_frame(kind, found)
        elif kind == "thread" and found is not None:
            self._thread(found, line)
        elif kind in ("pyframe", "torn") and found is not None:
            self._python_frame(kind, found, line)
        elif kind == "torn-end" and self._torn is not None and self._threads:
            self._push(self._threads[-1], *self._torn, text[4:])
            self._torn = None
        elif kind == "continued" and self.state == "what" and len(self.what) < 20:
            self.what.append(text[:EVIDENCE_LIMIT])
            self._note(line, text)
        elif kind == "c-stack":
            self.state = "c-stack"

    def _head(self, kind: str, found: re.Match[str] | None, line: Line, text: str) -> None:
        if kind == "terminate" and found is not None and self._type is None and found["type"]:
            self._type = found["type"].strip()
        elif kind == "what" and found is not None:
            self.what.append(found["what"])
            self.rank = self.rank or rank_in(found["what"])
        elif kind == "fatal" and found is not None:
            self._fatal = found["what"].strip()
            self._signal = self._signal or SIGNALS.get(self._fatal)
        elif kind == "handler" and found is not None:
            groups = found.groupdict() if found.re.groups else {}
            number = groups.get("number")
            named = groups.get("signal") or (NUMBERS.get(int(number[:3])) if number else None)
            self._signal = self._signal or named or ("SIGSEGV" if "egfault" in text else None)
        if not (kind == "terminate" and self.state == "what"):
            self._enter(kind)
        self._note(line, text)

    def _enter(self, state: str) -> None:
        # Parts of another process's crash that were taken for this one's do not end an open thread.
        if self.state != "thread":
            self.state = state

    def _note(self, line: Line, text: str) -> None:
        if len(self._heads) < _MAX_HEADS:
            self._heads.append(text[:EVIDENCE_LIMIT])
        if len(self._evidence) < _MAX_EVIDENCE:
            self._evidence.append(Evidence(position(line), text[:EVIDENCE_LIMIT]))

    def _native_frame(self, kind: str, found: re.Match[str] | None) -> None:
        if found is None:
            return
        groups = found.groupdict()
        if kind == "raised":
            self._site = self._shared.get(groups["file"], int(groups["line"][:9]), groups["function"])
            self._enter("raised")
            return
        if kind == "c10":
            self.next_c10 = int(groups["n"][:6]) + 1
            self._enter("c10")
        if groups.get("address"):
            self.address = self.address or groups["address"]
        if len(self._native) < MAX_FRAMES:
            function = groups.get("function") or groups.get("symbol") or "<unknown function>"
            self._native.append(self._shared.get(groups.get("file") or "<unknown>", None, function.strip()))

    def _thread(self, found: re.Match[str], line: Line) -> None:
        self.address = self.address or found["id"]
        current = found["current"].startswith("Current")
        if len(self._threads) < MAX_THREADS:
            self._threads.append(Thread(found["id"], found["name"], current))
            if current and len(self._evidence) < _MAX_EVIDENCE:
                self._evidence.append(evidence(line))
            self.state = "thread"
        elif current:
            self._threads[-1] = Thread(found["id"], found["name"], current)
            self.state = "thread"
        else:
            self.state = "more-threads"

    def _python_frame(self, kind: str, found: re.Match[str], line: Line) -> None:
        if not self._threads:
            return
        thread = self._threads[-1]
        number = int(found["line"][:9]) if found["line"].isdigit() else -1
        if kind == "torn":
            self._torn = (found["file"], number)
            return
        self._push(thread, found["file"], number, found["function"])
        if thread.current and len(thread.frames) <= 3 and len(self._evidence) < _MAX_EVIDENCE:
            self._evidence.append(evidence(line))

    def _push(self, thread: Thread, file: str, number: int, function: str) -> None:
        if len(thread.frames) < MAX_FRAMES:
            thread.frames.append(self._shared.get(file, number if number >= 0 else None, function.strip()))

    # --- what it was --------------------------------------------------------------------------------------------------

    def event(self, dump_budget: int) -> Event:
        """Return the crash as an event. `dump_budget` is how many characters of other threads' stacks it may carry."""
        rule, judged = self._judge()
        chosen, thread = self._crashing()
        frames = list(reversed(chosen.frames)) if chosen is not None else []
        if chosen is None or chosen.current:
            frames += reversed(self._native)
            if self._site is not None:
                frames.append(self._site)
        data = {"thread": thread} if thread else {}
        if chosen is not None and chosen.name:
            data["thread_name"] = chosen.name
        signal = self._signal or ("SIGABRT" if self.kinds & {"terminate", "glibc", "assert", "overflow"} else None)
        what = "\n".join(self.what).strip() or self._fatal
        library = self._library()
        for name, value in (("signal", signal), ("type", self._type), ("what", what), ("library", library)):
            if value:
                data[name] = value[:TEXT_LIMIT]
        dump = self._dump(chosen, dump_budget)
        if dump:
            data["threads"] = dump
        at = position(self.line)
        at.rank = at.rank or self.rank
        return Event(
            kind="native",
            rule=rule,
            at=at,
            stream=self.line.stream,
            text=self._text(chosen),
            level=judged.level,
            role=judged.role,
            fatal=judged.fatal,
            frames=frames[-MAX_FRAMES:],
            evidence=self._evidence,
            ranks=[self.rank] if self.rank else [],
            assembly="partial" if self.partial else "inferred" if self.inferred else "exact",
            unit=self.line.unit,
            invocation=self.line.invocation,
            data=data,
            end=self.last.time,
            order=self.line.number,
        )

    def _judge(self) -> tuple[str, Verdict]:
        """The strongest of what its parts say; the rule names the part that says most."""
        if "terminate" in self.kinds or "what" in self.kinds:
            return "native/terminate", verdict("terminate", "\n".join([*self._heads[:1], *self.what]))
        if "glibc" in self.kinds:
            return "native/glibc-abort", verdict("glibc-abort", self._heads[0])
        if "assert" in self.kinds:
            return "native/assert", verdict("assert", self._heads[0])
        if "overflow" in self.kinds:
            return "native/rust-panic", verdict("rust-panic", self._heads[0])
        if self._fatal is not None:
            return "native/faulthandler", verdict("faulthandler", self._fatal)
        if "handler" in self.kinds:
            return "native/signal-handler", verdict("signal-handler", "\n".join(self._heads))
        return "native/faulthandler", verdict("dump", "")

    def _crashing(self) -> tuple[Thread | None, str | None]:
        """The thread that crashed, as far as anything says: `Current thread`, else the native stack, else a guess."""
        for thread in self._threads:
            if thread.current:
                return thread, "crashing"
        if self._native:
            return None, "crashing"
        # No thread held the interpreter, so faulthandler could not name one: prefer a thread that does something.
        busy = next((t for t in self._threads if t.frames and not _idle(t)), None)
        chosen = busy or next((t for t in self._threads if t.frames), None)
        return chosen, "any" if self._threads else None

    def _library(self) -> str | None:
        """Whose code it was: the exception's namespace, else the innermost frame's namespace or shared object."""
        generic = names("generic_libraries")
        candidates = [self._type or ""] + [name for frame in self._native for name in (frame.function, frame.file)]
        for name in candidates:
            space = name.lstrip().split("<")[0].split("(")[0]
            if "::" in space:
                space = space.split("::")[0].split()[-1] if space.split("::")[0].split() else ""
            elif ".so" in name:
                space = name.rpartition("/")[2].split(".so")[0]
            else:
                continue
            if space and space not in generic:
                return space[:80]
        return None

    def _text(self, chosen: Thread | None) -> str:
        """The decisive lines: what was said, then the innermost frames."""
        lines = list(self._heads)
        python = chosen.frames if chosen is not None else []
        lines += [f"  {frame.function}{_place(frame)}" for frame in self._native[:_FRAMES_IN_TEXT]]
        lines += [f'  File "{frame.file}", line {frame.line} in {frame.function}' for frame in python[:_FRAMES_IN_TEXT]]
        return "\n".join(lines)[:TEXT_LIMIT]

    def _dump(self, chosen: Thread | None, budget: int) -> str:
        """The other threads as text: a head each, then `file:function` from the innermost frame on."""
        lines: list[str] = []
        size = 0
        for thread in self._threads:
            if thread is chosen:
                continue
            block = [f"thread {thread.name or thread.id}"]
            block += [f"{frame.file}:{frame.function}" for frame in thread.frames]
            size += sum(len(part) + 1 for part in block)
            if size > budget:
                break
            lines += block
        return "\n".join(lines)


def _place(frame: Frame) -> str:
    return "" if frame.file == "<unknown>" else f" ({frame.file})"


def _idle(thread: Thread) -> bool:
    frame = thread.frames[0]
    return any(f"{frame.file}:{frame.function}".endswith(place) for place in words("idle"))
