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
        from triage.releases.frames import own_file

        above, below = frame_parts(caller), frame_parts(callee)
        if above is None or below is None:
            return None
        path, inner = own_file(above[0]), own_file(below[0])
        if path is None or inner is None:
            return None
        if path not in self._files:
            if len(self._files) >= _FILES:
                return None
            self._files.add(path)
        called = _called_from(path, above[1], above[2].rpartition(".")[2])
        if not called:
            return None
        from triage.releases.table import MODULE, canonical, module

        name = below[2].rpartition(".")[2]
        return (module(inner) if name == MODULE else canonical(name)) in called


@lru_cache(maxsize=1024)
def _called_from(path: str, line: int, function: str) -> frozenset[str]:
    """Return the names that any release calls on that line of that function, as frames are known by."""
    from triage.releases.frames import called_on

    return called_on(path, line, function)
