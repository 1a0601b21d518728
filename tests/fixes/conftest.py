"""Fake installed packages, of our own code, for tests of edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triage.fixes.edit import Edit

if TYPE_CHECKING:
    from pathlib import Path

FILE = "engine/layers/attention.py"
CODE = '''\
"""Attention of a fake engine."""
import functools


class Backend:
    def __init__(self, runner):
        # runner.pool.buffer(0) in a comment and "runner.pool.buffer(0)" in a string are no code
        self.name = "runner.pool.buffer(0)"
        self.head_dim = runner.pool.buffer(0).shape[-1]

    def other(self, runner):
        return runner.pool.buffer(0)
'''
OLD = "runner.pool.buffer(0)"
NEW = 'runner.pool.buffer(getattr(runner.pool, "start_layer", 0))'


class Site:
    """A site-packages directory with one package in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, code: str | bytes = CODE, version: str | None = "1.5", file: str = FILE) -> Path:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        (self.folder / file.split("/", 1)[0] / "__init__.py").touch()
        path.write_bytes(code if isinstance(code, bytes) else code.encode())
        if version:
            info = self.folder / f"engine-{version}.dist-info"
            info.mkdir(exist_ok=True)
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: engine\nVersion: {version}\n\nText\n")
        return path

    def left(self) -> list[str]:
        """Return the names of all files of triage's own."""
        return sorted(path.name for path in self.folder.rglob("*triage*"))


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return Site(folder)


@pytest.fixture
def make_edit():
    def make(**keys):
        given = {"file": FILE, "function": "Backend.__init__", "replace": OLD, "replacement": NEW}
        return Edit(**{**given, **keys})

    return make
