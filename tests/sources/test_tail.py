"""A text that is still being written."""

import gzip
import os

import pytest

from triage.model import TriageError
from triage.sources import tail as room
from triage.sources.tail import tail


@pytest.fixture
def step(monkeypatch):
    """What happens to the file while the reader sleeps: a list of functions, the first for the first sleep."""
    steps = []
    monkeypatch.setattr(room.time, "sleep", lambda _: steps.pop(0)())
    return steps


def take(blocks, size):
    """Read so many bytes."""
    read = b""
    while len(read) < size:
        read += next(blocks)
    return read


def test_a_pipe_ends_with_its_writer(monkeypatch):
    """Blocks come as they are written."""
    reader, writer = os.pipe()
    os.write(writer, b"one\ntwo\n")
    os.close(writer)
    monkeypatch.setattr(room.os, "read", lambda _, size, read=os.read: read(reader, size))
    assert b"".join(tail("-")) == b"one\ntwo\n"
    os.close(reader)


def test_what_is_added_to_a_file_comes(tmp_path, step):
    """First what is there, then what is written later."""
    log = tmp_path / "x.log"
    log.write_bytes(b"one\n")
    step.append(lambda: log.write_bytes(b"one\ntwo\n"))
    assert take(tail(str(log)), 8) == b"one\ntwo\n"


def test_a_rotated_file_is_read_to_its_end_and_the_new_one_from_its_beginning(tmp_path, step):
    """The name belongs to another file now."""
    log = tmp_path / "x.log"
    log.write_bytes(b"one\n")

    def rotate():
        log.rename(tmp_path / "x.log.1")
        log.write_bytes(b"two\n")

    step.append(rotate)
    assert take(tail(str(log)), 8) == b"one\ntwo\n"


def test_an_emptied_file_is_read_again(tmp_path, step):
    """As logrotate's copytruncate leaves it."""
    log = tmp_path / "x.log"
    log.write_bytes(b"a long first line\n")
    step.append(lambda: log.write_bytes(b"two\n"))
    assert take(tail(str(log)), 22) == b"a long first line\ntwo\n"


def test_an_archive_is_not_followed(tmp_path):
    """It does not grow."""
    log = tmp_path / "x.log.gz"
    log.write_bytes(gzip.compress(b"one\n"))
    with pytest.raises(TriageError, match="still being written"):
        next(tail(str(log)))


def test_a_missing_file_is_named(tmp_path):
    """The error is that of any log."""
    with pytest.raises(TriageError, match="no such file"):
        next(tail(str(tmp_path / "x.log")))
