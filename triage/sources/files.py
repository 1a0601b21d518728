"""The journal files behind a query: which they are, which of them this user may not read, which are damaged.

libsystemd passes over files that it cannot open without a word, and reads damaged ones up to the damage, so what it
gives is compared with what the files themselves say they hold. Source: systemd's docs/JOURNAL_FILE_FORMAT.md.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from triage.lazy import regex
from triage.model import Gap, TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from io import FileIO

    from triage.sources.query import JournalQuery

_LIVE = ("/var/log/journal", "/run/log/journal")
_MACHINE_DIR = regex(r"[0-9a-f]{32}(?:\.([A-Za-z0-9:_.@-]{1,255}))?")
_NAME = regex(r".+\.journal~?")

_HEADER = struct.Struct("<8sIIB7x16s16s16s16sQQQQQQQQQQQQQQ")  # up to tail_entry_realtime
_COMPACT = 1 << 4
_KNOWN_FLAGS = 0b11111  # xz, lz4, keyed hash, zstd, compact
_OBJECT_ENTRY = 3
_OBJECT_ENTRY_ARRAY = 6
_ARRAY_HEAD = struct.Struct("<B7xQQ")
_SAMPLES = 48
_MOST_ARRAYS = 4096


def journal_files(query: JournalQuery) -> list[Path]:
    """Take a query; return the journal files that it is about, in no order; none for a container's or another host's.

    Raises `TriageError` for a folder or file that is missing or of the wrong kind, and for a folder without journals.
    """
    if query.elsewhere:
        return []
    if query.files:
        return [path for name in query.files for path in _named(str(name))]
    if query.directory is None:
        return [path for folder in _LIVE for path in _below(Path(folder), query.namespace)]
    folder = Path(query.directory)
    if not folder.exists():
        raise TriageError(f"{folder}: no such directory")
    if not folder.is_dir():
        raise TriageError(f"{folder} is no directory: name a journal file with --file")
    found = list(_below(folder, query.namespace))
    if not found and not (denied := not os.access(folder, os.R_OK | os.X_OK)):
        others = namespaces(query)
        if query.namespace is not None:
            raise TriageError(f"{folder} holds no journal of namespace {query.namespace}{_list(others)}")
        raise TriageError(f"{folder} holds no journal files (NAME.journal, or MACHINE-ID/NAME.journal){_list(others)}")
    if not found and denied:
        raise TriageError(f"{folder}: permission denied")
    return found


def namespaces(query: JournalQuery) -> list[str]:
    """Take a query; return the journal namespaces (LogNamespace=) that have files beside the default journal."""
    roots = [Path(query.directory)] if query.directory else [] if query.files or query.elsewhere else map(Path, _LIVE)
    found = {match[1] for root in roots for folder in _folders(root) if (match := _MACHINE_DIR.fullmatch(folder.name))}
    return sorted(name for name in found if name)


def file_gaps(paths: Sequence[Path], reads: Callable[[Path], bool]) -> list[Gap]:
    """Take journal files, and what tells whether libsystemd finds an entry in one; return what can't be read of them.

    A gap `permission` stands for all files that this user may not read, one `unreadable` for each damaged file and for
    each in a format that the installed systemd does not know. Raises `TriageError` where no file can be read at all.
    """
    denied = {path: None for path in paths if not os.access(path, os.R_OK)}
    gaps = []
    if denied:
        gaps.append(
            Gap(
                "permission",
                f"{len(denied)} of {len(paths)} journal files are not readable for you (such as {next(iter(denied))}): "
                "run triage as root or as a member of the group systemd-journal",
            )
        )
    useful = False
    known: set[int] = set()  # formats of which a file could be read; to ask for every file costs a process each
    for path in paths:
        if path in denied:
            continue
        entries, flags, why = inspect(path)
        if why:
            useful = useful or reads(path)  # damaged files are read up to the damage
        elif not entries:
            useful = True
        elif flags in known or reads(path):
            known.add(flags)
            useful = True
        else:
            why = f"the installed systemd can't read its {entries} entries; a newer one may"
        if why:
            gaps.append(Gap("unreadable", f"{path}: {why}"))
    if gaps and not useful:
        raise TriageError(f"the journal can't be read: {gaps[0].detail}")
    return gaps


def inspect(path: Path) -> tuple[int, int, str | None]:
    """Take a journal file; return how many entries it claims, its format's flags, and what is wrong with it, if seen.

    Looks at the header and at up to 48 of the entries that it leads to, not at their contents.
    """
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            raw = file.read(_HEADER.size)
            if not size:
                return 0, 0, "the file is empty"
            if len(raw) < _HEADER.size or not raw.startswith(b"LPKSHHRH"):
                return 0, 0, "this is no journal file, or its header is destroyed"
            header = _HEADER.unpack(raw)
            return header[16], header[2], _damage(file, size, header)
    except OSError as error:
        return 0, 0, (error.strerror or str(error)).lower()


def _damage(file: FileIO, size: int, header: tuple[int, ...]) -> str | None:
    incompatible, header_size, arena_size, entries, first_array = (header[at] for at in (2, 8, 9, 16, 19))
    if size < header_size + arena_size:
        return f"the file is cut short, so that none of its {entries} entries can be read"
    if incompatible & ~_KNOWN_FLAGS:
        return None  # a newer format may lay its arrays out in another way
    compact = bool(incompatible & _COMPACT)
    reached = 0
    sampled: list[int] = []
    step = max(1, entries // _SAMPLES)
    for start, count in _arrays(file, first_array, size, compact=compact):
        width = 4 if compact else 8
        used = min(count, entries - reached)
        for index in range(-reached % step, used, step):
            file.seek(start + index * width)
            sampled.append(int.from_bytes(file.read(width), "little"))
        reached += used
        if reached >= entries:
            break
    broken = sum(not (0 < offset < size and _is_entry(file, offset)) for offset in sampled)
    if reached < entries or broken:
        missing = max(entries - reached, broken * step)
        return f"the file is damaged: at least about {min(missing, entries)} of its {entries} entries can't be read"
    return None


def _arrays(file: FileIO, offset: int, size: int, *, compact: bool) -> Iterator[tuple[int, int]]:
    """Yield where the items of each array of entries start, and how many items it has room for."""
    for _ in range(_MOST_ARRAYS):
        if not 0 < offset <= size - _ARRAY_HEAD.size:
            return
        file.seek(offset)
        kind, length, following = _ARRAY_HEAD.unpack(file.read(_ARRAY_HEAD.size))
        if kind != _OBJECT_ENTRY_ARRAY or not _ARRAY_HEAD.size <= length <= size - offset:
            return
        yield offset + _ARRAY_HEAD.size, (length - _ARRAY_HEAD.size) // (4 if compact else 8)
        if following <= offset:
            return
        offset = following


def _is_entry(file: FileIO, offset: int) -> bool:
    file.seek(offset)
    return file.read(1) == bytes([_OBJECT_ENTRY])


def _named(name: str) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        raise TriageError(f"{name} is a directory: read it with -D")
    if path.is_file():
        return [path]
    if path.exists():
        raise TriageError(f"{name} is no journal file, but a pipe or a device")
    if any(mark in name for mark in "*?["):
        root = Path(path.anchor or ".")
        if found := sorted(match for match in root.glob(str(path.relative_to(path.anchor))) if match.is_file()):
            return found
    raise TriageError(f"{name}: no such file")


def _below(root: Path, namespace: str | None) -> Iterator[Path]:
    """Yield a folder's journal files, and those of the machines below it, of the namespace that is asked for."""
    if namespace is None or namespace[0] in "*+":
        yield from _journals(root)
    for folder in _folders(root):
        match = _MACHINE_DIR.fullmatch(folder.name)
        if match and _wanted(match[1], namespace):
            yield from _journals(folder)


def _wanted(name: str | None, namespace: str | None) -> bool:
    if namespace is None:
        return name is None
    if namespace == "*":
        return True
    if namespace.startswith("+"):
        return name is None or name == namespace[1:]
    return name == namespace


def _folders(root: Path) -> list[Path]:
    try:
        return [path for path in root.iterdir() if path.is_dir()]
    except OSError:
        return []


def _journals(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if _NAME.fullmatch(path.name) and not path.is_dir()]
    except OSError:
        return []


def _list(names: Sequence[str]) -> str:
    return f"; namespaces there: {', '.join(names)}" if names else ""
