"""Writes an entry into the journal, by the native protocol: one datagram of fields to journald's socket.

Source: systemd's docs/JOURNAL_NATIVE_PROTOCOL.md. A field is `NAME=text` and a newline or, where its value holds a
newline, `NAME`, a newline, the value's length as 64 bits little-endian, the value, a newline.
"""

from __future__ import annotations

import socket
from pathlib import Path

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SOCKET = Path("/run/systemd/journal/socket")
# Bytes of one value, and of all: what fits into a datagram whatever the host's settings are.
MOST, MOST_OF_ALL = 8 * 1024, 96 * 1024
_NAME = regex(r"[A-Z0-9][A-Z0-9_]{0,63}")  # a name that begins with `_` is journald's own


def encode(fields: Iterable[tuple[str, str]]) -> bytes:
    """Take names and values, a name possibly several times; return the datagram. Values are cut at `MOST` bytes.

    Raises `ValueError` for what journald would not take as a name.
    """
    out = bytearray()
    for name, value in fields:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} can't be the name of a journal field")
        data = value.encode("utf-8", "replace")[:MOST].decode("utf-8", "ignore").encode()
        if len(out) + len(data) > MOST_OF_ALL:
            break
        if b"\n" in data:
            out += name.encode() + b"\n" + len(data).to_bytes(8, "little") + data + b"\n"
        else:
            out += name.encode() + b"=" + data + b"\n"
    return bytes(out)


def send(fields: Iterable[tuple[str, str]], to: Path | None = None) -> None:
    """Take names and values; write them as one entry. Raises `TriageError` where there is no journald."""
    path = to or SOCKET
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        try:
            out.sendto(encode(fields), str(path))
        except OSError as error:
            raise TriageError(f"the journal takes nothing at {path}: {(error.strerror or '').lower()}") from None
