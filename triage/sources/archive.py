"""Decompression of gzip, xz and zstd as a stream that gives everything that can be read of a damaged archive.

The format is told by the first bytes (`triage.sources.text`), never by a file's name.
"""

from __future__ import annotations

from triage.model import TriageError
from triage.sources.text import BLOCK, LONGEST_MAGIC, kind_of
from triage.typed import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triage.model import GapKind
    from triage.typed import TypeAlias

    Report: TypeAlias = Callable[[GapKind, str], None]

_XZ_MEMORY = 256 << 20


class Decoder(Protocol):
    """What `lzma.LZMADecompressor`, `igzip_lib.IgzipDecompressor` and `compression.zstd.ZstdDecompressor` share."""

    @property
    def eof(self) -> bool:
        """Whether the archive member is complete."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out before more is put in."""

    @property
    def unused_data(self) -> bytes:
        """What stands after the end of the member."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Take more of the archive; return at most about `max_length` bytes of what it holds."""


def decompress(kind: str, blocks: Iterable[bytes], report: Report) -> Iterator[bytes]:
    """Take an archive's kind and bytes; yield blocks of about `BLOCK` bytes of what it holds.

    Several members in one file are read as one text. What cannot be read is told to `report` as `truncated` (the
    archive ends too early) or `unreadable` (its bytes are damaged, or something else follows it). Raises `TriageError`
    where nothing installed can read zstd.
    """
    make = _maker(kind)
    if make is None:
        return _grouped(_through_zstd(blocks, report))
    return _grouped(_members(kind, make, blocks, report))


def _members(kind: str, make: Callable[[], Decoder], blocks: Iterable[bytes], report: Report) -> Iterator[bytes]:
    decoder = make()
    between = False  # a member has ended and the next one has not begun
    rest = b""
    for block in blocks:
        data = rest + block
        rest = b""
        while True:
            if between:
                data = data.lstrip(b"\0")
                if len(data) < LONGEST_MAGIC:
                    rest = data
                    break
                if kind_of(data) != kind:
                    report("unreadable", f"what follows the end of the {kind} archive is not read")
                    return
                decoder, between = make(), False
            try:
                out = decoder.decompress(data, BLOCK)
            except Exception as error:  # noqa: BLE001 - each library has its own error classes
                report("unreadable", f"the {kind} archive is damaged: {error}")
                return
            if out:
                yield out
            data = b""
            if decoder.eof:
                data, between = decoder.unused_data, True
                if not data:
                    break
            elif decoder.needs_input:
                break
    if not between:
        report("truncated", f"the {kind} archive ends too early")
    elif rest:
        report("unreadable", f"what follows the end of the {kind} archive is not read")


def _grouped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join pieces to blocks, so that the reader works on as few as possible."""
    group: list[bytes] = []
    size = 0
    for piece in pieces:
        group.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield b"".join(group)
            group, size = [], 0
    if group:
        yield b"".join(group)


def _maker(kind: str) -> Callable[[], Decoder] | None:
    """Return what makes a decoder for a member of this kind of archive, the fastest that is installed."""
    if kind == "gzip":
        return _gzip()
    if kind == "xz":
        import lzma

        return lambda: lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return _zstd()


def _gzip() -> Callable[[], Decoder]:
    try:
        from isal import igzip_lib
    except ImportError:
        return _ZlibDecoder
    return lambda: igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)


def _zstd() -> Callable[[], Decoder] | None:
    module = zstd_module()
    if module is None:
        return None
    maker: Callable[[], Decoder] = module.ZstdDecompressor
    return maker


def zstd_module() -> Any:
    """Return the standard library's `compression.zstd`, or what brings it to a Python before 3.14, None without it."""
    import importlib

    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


class _ZlibDecoder:
    """The standard library's zlib with the face of a `Decoder`."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail and not self._full

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self._full = len(out) >= max_length  # zlib can hold back output that it made of input it has already taken
        return out


def _through_zstd(blocks: Iterable[bytes], report: Report) -> Iterator[bytes]:
    """Read zstd through the `zstd` program, for a Python that has no module for it."""
    import subprocess

    try:
        process = subprocess.Popen(
            ["zstd", "-dcq"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError:
        raise TriageError(
            "this is a zstd archive, which nothing here can read: pip install 'sglang-triage[zstd]'"
        ) from None
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    sink, source, complaints = process.stdin, process.stdout, process.stderr
    said: list[bytes] = []

    import threading

    def feed() -> None:
        try:
            with sink:
                for block in blocks:
                    sink.write(block)
        except (OSError, ValueError):
            pass  # zstd has given up, or the reader has gone: either is seen at the other end

    threads = [threading.Thread(target=feed), threading.Thread(target=lambda: said.append(complaints.read(4096)))]
    for thread in threads:
        thread.daemon = True
        thread.start()
    try:
        while piece := source.read(BLOCK):
            yield piece
        threads[1].join()
        if process.wait():
            message = said[0].decode("utf-8", "replace").strip() if said else ""
            early = "premature" in message or "unexpected end" in message.lower()
            report(
                "truncated" if early else "unreadable",
                "the zstd archive ends too early" if early else f"the zstd archive is damaged: {message}",
            )
    finally:
        process.kill()
        process.wait()
        source.close()
        complaints.close()
