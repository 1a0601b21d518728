"""`triage patch`, end to end, on a fake package and a signature of our own."""

from __future__ import annotations

import argparse
import io

import pytest

from triage.cli.patch import configure, run
from triage.model import TriageError

ID = "engine/layer-zero"
SIGNATURE = """\
format: 1
id: engine/layer-zero
title: "A backend asks for layer 0"
match: {exception: IndexError, frames: ["layers/attention.py:__init__"]}
cause: "It asks for layer 0."
fixes:
  - kind: edit
    title: "Ask for the first layer"
    file: engine/layers/attention.py
    function: Backend.__init__
    replace: "runner.pool.buffer(0)"
    with: "runner.pool.buffer(runner.pool.start)"
    releases: {engine: "<2"}
  - {kind: flag, title: "Another backend", set: "--backend=other"}
references: ["https://example.org/1"]
"""


@pytest.fixture
def patch(site, tmp_path, monkeypatch):
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "layer-zero.yaml").write_text(SIGNATURE)
    parser = argparse.ArgumentParser()
    configure(parser)

    def command(*words, target=site.folder, signature=ID):
        place = ["--target", str(target)] if target else []
        return run(parser.parse_args([signature, *words, *place, "--signatures", str(pack)]))

    return command


def test_check_shows_the_diff_and_changes_nothing(site, patch, capsys):
    """It is the default, ends with 0, and says how to go on."""
    path = site.install()
    before = path.read_bytes()
    assert patch() == patch("--check") == 0
    shown = capsys.readouterr().out
    assert f"target: {site.folder} (release 1.5)" in shown
    assert "applies: engine/layers/attention.py: line 9, in Backend.__init__ (lines 6-9)" in shown
    assert "+        self.head_dim = runner.pool.buffer(runner.pool.start).shape[-1]" in shown
    assert f"triage patch {ID} --apply --target {site.folder}" in shown
    assert path.read_bytes() == before
    assert site.left() == []


def test_apply_and_revert(site, patch, capsys):
    """Apply, apply again, check, revert, revert again: all end with 0 and the original."""
    path = site.install()
    before = path.read_bytes()
    assert patch("--apply", "--yes") == 0
    assert "Restart the service" in capsys.readouterr().out
    assert b"runner.pool.start" in path.read_bytes()
    assert patch("--apply", "--yes") == 0
    assert patch() == 0
    shown = capsys.readouterr().out
    assert "already fixed" in shown
    assert "triage changed it on 20" in shown
    assert patch("--revert", "--yes") == 0
    assert path.read_bytes() == before
    assert patch("--revert", "--yes") == 0
    assert "nothing to undo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "code", "word"),
    [
        ("2.0", None, "not for this release: "),
        ("1.5", "class Backend:\n    def __init__(self): pass\n", "does not apply, other code: "),
        ("1.5", "class Backend(:\n", "does not apply, unreadable: "),
    ],
)
def test_what_does_not_apply_ends_with_1(site, patch, capsys, version, code, word):
    """The reason is shown, and --apply does nothing either."""
    path = site.install(code, version=version) if code else site.install(version=version)
    before = path.read_bytes()
    assert patch() == patch("--apply", "--yes") == 1
    assert word in capsys.readouterr().out
    assert path.read_bytes() == before


def test_a_changed_file_is_not_reverted(site, patch, capsys):
    """It ends with 1 and says why."""
    path = site.install()
    patch("--apply", "--yes")
    path.write_text("x = 1\n")
    assert patch("--revert", "--yes") == 1
    assert "changed since triage patched it" in capsys.readouterr().err
    assert path.read_text() == "x = 1\n"


def test_an_interrupted_run_is_mended_before_applying(site, patch, capsys):
    """A file that was cut short is put back, and then patched."""
    path = site.install()
    patch("--apply", "--yes")
    whole = path.read_bytes()
    path.write_bytes(whole[:100])
    assert patch() == 1
    assert "cut short" in capsys.readouterr().out
    assert patch("--apply", "--yes") == 0
    assert path.read_bytes() == whole


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_a_person_is_asked(site, patch, monkeypatch, answer, status):
    """Only a yes changes anything."""
    path = site.install()
    before = path.read_bytes()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    assert patch("--apply") == status
    assert (path.read_bytes() != before) == (status == 0)


class Terminal:
    def __init__(self, answer):
        self.answer = answer

    def isatty(self):
        return True

    def readline(self):
        return self.answer


def test_without_a_terminal_yes_has_to_be_said(site, patch, monkeypatch):
    """A script that forgot it changes nothing."""
    site.install()
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for action in ("--apply", "--revert"):
        with pytest.raises(TriageError, match="--yes"):
            patch(action)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"target": None}, "say which engine is meant"),
        ({"signature": "engine/layer-zer"}, r"no signature 'engine/layer-zer'; near: engine/layer-zero"),
        ({"target": "/nowhere"}, "no directory"),
    ],
)
def test_bad_usage_is_one_line(site, patch, keys, message):
    """It is a TriageError, which the command line ends with 2."""
    site.install()
    with pytest.raises(TriageError, match=message):
        patch(**keys)


def test_code_is_shown_with_its_escapes_made_visible(site, patch, capsys):
    """Installed text cannot drive the terminal."""
    site.install(
        "class Backend:\n    def __init__(self, runner):\n        # \x1b[31m\u202e\n        runner.pool.buffer(0)\n"
    )
    assert patch() == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31m" in shown
