"""What native code, systemd and the kernel say, and a rank that says nothing."""

from __future__ import annotations

from fnmatch import fnmatchcase

from triage.library import worth
from triage.matching.result import Result, best, every, leaf
from triage.matching.subject import fold
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.library.signature import Kernel, Native, Silence, Unit
    from triage.matching.context import Context
    from triage.matching.subject import Subject

# A process's name in the kernel is cut to 15 characters (TASK_COMM_LEN in linux/sched.h).
_COMM = 15
_FALSE = Result(False, asked=1)


def native(wanted: Native, subject: Subject) -> Result:
    """Hold a failure in native code against what a signature asks of it."""
    failure = subject.failure
    if failure.kind not in ("native", "exit", "exception"):
        return _FALSE
    parts = []
    if wanted.signal:
        there = failure.data.get("signal")
        state = None if there is None else any(same_signal(one, there) for one in wanted.signal)
        parts.append(
            leaf(state if failure.kind != "exception" else bool(state), f"signal {_or(wanted.signal)}", worth.SIGNAL)
        )
    if wanted.message is not None:
        parts.append(leaf(fold(wanted.message) in subject.text, f'text "{fold(wanted.message)}"', worth.NATIVE_TEXT))
    for names, called, score in ((wanted.symbol, "symbol", worth.SYMBOL), (wanted.library, "library", worth.LIBRARY)):
        if names:
            parts.append(best([_on_stack(name, called, score, wanted, subject) for name in names]))
    return every(parts)


def _on_stack(name: str, called: str, score: float, wanted: Native, subject: Subject) -> Result:
    failure = subject.failure
    phrase = f"{called} {name}"
    for frame in failure.frames:
        if called == "symbol" and (name in frame.function or fnmatchcase(frame.function, name)):
            return leaf(True, phrase, score)
        if called == "library" and _library_fits(name, frame.file):
            return leaf(True, phrase, score)
    if called == "library" and _library_fits(name, failure.data.get("library", "")):
        return leaf(True, phrase, score)
    if (wanted.thread == "any" or not failure.frames) and name in subject.text:
        return leaf(True, phrase, score)
    return leaf(False if failure.frames and not subject.partial else None, phrase, score)


def _library_fits(pattern: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    return bool(name) and (name == pattern or name.startswith(f"{pattern}.") or fnmatchcase(name, pattern))


def unit(wanted: Unit, subject: Subject, context: Context) -> Result:
    """Hold the end of a unit against what a signature asks; what one line does not say, others of the unit may."""
    failure = subject.failure
    if failure.kind not in ("unit", "exit"):
        return _FALSE
    known = {**context.units, **failure.data}
    parts = []
    for called, names, values in (
        ("result", wanted.result, [known.get("result")]),
        ("exit status", wanted.exit_status, [known.get("exit"), known.get("status")]),
        ("signal", wanted.signal, [known.get("signal")]),
        ("failed step", wanted.step, [known.get("step")]),
    ):
        if not names:
            continue
        there = [value for value in values if value]
        hit = any(_status_fits(called, name, value) for name in names for value in there)
        score = worth.UNIT_STATUS if called in ("exit status", "failed step") else worth.UNIT_RESULT
        parts.append(leaf(hit, f"{called} {_or(names)}", score))
    return every(parts)


def _status_fits(called: str, wanted: str, there: str) -> bool:
    if called == "signal":
        return same_signal(wanted, there)
    if called == "exit status":
        return wanted == there or wanted in there.split("/") or there in wanted.split("/")
    return fnmatchcase(there.lower(), wanted.lower())


def kernel(wanted: Kernel, subject: Subject) -> Result:
    """Hold a line of the kernel against what a signature asks of it."""
    failure = subject.failure
    if failure.kind != "kernel":
        return _FALSE
    data = failure.data
    parts = []
    if wanted.oom is not None:
        there = data.get("oom")
        hit = (there is not None) if wanted.oom is True else there is not None and there == wanted.oom
        parts.append(leaf(hit, "OOM kill" if wanted.oom is True else f"OOM kill ({wanted.oom})", worth.KERNEL))
    if wanted.xid:
        there = data.get("xid", "")
        parts.append(leaf(there in map(str, wanted.xid), f"Xid {_or(map(str, wanted.xid))}", worth.KERNEL))
    if wanted.segfault is not None:
        hit = "segfault" in data and (wanted.segfault is True or str(wanted.segfault) in subject.text)
        said = "" if wanted.segfault is True else f" in {wanted.segfault}"
        parts.append(leaf(hit, f"segfault{said}", worth.SEGFAULT_IN if said else worth.KERNEL))
    if wanted.process is not None:
        there = data.get("process")
        state = None if there is None else _process_fits(wanted.process, there)
        parts.append(leaf(state, f"process {wanted.process}", worth.PROCESS))
    return every(parts)


def _process_fits(pattern: str, name: str) -> bool:
    if fnmatchcase(name, pattern):
        return True
    plain = pattern.rstrip("*")
    return len(name) >= _COMM and "*" not in plain and plain[:_COMM] == name[:_COMM]


def silence(wanted: Silence, subject: Subject) -> Result:
    """Hold a silent rank against the phases that a signature names."""
    if subject.failure.kind != "silence":
        return _FALSE
    if not wanted.phase:
        return leaf(True, "a silent rank", worth.SILENCE)
    there = subject.failure.data.get("phase")
    state = None if there is None else there in wanted.phase
    return leaf(state, f"a rank silent in phase {_or(wanted.phase)}", worth.SILENCE_IN_PHASE, counts=2)


def same_signal(one: str, other: str) -> bool:
    """Say whether two spellings (`SIGSEGV`, `SEGV`, `11`) mean one signal."""
    return _signal(one) == _signal(other)


def _signal(text: str) -> str:
    text = text.strip().upper().lstrip("-")
    if text.isdecimal():
        import signal as signals

        try:
            return signals.Signals(int(text)).name
        except ValueError:
            return text
    return text if text.startswith("SIG") else f"SIG{text}"


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)
