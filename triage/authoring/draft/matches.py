"""From a failure to the `match` of a signature: by its kind, only what another run would show too."""

from __future__ import annotations

import re

from triage.authoring.draft.texts import Stable, stable
from triage.data import knowledge
from triage.lazy import regex
from triage.report.names import engine_file, short_file
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import Failure, Frame

Record = dict[str, Any]

_FRAMES = 3
# The rule of a root that is the last line of a process that nobody knew (`triage.causes.words`).
_LAST_WORDS = "fallback/last-words"
_FRAME = regex(r"[^\s:]+:[^\s:]+")
_SYMBOL = regex(r"[A-Za-z_~][\w:~<>,*& ]{2,120}")
_STANDARD = regex(r"/lib/python3[\w.]*/(?!site-packages/|dist-packages/)|^<")


def match_of(failure: Failure) -> tuple[Record, Stable]:
    """Take a root failure; return the match of a signature for it, and what of its message is stable."""
    if failure.exception is not None:
        said = stable(failure.exception.message)
        return _exception(failure.exception.type, failure.exception.frames, said), said
    by_kind = {"native": _native, "unit": _unit, "exit": _unit, "kernel": _kernel, "silence": _silence}
    if failure.rule == _LAST_WORDS:
        # Nobody knows this line yet: a `log` match has it looked for.
        said = stable(failure.text, "line", "line_re")
        return ({"log": {said.key: said.value}} if said.key else {}), said
    said = stable(failure.text)
    record = by_kind[failure.kind](failure) if failure.kind in by_kind else {}
    record = record or ({said.key: said.value} if said.key else {})
    return record, said if said.key in record else Stable(title=re.sub(r"\{\w+\}", "..", said.title))


def own_frames(frames: Sequence[Frame]) -> list[Frame]:
    """Take a stack; return one to three frames that tell where it failed, in call order.

    Those of the engine: the innermost, and who called there from other files. Frames through which everything goes are
    passed over. Without one of the engine it is the innermost of any library.
    """
    passages = set(knowledge("deciding")["passages"])
    own = [frame for frame in frames if engine_file(frame.file)]
    telling = [frame for frame in own if frame.function.rpartition(".")[2] not in passages] or own[-1:]
    if not telling:
        others = [frame for frame in frames if not _STANDARD.search(frame.file)]
        return others[-1:]
    chosen: list[Frame] = []
    for frame in reversed(telling):
        if all(frame.file != other.file for other in chosen):
            chosen.append(frame)
        if len(chosen) == _FRAMES:
            break
    return chosen[::-1]


def _exception(type_: str, frames: Sequence[Frame], said: Stable) -> Record:
    record: Record = {"exception": type_.rpartition(".")[2]}
    if said.key:
        record[said.key] = said.value
    texts = [f"{_suffix(frame.file)}:{frame.function.rpartition('.')[2]}" for frame in own_frames(frames)]
    if kept := [text for text in texts if _FRAME.fullmatch(text) and len(text) <= 300]:
        record["frames"] = kept
    return record


def _suffix(file: str) -> str:
    """Return the part of a frame's path that is the same on every machine."""
    short = short_file(file)
    return "/".join(short.split("/")[-2:]) if short.startswith(("/", "~", ".")) else short


def _native(failure: Failure) -> Record:
    native: Record = {}
    if signal := failure.data.get("signal"):
        native["signal"] = signal
    for frame in reversed(failure.frames):
        if _SYMBOL.fullmatch(frame.function) and not frame.function.startswith(
            ("<", "__libc", "raise", "abort", "gsignal")
        ):
            native["symbol"] = frame.function.partition("(")[0].partition("<")[0].strip()
            break
    said = stable(failure.text)
    record: Record = {"native": native} if native else {}
    if "symbol" not in native and said.key:
        record[said.key] = said.value
    return record


def _unit(failure: Failure) -> Record:
    names = {"result": "result", "exit": "exit_status", "signal": "signal", "step": "step"}
    unit: Record = {key: failure.data[name] for name, key in names.items() if failure.data.get(name)}
    if "exit_status" in unit and not re.fullmatch(r"\d{1,3}", unit["exit_status"]):
        del unit["exit_status"]
    return {"unit": unit} if unit else {}


def _kernel(failure: Failure) -> Record:
    data = failure.data
    if "oom" in data:
        return {"kernel": {"oom": data["oom"] if data["oom"] in ("global", "memcg") else True}}
    if data.get("xid", "").isdecimal():
        return {"kernel": {"xid": int(data["xid"])}}
    return {"kernel": {"segfault": data.get("library") or True}} if "segfault" in data else {}


def _silence(failure: Failure) -> Record:
    return {"silence": {"phase": failure.data["phase"]} if failure.data.get("phase") else {}}
