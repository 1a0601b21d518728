"""Frames of a signature against the frames of a stack: in call order, gaps allowed."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from triage.library.globs import path_fits

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
    from rapidfuzz import fuzz

    depth = pattern.path.count("/") + 1
    others = [frame for frame in frames if not fits(pattern, frame)]
    names = {f"{'/'.join(frame.file.split('/')[-depth:])}:{frame.function}" for frame in others}
    method = f"{pattern.path}:{pattern.function.rpartition('.')[2]}"
    return max(((fuzz.ratio(method, name), name) for name in sorted(names)), default=(0.0, ""))


def _function_fits(pattern: str, function: str) -> bool:
    """Tracebacks name a method without its class up to Python 3.10 and after; py-spy and dumps may add it."""
    if "." in pattern and "." not in function:
        pattern = pattern.rpartition(".")[2]
    elif "." in function and "." not in pattern:
        function = function.rpartition(".")[2]
    elif "." in pattern and not fnmatchcase(function, pattern):
        return fnmatchcase(function, f"*.{pattern}")
    return function == pattern if "*" not in pattern else fnmatchcase(function, pattern)
