"""The files of a pack that came as an archive or a folder, read with every bound that foreign input needs.

No path leads out, nothing is a link or a device, and neither the number of files nor their size, packed or not, can
grow beyond what a pack needs. Only YAML below `signatures/` and logs below `fixtures/` count; the rest is passed over.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_FILES = 20_000
MAX_TOTAL = 64 * 1024 * 1024
MAX_FILE = 8 * 1024 * 1024

_NAME = regex(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,100}\Z")
_KEPT = {"signatures": (".yaml", ".yml"), "fixtures": (".log",)}
_ZIP = b"PK\x03\x04"


def contents(source: Path) -> Iterator[tuple[str, bytes]]:
    """Take a folder, a .zip or a .tar with or without compression; yield path in the pack and bytes of each file.

    Raises `TriageError` for what cannot be read, is too large, leads out of the pack, or is a link.
    """
    import lzma
    import tarfile
    import zipfile
    import zlib

    broken = (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        ValueError,
    )
    total = 0
    seen: set[str] = set()
    try:
        if not source.is_dir() and source.stat().st_size > MAX_TOTAL:
            raise TriageError(f"{source}: larger than {MAX_TOTAL >> 20} MiB")
        for count, (name, read) in enumerate(_members(source)):
            if count >= MAX_FILES:
                raise TriageError(f"{source}: more than {MAX_FILES:,} files")
            place = _place(name, source)
            if place is None:
                continue
            if place in seen:
                raise TriageError(f"{source}: holds {place} twice")
            seen.add(place)
            data = read()
            total += len(data)
            if len(data) > MAX_FILE or total > MAX_TOTAL:
                raise TriageError(f"{source}: {place} is too large for a pack")
            yield place, data
    except broken as error:
        raise TriageError(f"{source}: cannot be unpacked: {error}") from None
    except OSError as error:
        raise TriageError(f"{source}: {error.strerror or f'cannot be unpacked: {error}'}") from None


def _place(name: str, source: Path) -> str | None:
    """Return a member's path in the pack, None for what is no part of one."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or "\\" in name or ".." in parts or not all(char.isprintable() for char in name):
        raise TriageError(f"{source}: refused, a path in it leads elsewhere: {name!r}")
    # Archives often hold one folder with everything in it.
    inside = parts if parts[:1] and parts[0] in _KEPT else parts[1:]
    if len(inside) < 2 or inside[0] not in _KEPT or not inside[-1].endswith(_KEPT[inside[0]]):
        return None
    return "/".join(inside) if len(inside) <= 6 and all(map(_NAME.match, inside)) else None


def _members(source: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    if source.is_dir():
        yield from _folder(source)
        return
    with source.open("rb") as file:
        head = file.read(4)
        file.seek(0)
        yield from _zip(file, source) if head == _ZIP else _tar(file, source)


def _folder(source: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for above, folders, names in os.walk(source):
        whole = Path(above) == source
        folders[:] = sorted(name for name in folders if (name in _KEPT if whole else not name.startswith(".")))
        for name in sorted(folders if whole else [*folders, *names]):
            path = Path(above, name)
            mode = path.lstat().st_mode
            if not stat.S_ISDIR(mode):
                _regular(stat.S_ISREG(mode), str(path.relative_to(source)), source)
                yield path.relative_to(source).as_posix(), lambda path=path: _bounded(path.open("rb"))  # type: ignore[misc]


def _zip(file: IO[bytes], source: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    import zipfile

    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if not info.is_dir():
                _regular(kind in (0, stat.S_IFREG) and not info.flag_bits & 1, info.filename, source)
                yield info.filename, lambda info=info: _bounded(archive.open(info))  # type: ignore[misc]


def _tar(file: IO[bytes], source: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    import tarfile

    with tarfile.open(fileobj=cast("IO[bytes]", _Limited(_unpacked(file))), mode="r|") as archive:
        for member in archive:
            if not member.isdir():
                _regular(member.isreg() and not member.issparse(), member.name, source)
                name = member.name.removeprefix("./")
                yield name, lambda member=member: _bounded(archive.extractfile(member))  # type: ignore[misc]


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    import bz2
    import gzip
    import lzma

    head = file.read(6)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(file))
    if head.startswith(b"\xfd7zXZ"):
        return lzma.open(file)
    return bz2.open(file) if head.startswith(b"BZh") else file


class _Limited:
    """A stream that ends with an error where more comes out of it than a pack can hold, headers included."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._left = stream, 2 * MAX_TOTAL

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes."""
        data = self._stream.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise TriageError(f"the archive holds more than {2 * MAX_TOTAL >> 20} MiB")
        return data


def _regular(regular: bool, name: str, source: Path) -> None:
    if not regular:
        raise TriageError(f"{source}: refused, {name!r} in it is a link, a device or encrypted")


def _bounded(stream: IO[bytes] | None) -> bytes:
    if stream is None:
        return b""
    with stream:
        return stream.read(MAX_FILE + 1)
