"""What the published releases say of a call edge: whether the line of the first frame calls the second one.

Two tracebacks that were printed at once differ in nothing but their lines, and which of them goes on with which frame
is often told by the packages alone.
"""

from __future__ import annotations

from functools import lru_cache

from triage.events.traceback_shapes import frame_parts

# Of each file the table has one piece, some milliseconds each; so many are read for one log's regions.
_FILES = 256


class ReleasedCalls:
    """Answers for frames by their texts. The table is opened with the first question."""

    def __init__(self) -> None:
        self._files: set[str] = set()

    def agrees(self, caller: str, callee: str) -> bool | None:
        """Take two frame lines; return whether a release calls the second from the first, None where none can say."""
        above, below = _place_of(caller), _place_of(callee)
        if above is None or below is None:
            return None
        path, line, function, _ = above
        if path not in self._files:
            if len(self._files) >= _FILES:
                return None
            self._files.add(path)
        called = _called_from(path, line, function)
        return below[3] in called if called else None


@lru_cache(maxsize=1024)
def _place_of(text: str) -> tuple[str, int, str, str] | None:
    """Take a frame line; return its file as the table has it, its line, its function and what a call of it names; None
    for code that is not SGLang's.
    """
    from triage.releases.frames import own_file
    from triage.releases.table import MODULE, canonical, module

    parts = frame_parts(text)
    path = own_file(parts[0]) if parts is not None else None
    if parts is None or path is None:
        return None
    name = parts[2].rpartition(".")[2]
    return path, parts[1], name, module(path) if name == MODULE else canonical(name)


@lru_cache(maxsize=1024)
def _called_from(path: str, line: int, function: str) -> frozenset[str]:
    """Return the names that any release calls on that line of that function, as frames are known by."""
    from triage.releases.frames import called_on

    return called_on(path, line, function)
