"""Paths of frames against what a signature names: by their last components, with `*` in one and `**` for any number."""

from __future__ import annotations

from fnmatch import fnmatchcase

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

DEEP = "**"


def path_fits(pattern: str, path: str) -> bool:
    """Say whether a path ends as a pattern says: whole components, `*` a glob in one, one `**` for any number of them.

    >>> path_fits("srt/**/triton_*.py", "/opt/sglang/srt/layers/attention/triton_backend.py")
    True
    """
    if "*" not in pattern:
        return path.endswith(pattern) and (len(path) == len(pattern) or path[-len(pattern) - 1] == "/")
    wanted, there = pattern.split("/"), path.split("/")
    if DEEP not in wanted:
        return _ends(wanted, there)
    at = wanted.index(DEEP)
    head, tail = wanted[:at], wanted[at + 1 :]
    if len(there) < len(head) + max(len(tail), 1) or not _ends(tail, there):
        return False
    rest = there[: len(there) - max(len(tail), 1)]
    return any(_ends(head, rest[:end]) for end in range(len(head), len(rest) + 1))


def _ends(wanted: Sequence[str], there: Sequence[str]) -> bool:
    if len(there) < len(wanted):
        return False
    last = there[len(there) - len(wanted) :]
    return all(fnmatchcase(name, one) for one, name in zip(wanted, last, strict=True))
