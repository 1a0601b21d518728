"""A checkout for the commands of the documentation to work in."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


class Checkout:
    """A copy of what a contributor works on, with a `triage` on its PATH that runs the copy."""

    def __init__(self, place):
        self.place = place / "checkout"
        self.place.mkdir()
        for name in ("triage", "signatures", "demo"):
            shutil.copytree(ROOT / name, self.place / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copyfile(ROOT / "pyproject.toml", self.place / "pyproject.toml")
        (self.place / "fixtures").mkdir()
        home = place / "home"
        programs = home / "bin"
        programs.mkdir(parents=True)
        program = programs / "triage"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m triage "$@"\n')
        program.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name in ("LD_LIBRARY_PATH", "TMPDIR")}
        self.environment = {
            **kept,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.place),
            "PYTHONUTF8": "1",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_DATA_HOME": str(home / "data"),
            "COLUMNS": "80",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
        }

    def run(self, command):
        """Run a command with bash; return what it printed. Fails where it does."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A fresh checkout for the tests of a module."""
    return Checkout(tmp_path_factory.mktemp("docs"))
