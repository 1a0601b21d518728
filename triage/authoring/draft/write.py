"""Puts a draft's files into a pack: never over what is there, never outside of the pack."""

from __future__ import annotations

import os

from triage.authoring.draft.names import ID
from triage.authoring.select import home_pack
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = "signatures/schema.json"


def default_pack() -> Path:
    """Return the pack that drafts go to: the checkout that triage runs from, else the user's own.

    Raises `TriageError` where there is neither.
    """
    home = home_pack()
    if (home / "pyproject.toml").is_file() and (home / "fixtures").is_dir():
        return home
    from triage.authoring.install import user_pack

    return user_pack()


def checked_id(name: str) -> str:
    """Take an id; return it. Raises `TriageError` for what is no id."""
    if not ID.fullmatch(name) or len(name) > 120 or "healthy" in name.split("/")[:1]:
        raise TriageError(f"{name!r} is no id: AREA/SLUG in lower case, such as sglang/pp-triton-layer0-value-buffer")
    return name


def schema_from(name: str) -> str:
    """Take a signature's id; return the path of the schema from its file."""
    return "../" * name.count("/") + "schema.json"


def write(pack: Path, texts: Mapping[str, str]) -> list[Path]:
    """Take a pack and texts by their paths in it; write them; return the files. The schema is left as it is if there.

    Raises `TriageError` where one of them is there, leads out of the pack through a link, or cannot be written; then
    none is left behind.
    """
    taken = [name for name in texts if os.path.lexists(pack / name) and name != SCHEMA]
    if taken:
        raise TriageError(f"{pack / taken[0]} is there already: choose another --id, or remove it first")
    done: list[Path] = []
    try:
        for name, text in texts.items():
            path = pack / name
            if name == SCHEMA and os.path.lexists(path):
                continue
            _folder_in(pack, path.parent)
            with path.open("x", encoding="utf-8", errors="surrogateescape", newline="") as file:
                done.append(path)
                file.write(text)
    except (OSError, TriageError) as error:
        for path in done:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise TriageError(f"{error.filename or pack}: {error.strerror or error}") from None
        raise
    return done


def _folder_in(pack: Path, folder: Path) -> None:
    """Make a folder of a pack, unless a link on the way leads out of the pack."""
    there = folder
    while not there.exists():
        there = there.parent
    if not there.resolve().is_relative_to(pack.resolve()):
        raise TriageError(f"{there} leads out of {pack}: refused")
    folder.mkdir(parents=True, exist_ok=True)
