"""The box and the reports that `triage journal` makes of it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("triage_box", Path(__file__).with_name("box.py"))
_box = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_box)


@pytest.fixture(scope="session")
def box(tmp_path_factory):
    """A booted systemd; where it cannot boot the tests fail."""
    with _box.booted(tmp_path_factory.mktemp("box")) as booted:
        yield booted


@pytest.fixture(scope="session")
def journal(box):
    """Run `triage journal UNIT -D` on the box's journal; return (exit status, report)."""

    def run(unit, *options):
        command = [
            sys.executable,
            "-m",
            "triage",
            "journal",
            unit,
            "-D",
            str(box.journal),
            "--format",
            "json",
            *options,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1, 3), done.stderr
        return done.returncode, json.loads(done.stdout)

    return run
