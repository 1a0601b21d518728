"""Cuts raw text into blocks of lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def whole(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Take raw chunks; yield (byte offset, bytes) blocks that end where a line ends."""
    offset = 0
    for chunk in chunks:
        yield offset, chunk
        offset += len(chunk)
