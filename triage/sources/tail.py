"""A text that is still being written: a pipe until it ends, a file for as long as somebody listens."""

from __future__ import annotations

import os
import time
from pathlib import Path

from triage.model import TriageError
from triage.sources.text import TextSource, kind_of
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.typed import BinaryIO

_BLOCK = 256 << 10
_PAUSE = 0.25
_JOURNAL = b"LPKSHHRH"


def tail(path: str, skip: int = 0) -> Iterator[bytes]:
    """Take a path, `-` for standard input; yield blocks as they are written: a file's whole text first, then what is
    added to it, also after it was rotated or emptied. Of a pipe the iteration ends with it, of a file never.

    Of a file so many bytes are skipped.

    Raises `TriageError` for a file that can't be read, and for an archive or a journal.
    """
    if path == "-":
        while block := os.read(0, _BLOCK):
            yield block
        return
    TextSource(path)  # tells what can't be read, and how
    file = _open(path)
    head = file.read(8)
    if kind_of(head) or head.startswith(_JOURNAL):
        raise TriageError(f"{path} is no plain text: only a log that is still being written can be followed")
    if skip:
        file.seek(skip)
    else:
        yield head
    while True:
        if block := file.read(_BLOCK):
            yield block
            continue
        if _replaced(file, path):
            rest = file.read(_BLOCK)  # what was written just before
            file.close()
            if rest:
                yield rest
            file = _open(path)
        else:
            time.sleep(_PAUSE)


def _open(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb", buffering=0)
    except OSError as error:
        raise TriageError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def _replaced(file: BinaryIO, path: str) -> bool:
    """Whether another file has the name now, or the file was emptied."""
    try:
        there = Path(path).stat()
    except OSError:
        return False  # between a rotation's two steps, or gone for good
    own = os.fstat(file.fileno())
    return (there.st_dev, there.st_ino) != (own.st_dev, own.st_ino) or there.st_size < file.tell()
