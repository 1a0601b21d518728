"""Frames of a signature against the frames of a stack: in call order, gaps allowed."""

from __future__ import annotations

from fnmatch import fnmatchcase

from triage.library.globs import path_fits
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.library.signature import FramePattern
    from triage.model import Frame


def fits(pattern: FramePattern, frame: Frame) -> bool:
    """Say whether a frame is the one that a pattern names: its path ends so, its function is called so."""
    return _function_fits(pattern.function, frame.function) and path_fits(pattern.path, frame.file)


def found(patterns: Sequence[FramePattern], frames: Sequence[Frame]) -> list[bool]:
    """Return for each pattern whether it was found behind those before it; a pattern that is missing is passed over."""
    hits = []
    at = 0
    for pattern in patterns:
        place = next((number for number in range(at, len(frames)) if fits(pattern, frames[number])), None)
        hits.append(place is not None)
        at = at if place is None else place + 1
    return hits


def similar(pattern: FramePattern, frames: Sequence[Frame]) -> tuple[float, str]:
    """Return how like the pattern the nearest other frame is, 0 to 100, and that frame as `path:function`.

    A frame that fits, but not in this order, is not near.
    """
    depth = pattern.path.count("/") + 1
    others = [frame for frame in frames if not fits(pattern, frame)]
    names = {f"{'/'.join(frame.file.split('/')[-depth:])}:{frame.function}" for frame in others}
    method = f"{pattern.path}:{pattern.function.rpartition('.')[2]}"
    return max(((likeness(method, name), name) for name in sorted(names)), default=(0.0, ""))


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are, 0 to 100: `rapidfuzz.fuzz.ratio`, which takes longer to load than this to answer.

    Twice the length of the longest common subsequence, found bit by bit (Hyyrö 2004), over the length of both.
    """
    places: dict[str, int] = {}
    for place, char in enumerate(one):
        places[char] = places.get(char, 0) | 1 << place
    left = whole = (1 << len(one)) - 1
    for char in other:
        there = left & places.get(char, 0)
        left = ((left + there) | (left - there)) & whole
    common = len(one) - left.bit_count()
    return 200.0 * common / (len(one) + len(other)) if one or other else 100.0


def _function_fits(pattern: str, function: str) -> bool:
    """Tracebacks name a method without its class up to Python 3.10 and after; py-spy and dumps may add it."""
    if "." in pattern and "." not in function:
        pattern = pattern.rpartition(".")[2]
    elif "." in function and "." not in pattern:
        function = function.rpartition(".")[2]
    elif "." in pattern and not fnmatchcase(function, pattern):
        return fnmatchcase(function, f"*.{pattern}")
    return function == pattern if "*" not in pattern else fnmatchcase(function, pattern)
