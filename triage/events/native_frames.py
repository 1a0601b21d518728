"""The frames of native stacks."""

from __future__ import annotations

from triage.model import Frame

# So many are kept of one stack.
MAX_FRAMES = 60
_SYMBOL = 300
_PATH = 400


class Frames:
    """Hands out one Frame object for equal frames: thousands of ranks die with the same stack."""

    def __init__(self, limit: int = 20_000) -> None:
        self._limit = limit
        self._known: dict[tuple[str, int | None, str], Frame] = {}

    def get(self, file: str, line: int | None, function: str) -> Frame:
        """Take file, line and function; return their frame. It is shared: do not change it."""
        key = (file[:_PATH], line, function[:_SYMBOL])
        frame = self._known.get(key)
        if frame is None:
            if len(self._known) >= self._limit:
                self._known.clear()
            frame = self._known[key] = Frame(key[0], line, key[2])
        return frame
