"""What is kept of a command's output."""

import os

import pytest

from triage.model import TriageError
from triage.watching.spool import Spool


def kept(spool):
    return b"".join(spool.source().chunks())


def test_a_short_output_is_kept_whole():
    """Without a gap."""
    spool = Spool(None, "the command")
    spool.write(b"a\n")
    spool.write(b"b\xff")
    assert kept(spool) == b"a\nb\xff"
    spool.close()


def test_of_a_long_output_the_beginning_and_the_end_are_kept():
    """What is missing is said, with its size."""
    spool = Spool(None, "the command", head=100, piece=50)
    whole = b"".join(b"%06d\n" % number for number in range(1000))
    for at in range(0, len(whole), 10):
        spool.write(whole[at : at + 10])
    source = spool.source()
    text = b"".join(source.chunks())
    assert text.startswith(whole[:100])
    assert text.endswith(whole[-50:])
    assert len(text) < 300
    assert f"{len(whole) - len(text):,} bytes" in source.gaps[0].detail
    spool.close()


def test_nothing_written_is_no_log():
    """A silent command."""
    spool = Spool(None, "the command")
    assert spool.source() is None
    spool.close()


def test_a_file_of_the_users_holds_all(tmp_path):
    """However long it is, and it is the log's name."""
    spool = Spool(tmp_path / "x.log", "the command", head=10, piece=10)
    for _ in range(100):
        spool.write(b"0123456789\n")
    assert kept(spool) == b"0123456789\n" * 100
    assert spool.source().name == str(tmp_path / "x.log")
    spool.close()


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    """Before the command runs."""
    with pytest.raises(TriageError, match="cannot write"):
        Spool(tmp_path / "no/x.log", "the command")


def test_a_pipe_is_refused(tmp_path):
    """Nothing could be read back from it, and writing would wait for a reader."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TriageError, match="it is a pipe"):
        Spool(tmp_path / "pipe", "x")


def test_a_full_disk_ends_the_keeping_and_not_the_command():
    """The trouble is there to be told."""
    from pathlib import Path

    spool = Spool(Path("/dev/full"), "the command")
    spool.write(b"x")
    spool.write(b"y")
    assert "no space left" in spool.trouble
    spool.close()
