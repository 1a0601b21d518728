"""Log text from files and from standard input, as blocks of bytes."""

# ruff: noqa: PTH116, PTH123 - pathlib takes longer to load

from __future__ import annotations

import math
import os
import stat

from triage.model import Gap, TriageError
from triage.typed import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.model import GapKind

BLOCK = 512 * 1024
"""Bytes of a block of text, the size that scans fastest."""

# RFC 1952, the .xz file format 1.2.1, RFC 8878.
MAGIC = {"gzip": b"\x1f\x8b", "xz": b"\xfd7zXZ\x00", "zstd": b"\x28\xb5\x2f\xfd"}
LONGEST_MAGIC = 6
_JOURNAL_MAGIC = b"LPKSHHRH"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LONGEST_BLOCK = 1 << 20


class TextSource:
    """One file or standard input.

    `name` is the path as it was given, or `stdin`, unless it is to be shown as another one. `gaps` is complete once
    `chunks` has ended.
    """

    def __init__(self, path: str | os.PathLike[str], stdin: BinaryIO | None = None, name: str | None = None) -> None:
        """Take a path, `-` for standard input (or for `stdin`, a raw stream that stands in for it), and a name to show.

        Raises `TriageError` for a path that is missing, a directory, an empty file or not readable.
        """
        self._path = os.fspath(path)
        self._stdin = stdin
        self.name = name or ("stdin" if self._path == "-" else self._path)
        self.gaps: list[Gap] = []
        if self._path != "-":
            _check(self._path)

    def chunks(self) -> Iterator[bytes]:
        """Yield the text in blocks of up to 512 KiB, decompressed; from a pipe whatever has come.

        gzip, xz and zstd are told by their first bytes; UTF-16 with a byte order mark (PowerShell's `>`) becomes UTF-8.
        Of a truncated or damaged archive comes what could be read, and a gap `truncated` or `unreadable`. Raises
        `TriageError` where there is nothing to read at all.
        """
        raw = self._open()
        with raw:
            total = 0
            for block in self._text(self._blocks(raw)):
                total += len(block)
                yield block
            if not total:
                raise TriageError(f"{self.name}: {self.gaps[0].detail if self.gaps else 'nothing in it'}")

    def _open(self) -> BinaryIO:
        try:
            if self._path == "-":
                return self._stdin or open(0, "rb", buffering=0, closefd=False)
            return open(self._path, "rb", buffering=0)
        except OSError as error:
            raise TriageError(f"{self.name}: {_reason(error)}") from None

    def _blocks(self, raw: BinaryIO) -> Iterator[bytes]:
        _widen(raw)
        total = 0
        while True:
            try:
                block = raw.read(BLOCK)
            except OSError as error:
                self._report("unreadable", f"reading stopped: {_reason(error)}")
                return
            if not block:
                break
            total += len(block)
            yield block
        if _size(raw) < total:
            self._report("truncated", "the file was cut off while it was read: something may be missing")

    def _text(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        head = b""
        for block in blocks:
            head += block
            if len(head) >= LONGEST_MAGIC + 2 or not _undecided(head):
                break
        if not head:
            return iter(())
        if head.startswith(_JOURNAL_MAGIC):
            hint = "pipe in `journalctl -o export`" if self._path == "-" else f"triage journal --file {self.name}"
            raise TriageError(f"{self.name} is a binary journal, not text: {hint}")
        kind = kind_of(head)
        whole = _prepended(head, blocks)
        if kind:
            from triage.sources.archive import decompress

            return decompress(kind, whole, self._report)
        return _from_utf16(whole) if head.startswith(_UTF16) else whole

    def _report(self, kind: GapKind, detail: str) -> None:
        self.gaps.append(Gap(kind, detail))


def _widen(raw: BinaryIO) -> None:
    """Let a pipe hold more than the 64 KiB that Linux gives it: fewer turns, and whoever writes need not wait."""
    try:
        if stat.S_ISFIFO(os.fstat(raw.fileno()).st_mode):
            import fcntl

            fcntl.fcntl(raw.fileno(), fcntl.F_SETPIPE_SZ, BLOCK)
    except (ImportError, AttributeError, OSError, ValueError):
        return


def _size(raw: BinaryIO) -> float:
    """Return the size of a file; what is none has no end that could come nearer."""
    try:
        found = os.fstat(raw.fileno())
    except (OSError, ValueError):
        return math.inf
    return found.st_size if stat.S_ISREG(found.st_mode) else math.inf


def _check(path: str) -> None:
    try:
        found = os.stat(path)
    except OSError as error:
        raise TriageError(f"{path}: {_reason(error)}") from None
    except ValueError:
        raise TriageError("a path cannot hold a NUL byte") from None
    if stat.S_ISDIR(found.st_mode):
        raise TriageError(f"{path} is a directory: name the log files in it")
    if stat.S_ISREG(found.st_mode) and not found.st_size:
        raise TriageError(f"{path} is empty")
    if stat.S_ISBLK(found.st_mode) or (stat.S_ISCHR(found.st_mode) and not _terminal(path)):
        raise TriageError(f"{path} is a device: name a log file, or pipe one in")
    if not os.access(path, os.R_OK):
        raise TriageError(f"{path}: permission denied")


def _terminal(path: str) -> bool:
    """Whether a device is a terminal (`/dev/stdin`); others never end, or hold no log."""
    try:
        device = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.isatty(device)
    finally:
        os.close(device)


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _undecided(head: bytes) -> bool:
    return any(magic.startswith(head) for magic in (*MAGIC.values(), _JOURNAL_MAGIC, *_UTF16))


def _prepended(head: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from blocks


def _from_utf16(blocks: Iterator[bytes]) -> Iterator[bytes]:
    import codecs

    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")
    for block in blocks:
        if text := decoder.decode(block):
            yield text.encode("utf-8", "replace")
    if text := decoder.decode(b"", final=True):
        yield text.encode("utf-8", "replace")


def kind_of(head: bytes) -> str | None:
    """Take a file's first bytes; return `gzip`, `xz`, `zstd` or None for what is none of them."""
    if head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50:
        return "zstd"  # pzstd's archives begin with a skippable frame
    return next((kind for kind, magic in MAGIC.items() if head.startswith(magic)), None)


def whole(chunks: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Take raw chunks; yield all of them as (byte offset, bytes) blocks that end where a line ends.

    A line longer than a MiB comes in pieces, as blocks that follow each other without a gap.
    """
    offset = 0
    rest = b""
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            block = rest + chunk[:end]
            yield offset, block
            offset += len(block)
            rest = chunk[end:]
        else:
            rest += chunk
        if len(rest) > _LONGEST_BLOCK:
            yield offset, rest
            offset += len(rest)
            rest = b""
    if rest:
        yield offset, rest
