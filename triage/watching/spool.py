"""Keeps the output of a command until it has ended: all of it in a file of the user's, or its beginning and its end."""

from __future__ import annotations

import os
import tempfile

from triage.model import Gap, TriageError
from triage.typed import IO, TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

    from triage.sources.text import TextSource

# Of a server that ran for weeks the start and the last while tell what happened.
_HEAD, _PIECE = 16 << 20, 64 << 20


class Spool:
    """Takes the output as it comes; gives it back as a source, once."""

    def __init__(self, save: Path | None, name: str, *, head: int = _HEAD, piece: int = _PIECE) -> None:
        """Take the file that is to keep all, or None, the name that the log is to have, and what else is kept at most:
        bytes of the beginning, and half the bytes of the end. Raises `TriageError` for a file that can't be written.
        """
        self.name = str(save) if save is not None else name
        self.trouble = ""
        self._save = save
        self._head, self._piece = head, piece
        self._written = 0
        self._dropped = 0
        self._pieces: list[IO[bytes]] = []
        self._file: IO[bytes] | None = None
        if save is not None and save.is_fifo():
            raise TriageError(f"cannot keep the output in {save}: it is a pipe")
        try:
            self._file = save.open("wb", buffering=0) if save is not None else self._new()
        except OSError as error:
            raise TriageError(f"cannot write {save or 'a temporary file'}: {(error.strerror or '').lower()}") from None

    def write(self, block: bytes) -> None:
        """Take the next bytes. A full disk ends the keeping, not the command."""
        if self._file is None:
            return
        try:
            _write_all(self._file, block)
        except OSError as error:
            self.trouble = f"its output is not kept any more: {(error.strerror or '').lower()}"
            self._file = None
            return
        self._written += len(block)
        limit = self._head if len(self._pieces) == 1 else self._piece
        if self._save is None and self._written >= limit:
            self._turn()

    def source(self) -> TextSource | None:
        """Return what was kept, to be read; None where nothing was written."""
        from triage.sources.text import TextSource

        if self._save is not None:
            return TextSource(self._save, name=self.name) if self._save.stat().st_size else None
        whole = self._whole()
        if whole is None:
            return None
        source = TextSource("-", stdin=whole, name=self.name)
        if self._dropped:
            detail = f"{self._dropped:,} bytes in the middle of its output were not kept: --save FILE keeps all of it"
            source.gaps.append(Gap("truncated", detail))
        return source

    def close(self) -> None:
        """Let go of what is open; temporary files vanish."""
        for piece in self._pieces:
            piece.close()
        if self._file is not None:
            self._file.close()

    def _new(self) -> IO[bytes]:
        piece = tempfile.TemporaryFile(prefix="triage-", buffering=0)  # noqa: SIM115  closed with the spool
        self._pieces.append(piece)
        return piece

    def _turn(self) -> None:
        """Go on in another file; of the pieces behind the beginning the last two are kept."""
        if len(self._pieces) > 2:
            gone = self._pieces.pop(1)
            self._dropped += os.fstat(gone.fileno()).st_size
            gone.close()
        self._written = 0
        try:
            self._file = self._new()
        except OSError as error:
            self.trouble = f"its output is not kept any more: {(error.strerror or '').lower()}"
            self._file = None

    def _whole(self) -> BinaryIO | None:
        import shutil

        whole: IO[bytes] = tempfile.TemporaryFile(prefix="triage-", buffering=0)  # noqa: SIM115  its reader closes it
        for piece in self._pieces:
            piece.seek(0)
            shutil.copyfileobj(piece, whole)
        if not whole.tell():
            whole.close()
            return None
        whole.seek(0)
        return whole  # type: ignore[return-value]


def _write_all(file: IO[bytes], block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[file.write(view) :]
