"""How a command ends where its input or output cannot be used: one line on standard error and status 2."""

import errno
import os
import sys
from pathlib import Path

import pytest

from triage.cli.common import guarded
from triage.model import TriageError

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_full_disk_is_said(monkeypatch, capsys, size):
    """Whether writing fails, or only what is left to be written at the end."""
    with FULL.open("w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert guarded(lambda: stream.write("x" * size) and 0) == 2
        monkeypatch.undo()
    assert capsys.readouterr().err == "triage: cannot write to standard output: no space left on device\n"


def test_a_reader_that_went_away_ends_a_command_quietly(monkeypatch, capsys):
    """`triage signatures list | head -1`: what is left to be written at the end is not."""
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert guarded(lambda: stream.write("x") and 0) == 0
        monkeypatch.undo()
    assert capsys.readouterr().err == ""


def test_a_closed_output_is_said(monkeypatch, capsys):
    """`triage ... >&-`."""
    monkeypatch.setattr(sys, "stdout", None)
    assert guarded(lambda: 0) == 2
    assert capsys.readouterr().err == "triage: standard output is closed\n"


def test_a_closed_standard_error_leaves_the_report_alone(monkeypatch, capsys):
    """`print(file=None)` would write to standard output."""
    monkeypatch.setattr(sys, "stderr", None)
    assert guarded(lambda: print("note", file=sys.stderr) or 0) == 0
    assert capsys.readouterr().out == ""


def test_another_failure_of_the_system_is_one_line(capsys):
    """A folder that vanishes while it is read."""

    def work():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/gone/a\nb")

    assert guarded(work) == 2
    assert capsys.readouterr().err == "triage: /gone/a b: no such file or directory\n"


def test_an_error_is_one_line_whatever_a_name_holds(capsys):
    """A file's name may hold newlines and escapes."""

    def work():
        raise TriageError("a\nb\x1b[31m: no such file")

    assert guarded(work) == 2
    assert capsys.readouterr().err == "triage: a b\\x1b[31m: no such file\n"


def test_a_closed_input_is_said(triage, monkeypatch):
    """`triage logs <&-`."""
    monkeypatch.setattr(sys, "stdin", None)
    said = triage("logs")
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)


def test_a_report_on_a_name_that_is_no_text_can_be_written(triage, tmp_path):
    """Names of files are bytes."""
    log = os.path.join(os.fsencode(tmp_path), b"\xff.log")
    with open(log, "wb") as file:
        file.write(b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x()\nKeyError: 1\n')
    for kind in ("text", "json", "markdown", "html"):
        said = triage("logs", os.fsdecode(log), "-o", kind, "--output-file", tmp_path / "report")
        assert (said.status, said.err) == (3, "")


def test_a_log_in_place_of_a_command_is_recognised(triage, tmp_path):
    """It says which command reads it."""
    (tmp_path / "server.log").write_text("x\n", encoding="utf-8")
    said = triage(tmp_path / "server.log")
    assert said.status == 2
    assert said.err.endswith("server.log': `triage logs FILE` reads a log\n")
    assert "did you mean `triage logs`" in triage("log").err


def test_a_unit_is_named_as_to_journalctl(triage, tmp_path):
    """`-xeu`, as fingers have it: only the folder is missing."""
    said = triage("journal", "-xeu", "sglang", "--no-pager", "-D", tmp_path / "none")
    assert said.err == f"triage: {tmp_path / 'none'}: no such directory\n"
