"""Which releases of SGLang a traceback can come from: SGLang never logs its version, but its frames say it.

A frame names a file, a function and a line. A release agrees with it where that line of the function calls something;
where the next frame is of SGLang too, releases whose line calls just that count before those whose line does not.
"""

from __future__ import annotations

import math
from bisect import bisect_left

from triage.lazy import regex
from triage.records import FrozenRecord, Record, dataclass
from triage.releases.table import MODULE, Table, canonical, length, module, table
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from triage.model import Frame
    from triage.releases.table import Source

COVERED = regex(r"sglang/(?:(?:srt|cli)/.+|[^/]+)\.py")
"""The files that the table has, below the package's parent."""
_WHEEL = regex(r"(?:.*/)?(?:site|dist)-packages/sglang/")
# Frames that a log can make triage compare at most, and how long a path may be.
_MOST = 200
_LONGEST = 1000
# How surely the frames must not agree by chance: a line picked at random from each function would with probability
# 2**-bits. Call chains of real releases with lines moved at random claimed a release in 1 of 100 trials at 5 bits, in 1
# of 1,500 at 9, which most chains of four frames reach.
_ENOUGH_BITS = 9.0


@dataclass(slots=True)
class ReleaseReading(Record):
    """The releases that every frame agrees with, oldest first; none where none is claimed, and `reason` says why.

    `frames_used` counts the different frames of SGLang's own code. `probable` says that the files are no installed
    package but a source checkout, which may differ from the release that it resembles.
    """

    candidates: list[str]
    frames_used: int
    reason: str
    probable: bool = False


@dataclass(frozen=True, slots=True)
class _Call(FrozenRecord):
    """A frame as it is compared; `called` is what the next frame is known by, '' where that is not SGLang's."""

    path: str
    line: int
    function: str
    called: str
    inner: bool


class _Fit:
    """How releases agree with a call: the line calls what comes next, or something, or is only inside the function.

    `bodies` has for each release how well the line agrees (1 to 3), and the function's body.
    """

    def __init__(self) -> None:
        self.named: set[int] = set()
        self.active: set[int] = set()
        self.inside: set[int] = set()
        self.bodies: dict[int, tuple[int, str]] = {}


def releases_of(frames: Sequence[Frame], *more: Sequence[Frame], known: Table | None = None) -> ReleaseReading:
    """Take the stacks of one service, each outermost frame first; return the releases that all frames agree with.

    `known` is another table than the one that ships with triage.
    """
    found = known or table()
    stacks = [frames, *more]
    calls = list(dict.fromkeys(call for stack in stacks for call in _calls(stack)))[:_MOST]
    probable = any(_is_checkout(frame.file) for stack in stacks for frame in stack)
    if not calls:
        return ReleaseReading([], 0, "no frame of SGLang's own code")
    if found is None:
        return ReleaseReading([], len(calls), "the table of releases is missing", probable)
    sources: dict[str, Source | None] = {path: found.source(path) for path in {call.path for call in calls}}
    pairs: list[tuple[_Call, _Fit]] = []
    left = set(range(len(found.releases)))
    for call in calls:
        fit = _fit(call, sources[call.path], left)
        pairs.append((call, fit))
        left &= fit.inside if call.inner else fit.active
        if not left:
            where = f"{call.path}:{call.line} in {call.function}"
            return ReleaseReading([], len(calls), f"no release has all of these frames, {where} among them", probable)
    left = _most(left, [*(fit.named for _, fit in pairs), *(fit.active for call, fit in pairs if call.inner)])
    if sum(_bits(call, sources[call.path], *fit.bodies[min(left)]) for call, fit in pairs) < _ENOUGH_BITS:
        return ReleaseReading([], len(calls), "too few frames to tell the release", probable)
    return ReleaseReading(found.sorted(left), len(calls), f"{len(calls)} frames agree", probable)


def called_on(path: str, line: int, function: str) -> frozenset[str]:
    """Take a source file as `own_file` returns it, a line and the function that it stands in; return what any release
    calls there, by the names that frames of what is called have. Empty where no release has a call there.
    """
    found = table()
    source = found.source(path) if found is not None else None
    names: set[str] = set()
    if source is None:
        return frozenset()
    # Most versions of a file differ elsewhere.
    for first, body in {(first, body) for _, first, body in source.scopes(function)}:
        if first <= line < first + length(body):
            lines, numbers = source.calls(body)
            at = bisect_left(lines, line - first)
            if at < len(lines) and lines[at] == line - first:
                names |= source.names_of(numbers.split(" ")[at])
    return frozenset(names)


def own_file(path: str) -> str | None:
    """Take a frame's file; return it below the package's parent (`sglang/srt/utils.py`), None if it is not covered."""
    if len(path) > _LONGEST:
        return None
    at = len(path)
    while (at := path.rfind("sglang/", 0, at)) >= 0:
        if at == 0 or path[at - 1] == "/":
            return path[at:] if COVERED.fullmatch(path, at) else None
    return None


def _is_checkout(path: str) -> bool:
    own = own_file(path)
    return own is not None and own != path and not _WHEEL.match(path)


def _calls(stack: Sequence[Frame]) -> Iterator[_Call]:
    for index, frame in enumerate(stack):
        path = own_file(frame.file)
        function = frame.function.rpartition(".")[2]
        if path is None or frame.line is None or (function.startswith("<") and function != MODULE):
            continue
        after = stack[index + 1] if index + 1 < len(stack) else None
        yield _Call(path, frame.line, function, _called(after) if after else "", after is None)


def _called(frame: Frame) -> str:
    own = own_file(frame.file)
    if own is None:
        return ""
    function = frame.function.rpartition(".")[2]
    return module(own) if function == MODULE else canonical(function)


def _fit(call: _Call, source: Source | None, left: set[int]) -> _Fit:
    """Return which of the releases that are left agree with a call, and how."""
    fit = _Fit()
    if source is None:
        return fit
    levels: dict[int, tuple[int, str]] = {}
    seen: dict[tuple[str, int], int] = {}
    there = {version: found for version, releases in source.held.items() if (found := releases & left)}
    for version, first, body in source.scopes(call.function):
        if version not in there or not first <= call.line < first + length(body):
            continue
        key = (body, call.line - first)
        if key not in seen:
            seen[key] = _level(source, *key, call.called)
        levels[version] = max(levels.get(version, (0, "")), (seen[key], body))
    for version, (level, body) in levels.items():
        releases = there[version]
        fit.inside |= releases
        fit.active |= releases if level >= 2 else set()
        fit.named |= releases if level >= 3 else set()
        fit.bodies.update(dict.fromkeys(releases, (level, body)))
    return fit


def _level(source: Source, body: str, line: int, called: str) -> int:
    """Return how a line agrees: 3 if it calls what comes next, 2 if it calls anything, 1 if it does not."""
    lines, numbers = source.calls(body)
    at = bisect_left(lines, line)
    if at == len(lines) or lines[at] != line:
        return 1
    return 3 if called and called in source.names_of(numbers.split(" ")[at]) else 2


def _bits(call: _Call, source: Source | None, level: int, body: str) -> float:
    """Return how telling it is that a line agrees: the fewer lines of its function would, the more."""
    if source is None or level < 2:
        return 0.0
    lines = source.calls(body)[1].split(" ")
    if level == 3:
        lines = [numbers for numbers in lines if call.called in source.names_of(numbers)]
    return max(0.0, math.log2(length(body) / len(lines)))


def _most(left: set[int], groups: Iterable[set[int]]) -> set[int]:
    """Return those of `left` that are in most of the groups."""
    counts = dict.fromkeys(left, 0)
    for group in groups:
        for release in group & left:
            counts[release] += 1
    best = max(counts.values())
    return {release for release, count in counts.items() if count == best}
