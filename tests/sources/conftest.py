"""Journals as exports and as native files, and a reader of exports that needs no systemd."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parent.parent / "data" / "journals"


@cache
def _export(name: str) -> bytes:
    return lzma.decompress((DATA / f"{name}.export.xz").read_bytes())


@pytest.fixture(scope="session")
def export() -> Callable[[str], bytes]:
    """Return the text of `journalctl -o export` by the journal's name."""
    return _export


@pytest.fixture(scope="session")
def journal_dir(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a folder with the native journal file by the journal's name."""

    @cache
    def unpack(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        packed = (DATA / f"{name}.journal.xz").read_bytes()
        (folder / "system.journal").write_bytes(lzma.decompress(packed))
        return folder

    return unpack
