"""Reads YAML once and keeps it as JSON, since parsing YAML is fifty times slower than parsing JSON."""

# ruff: noqa: PTH103, PTH105, PTH111, PTH117, PTH118, PTH119, PTH120, PTH122, PTH123 - pathlib takes longer to load

from __future__ import annotations

import json
import os

from triage import __version__
from triage.hashing import sha256
from triage.typed import Any


def cache_folder() -> str:
    """Return the folder for triage's own caches, by the XDG base directory rules; it may not exist yet."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    place = os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "sglang-triage")
    return (
        place if os.path.isabs(place) else os.devnull
    )  # no home: what lies below a device can be neither read nor written


def load(path: str | os.PathLike[str]) -> Any:
    """Take a YAML file that ships with triage; return its content, from the cache where the file has not changed.

    Raises `OSError` if the file cannot be read and `yaml.YAMLError` if it is no YAML.
    """
    path = os.fspath(path)
    stem = os.path.splitext(path)[0]
    try:
        with open(f"{stem}.json", "rb") as file:
            return json.loads(file.read())
    except FileNotFoundError:
        pass
    with open(path, "rb") as file:
        raw = file.read()
    digest = sha256(f"{__version__}\0".encode() + raw)[:32]
    place = os.path.join(cache_folder(), f"{os.path.basename(stem)}-{digest}.json")
    value = kept(place)
    if value is None:
        import yaml

        value = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  safe, in C where it is
        keep(place, value)
    return value


def kept(path: str) -> Any:
    """Take a file of the cache; return its content, None where it is missing, damaged or writable by other users."""
    raw = kept_bytes(path)
    try:
        return None if raw is None else json.loads(raw)
    except (ValueError, RecursionError):
        return None


def kept_bytes(path: str) -> bytes | None:
    """Take a file of the cache; return what it holds, None where it is missing or writable by other users."""
    if not _ours(path):
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def keep(path: str, value: Any) -> None:
    """Write a file of the cache as JSON; where that is not possible, the next run reads YAML again."""
    try:
        keep_bytes(path, json.dumps(value, ensure_ascii=False).encode())
    except (TypeError, ValueError):
        return


def keep_bytes(path: str, raw: bytes) -> None:
    """Write a file of the cache, whole or not at all."""
    try:
        folder, name = os.path.split(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        part = os.path.join(folder, f".{name}.{os.getpid()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
        os.replace(part, path)
    except OSError:
        return


def _ours(path: str) -> bool:
    try:
        found, above = os.lstat(path), os.lstat(os.path.dirname(path))
    except OSError:
        return False
    # What is no regular file (S_IFREG) could block whoever opens it.
    regular = found.st_mode & 0o170000 == 0o100000
    return regular and found.st_uid == above.st_uid == os.geteuid() and not (found.st_mode | above.st_mode) & 0o022
