"""Ranks, frames and commands in the short form in which people say, read and copy them."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.report.text import one_line, visible
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from triage.model import Frame

_LABELS = regex(r"[A-Za-z_]{1,16}\d{1,6}(?: [A-Za-z_]{1,16}\d{1,6}){0,7}")
_LABEL = regex(r"([A-Za-z_]+)(\d+)")
_SAFE = regex(r"[\w@%+=:,./-]+", re.ASCII)
# Where the names of a package begin; what stands before depends on the machine.
_HOMES = ("/site-packages/", "/dist-packages/")
_PYTHON = regex(r"^.*/python3(?:\.\d+)?/")
# SGLang's modules are known by their path below `srt`; a source checkout has no site-packages before it.
_ENGINES = ("sglang/srt/", "sglang/", "vllm/", "sgl_kernel/", "sglang_router/")


def ranks(labels: Sequence[str], limit: int = 6) -> str:
    """Take rank labels in any order; return them folded: `PP2-PP7`, `PP3 TP0-TP7`, `TP0, TP3`.

    Equal names of dimensions are folded together; a label of another form stays as it is. After `limit` items the rest
    is counted.
    """
    groups: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    others: list[str] = []
    for label in dict.fromkeys(labels):
        if _LABELS.fullmatch(label):
            parts = _LABEL.findall(label)
            groups.setdefault(tuple(name for name, _ in parts), set()).add(tuple(int(n) for _, n in parts))
        elif label:
            others.append(one_line(label)[:40])
    items = [item for names, numbers in groups.items() for item in _folded(names, numbers)] + others
    more = len(items) - limit
    return ", ".join(items[:limit]) + (f" and {more} more" if more > 0 else "")


def _folded(names: tuple[str, ...], numbers: set[tuple[int, ...]]) -> list[str]:
    axes = [sorted(set(axis)) for axis in zip(*numbers, strict=True)]
    product = 1
    for axis in axes:
        product *= len(axis)
    spans = [_spans(name, axis) for name, axis in zip(names, axes, strict=True)]
    if len(axes) == 1:
        return spans[0]
    if product == len(numbers) and all(len(found) == 1 for found in spans):
        return [" ".join(found[0] for found in spans)]
    rows: dict[tuple[int, ...], list[int]] = {}
    for number in sorted(numbers):
        rows.setdefault(number[:-1], []).append(number[-1])
    return [
        " ".join([*(f"{name}{n}" for name, n in zip(names, head, strict=False)), found])
        for head, last in rows.items()
        for found in _spans(names[-1], last)
    ]


def _spans(name: str, numbers: Sequence[int]) -> list[str]:
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [f"{name}{a}" if a == b else f"{name}{a}-{name}{b}" for a, b in found]


def engine_file(file: str) -> bool:
    """Take a frame's file; return whether it belongs to the inference engine itself."""
    return any(f"/{home}" in f"/{file}" for home in _ENGINES)


def short_file(file: str) -> str:
    """Take a frame's file; return it below its package's home: `layers/attention/triton_backend.py`."""
    for home in _HOMES:
        file = file.rpartition(home)[2]
    for home in _ENGINES[:3]:
        at = f"/{file}".rfind(f"/{home}")
        if at >= 0:
            return file[at + (len(home) if home == "sglang/srt/" else 0) :]
    return _PYTHON.sub("", file) if len(file) < 4096 else file


def frame(found: Frame) -> str:
    """Take a frame; return `layers/attention/triton_backend.py:102 __init__`."""
    line = f":{found.line}" if found.line is not None else ""
    return one_line(f"{short_file(found.file)}{line} {found.function}")


def places(frames: Sequence[Frame]) -> list[Frame]:
    """Take a stack, outermost frame first; return where it raised and who called there, innermost first.

    That is the innermost frame, the innermost one in the engine's own code and the next one of the engine outside of
    that file, without repetition.
    """
    chosen = list(frames[-1:])
    own = [found for found in reversed(frames) if engine_file(found.file)]
    if own and own[0] is not chosen[0]:
        chosen.append(own[0])
    caller = next((found for found in own if found.file != own[0].file), None)
    if caller is not None:
        chosen.append(caller)
    return chosen


def command(arguments: Iterable[str]) -> str:
    """Take an argument list; return one line for a POSIX shell (bash where an argument holds invisible characters)."""
    return " ".join(map(_quoted, arguments))


def _quoted(argument: str) -> str:
    if _SAFE.fullmatch(argument):
        return argument
    if "\n" not in argument and visible(argument) == argument:
        return "'" + argument.replace("'", "'\"'\"'") + "'"
    return "$'" + "".join(map(_escaped, argument)) + "'"


def _escaped(char: str) -> str:
    if char in "\\'":
        return f"\\{char}"
    if char.isascii() and char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# How triage knows a release that no line and no package said.
_SAID_BY = {"traceback": " (read off the traceback)", "checkout": " (read off the traceback of a source checkout)"}


def release(facts: Mapping[str, object], engine: str) -> str:
    """Take a run's facts; return the engine's release: `0.5.9`, `0.5.4 to 0.5.6.post2 (read off the traceback)`,
    `probably 0.5.9 (...)`, `(release unknown)`.
    """
    from triage.library.releases import in_words

    by = _SAID_BY.get(str(facts.get(f"{engine}_from")), "")
    if facts.get(engine) is not None:
        return f"{facts[engine]}{by}"
    probably = facts.get(f"{engine}_probably")
    found = probably or facts.get(f"{engine}_candidates")
    if not found:
        return "(release unknown)"
    return f"{'probably ' if probably else ''}{in_words(found)}{by}"
