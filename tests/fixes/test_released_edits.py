"""The maintainers' check of edits on published wheels, here on wheels of our own."""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from pathlib import Path

import pytest

from triage.library.signature import FixSpec, Signature

TOOL = Path(__file__).parents[2] / "tools" / "released_edits.py"
CODE = "class B:\n    def f(self, pool):\n        return pool.buffer({})\n"


@pytest.fixture
def tool(monkeypatch):
    spec = importlib.util.spec_from_file_location("released_edits", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def proven(tool, tmp_path, monkeypatch, capsys):
    def run(releases, claim, argument="pool.start"):
        for release, code in releases.items():
            with zipfile.ZipFile(tmp_path / f"engine-{release}-py3-none-any.whl", "w") as wheel:
                wheel.writestr("engine/a.py", code)
                wheel.writestr("engine/b.py", "raise SystemExit\n")
                wheel.writestr(f"engine-{release}.dist-info/METADATA", f"Name: engine\nVersion: {release}\n")
        keys = {
            "file": "engine/a.py",
            "function": "B.f",
            "replace": "pool.buffer(0)",
            "with": f"pool.buffer({argument})",
        }
        fix = FixSpec("edit", releases={"engine": (claim,)}, keys=keys)
        signature = Signature("engine/x", "X", fixes=(fix,))
        library = type("Library", (), {"get": lambda self, name: signature, "signatures": [signature]})
        monkeypatch.setattr(tool, "load", library)
        words = ["released_edits", "--wheels", str(tmp_path), "--releases", ",".join(releases)]
        monkeypatch.setattr(sys, "argv", words)
        return tool.main(), capsys.readouterr().out

    return run


def test_a_right_claim_holds(proven):
    """It applies where it says so, and is refused or found fixed elsewhere."""
    status, text = proven({"1.0": CODE.format(0), "2.0": CODE.format("pool.start"), "0.9": CODE.format(0)}, ">=1,<2")
    assert status == 0
    assert text.count("ok  ") == 3
    assert "every claim holds" in text


def test_a_claim_too_wide_is_found(proven):
    """A release that the edit names and does not apply to is wrong."""
    status, text = proven({"1.0": CODE.format(0), "2.0": CODE.format("1 + 1")}, ">=1,<3")
    assert status == 1
    assert "WRONG engine 2.0" in text


def test_a_release_without_a_wheel_is_found(proven, tool, monkeypatch):
    """What could not be looked at is not proven."""
    monkeypatch.setattr(tool, "wheel_of", lambda *_: None)
    status, text = proven({"1.0": CODE.format(0)}, ">=1")
    assert status == 1
    assert "no wheel" in text
