"""One file of an installed package, reached without following a link and changed without a moment of half a file.

The folder is held open from the look to the change and every name is used inside it, so that nothing can be put in its
place meanwhile. A new file takes the old one's owner, mode and attributes, and is on the disk before it is renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from pathlib import Path

from triage.fixes.pysource import MAX_BYTES
from triage.lazy import regex
from triage.model import TriageError
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = regex(r"(?!.*\.\.)[A-Za-z_][\w.-]*(?:/[A-Za-z_][\w.-]*)+\.py", re.ASCII)
"""A module inside a package, as a signature names it: `sglang/srt/layers/attention/triton_backend.py`."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class PlaceError(Exception):
    """The file cannot be used; `outcome` says how, the text says what was found instead."""

    def __init__(self, outcome: Literal["no-file", "outside", "unreadable"], why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


@dataclass(slots=True)
class Content:
    """A file's bytes with what a new file in its place has to keep: owner, mode, times and extended attributes."""

    raw: bytes
    stat: os.stat_result
    attributes: dict[str, bytes]


@dataclass(slots=True)
class Place:
    """A file `name` in a folder that is held open; `path` is where it stands, to be shown."""

    folder: int
    name: str
    path: Path

    def read(self, name: str | None = None) -> Content:
        """Read the file, or another of the same folder.

        Raises `FileNotFoundError`, and `PlaceError` for what is no plain file of a bearable size.
        """
        shown = self.path.with_name(name) if name else self.path
        try:
            # Not to wait for ever on a pipe that bears the name.
            descriptor = os.open(
                name or self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.folder
            )
        except FileNotFoundError:
            raise
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise PlaceError("outside", f"{shown} is a link") from error
            raise PlaceError("unreadable", f"{shown}: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise PlaceError("unreadable", f"{shown} is no plain file")
            if found.st_size > MAX_BYTES:
                raise PlaceError("unreadable", f"{shown} has {found.st_size:,} bytes")
            return Content(file.read(MAX_BYTES + 1), found, _attributes(descriptor))

    def write(self, name: str, raw: bytes, like: Content | None = None, *, instead_of: bytes | None = None) -> None:
        """Write a file of the folder in one step: another process sees the old one or the new one, complete.

        `like` gives owner, mode and attributes, and the times if the bytes are its own. With `instead_of`, nothing is
        written unless the file still holds these bytes. Raises `TriageError` where that or the owner cannot be had, and
        `OSError`.
        """
        part = self.part
        self.remove(part)
        descriptor = os.open(
            part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self.folder
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
                file.flush()
                if like:
                    self._dress(descriptor, like, same=raw == like.raw)
                else:
                    os.fchmod(descriptor, 0o644)
                os.fsync(descriptor)
            self._still(name, instead_of)
            self.rename(part, name)
        except BaseException:
            with contextlib.suppress(OSError):
                self.remove(part)
            raise

    def _still(self, name: str, raw: bytes | None) -> None:
        if raw is not None and self.read(name).raw != raw:
            raise TriageError(f"{self.path} was changed by another program in this moment: nothing was done to it")

    def _dress(self, descriptor: int, like: Content, *, same: bool) -> None:
        """Give a new file the owner, mode, attributes and, for the same bytes, times of another."""
        mine = os.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != (like.stat.st_uid, like.stat.st_gid):
            try:
                os.fchown(descriptor, like.stat.st_uid, like.stat.st_gid)
            except PermissionError as error:
                owner = f"user {like.stat.st_uid}, group {like.stat.st_gid}"
                raise TriageError(f"{self.path} belongs to {owner}: run this as root or as that user") from error
        os.fchmod(descriptor, stat.S_IMODE(like.stat.st_mode))
        for name, value in like.attributes.items():
            # Some are the kernel's own and cannot be set; what the directory gives is then right.
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, value)
        if same:
            os.utime(descriptor, ns=(like.stat.st_atime_ns, like.stat.st_mtime_ns))

    def rename(self, old: str, new: str) -> None:
        """Rename inside the folder, replacing what bears the new name, and see it on the disk."""
        os.replace(old, new, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        with contextlib.suppress(OSError):
            os.fsync(self.folder)

    def remove(self, name: str) -> None:
        """Remove a file of the folder if it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.folder)

    def drop_bytecode(self) -> list[str]:
        """Remove the module's compiled files, whichever Python wrote them; return those that could not be removed."""
        left = []
        try:
            folder = os.open("__pycache__", _FOLDER, dir_fd=self.folder)
        except OSError:
            return []
        try:
            pattern = re.compile(re.escape(self.name.removesuffix(".py")) + r"\.[\w-]+(\.opt-\w+)?\.pyc")
            for name in filter(pattern.fullmatch, os.listdir(folder)):  # noqa: PTH208 (by descriptor)
                try:
                    os.unlink(name, dir_fd=folder)
                except OSError:
                    left.append(str(self.path.parent / "__pycache__" / name))
        finally:
            os.close(folder)
        return left

    @property
    def part(self) -> str:
        """The name under which a file is written before it is renamed."""
        return f"{self.name}.triage-part"


@contextlib.contextmanager
def opened(parent: Path, file: str) -> Iterator[Place]:
    """Take the folder that holds a package, and a file of the package; hold the file's folder open.

    Raises `PlaceError` if the file is not there or a link leads out of the package.
    """
    base, parts = _inside(parent, file)
    folder = _folder(base, parts[:-1], f"there is no {file} in {parent}")
    try:
        yield Place(folder, parts[-1], base.joinpath(*parts))
    finally:
        os.close(folder)


def _folder(base: Path, parts: tuple[str, ...], missing: str) -> int:
    """Open a folder step by step, none of which may be a link."""
    descriptor = None
    try:
        descriptor = os.open(base, _FOLDER)
        for name in parts:
            below = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
    except OSError as error:
        if descriptor is not None:
            os.close(descriptor)
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise PlaceError("no-file", missing) from error
        raise PlaceError("unreadable", f"{base.joinpath(*parts)}: {error.strerror}") from error
    return descriptor


def _inside(parent: Path, file: str) -> tuple[Path, tuple[str, ...]]:
    """Return the real folder that holds the package, and the names on the real path below it.

    A link that stays inside the package is followed, no other.
    """
    if not FILE.fullmatch(file):
        raise PlaceError("outside", f"{file!r} names no module inside a package")
    base = Path(os.path.realpath(parent))
    real = Path(os.path.realpath(base / file))
    if base / file.split("/", 1)[0] not in real.parents:
        raise PlaceError("outside", f"{base / file} leads out of the package to {real}")
    return base, real.relative_to(base).parts


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError:
        return {}
