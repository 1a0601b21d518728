"""Reads YAML once and keeps it as JSON, since parsing YAML is fifty times slower than parsing JSON."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from triage import __version__


def cache_folder() -> Path:
    """Return the folder for triage's own caches, by the XDG base directory rules; it may not exist yet."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path("~/.cache").expanduser()) / "sglang-triage"


def load(path: Path) -> Any:
    """Take a YAML file that ships with triage; return its content, from the cache where the file has not changed.

    Raises `OSError` if the file cannot be read and `yaml.YAMLError` if it is no YAML.
    """
    compiled = path.with_suffix(".json")
    if compiled.is_file():
        return json.loads(compiled.read_bytes())
    raw = path.read_bytes()
    digest = hashlib.sha256(f"{__version__}\0".encode() + raw).hexdigest()[:32]
    place = cache_folder() / f"{path.stem}-{digest}.json"
    value = kept(place)
    if value is None:
        import yaml

        value = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  safe, in C where it is
        keep(place, value)
    return value


def kept(path: Path) -> Any:
    """Take a file of the cache; return its content, None where it is missing, damaged or writable by other users."""
    if not _ours(path):
        return None
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def keep(path: Path, value: Any) -> None:
    """Write a file of the cache, whole or not at all; where that is not possible, the next run reads YAML again."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False)
        part.replace(path)
    except (OSError, TypeError, ValueError):
        return


def _ours(path: Path) -> bool:
    try:
        found, above = os.lstat(path), os.lstat(path.parent)
    except OSError:
        return False
    return found.st_uid == above.st_uid == os.geteuid() and not (found.st_mode | above.st_mode) & 0o022
