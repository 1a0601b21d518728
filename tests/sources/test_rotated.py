"""Files of one rotated log, as one text."""

import gzip

import pytest

from triage.model import TriageError
from triage.reading import open_logs, read_log
from triage.sources.rotated import RotatedSource, sets


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.log", "b.log", "a.log.2.gz", "a.log.1"], [["a.log.2.gz", "a.log.1", "a.log"], ["b.log"]]),
        (["a.log.10", "a.log.9"], [["a.log.10", "a.log.9"]]),
        (["x.log-20260525.gz", "x.log", "x.log-20260524.gz"], [["x.log-20260524.gz", "x.log-20260525.gz", "x.log"]]),
        (["d/0.log", "d/0.log.20260525-020953.gz"], [["d/0.log.20260525-020953.gz", "d/0.log"]]),
        (["a/x.log", "b/x.log.1"], [["a/x.log"], ["b/x.log.1"]]),
        (["node0.log", "node1.log"], [["node0.log"], ["node1.log"]]),
        (["worker.0", "worker.1"], [["worker.0"], ["worker.1"]]),
        (["worker", "worker.1"], [["worker.1", "worker"]]),
        (["x.log", "x.log.gz"], [["x.log"], ["x.log.gz"]]),
        (["x.log", "x.log"], [["x.log"]]),
        (["-", "x.log"], [["-"], ["x.log"]]),
    ],
)
def test_files_of_one_log_are_told_by_their_names(names, expected):
    """Oldest first; a number that may as well be a rank's joins nothing."""
    assert sets(names) == expected


def parts(folder, *texts):
    """Write a log and its rotated files, the oldest text first; return their paths, newest first."""
    names = ["x.log", *(f"x.log.{number}" for number in range(1, len(texts)))]
    for name, text in zip(reversed(names), texts, strict=True):
        (folder / name).write_bytes(text)
    return [str(folder / name) for name in names]


def test_the_files_are_read_oldest_first_as_one_text(tmp_path):
    """A line that a rotation cut in two is whole again."""
    paths = parts(tmp_path, b"one\ntw", b"o\nthree\n")
    (source,) = open_logs(paths)
    assert isinstance(source, RotatedSource)
    assert source.name == str(tmp_path / "x.log")
    assert b"".join(source.chunks()) == b"one\ntwo\nthree\n"


def test_a_place_in_the_whole_is_a_place_in_a_file(tmp_path):
    """Offsets count in the decompressed text of each file."""
    paths = parts(tmp_path, b"one\n", b"two\nthree\n")
    old = tmp_path / "x.log.1.gz"
    old.write_bytes(gzip.compress(b"one\n"))
    (source,) = open_logs([paths[0], str(old)])
    assert b"".join(source.chunks()) == b"one\ntwo\nthree\n"
    assert source.place(0) == (str(old), 0, True)
    assert source.place(8) == (paths[0], 4, False)


def test_a_traceback_across_a_rotation_is_whole_and_stands_in_its_file(tmp_path):
    """Its head is in the older file, what it raised in the newer one."""
    head = b'Traceback (most recent call last):\n  File "/opt/a.py", line 3, in run\n    go()\n'
    paths = parts(tmp_path, b"starting\n" + head, b"IndexError: list index out of range\ndone\n")
    (source,) = open_logs(paths)
    events = [event for event in read_log(source, []).extraction.events if event.exception is not None]
    assert [(event.exception.type, event.assembly) for event in events] == [("IndexError", "exact")]
    assert (events[0].at.source, events[0].at.offset) == (paths[1], 9)
    raised = next(item.at for item in events[0].evidence if item.text.startswith("IndexError"))
    assert (raised.source, raised.offset, raised.line) == (paths[0], 0, None)


def test_a_file_that_was_not_handed_in_is_a_gap(tmp_path):
    """Between the second and the newest one is missing."""
    paths = parts(tmp_path, b"three\n", b"two\n", b"one\n")
    source = RotatedSource([paths[2], paths[0]])
    assert [(gap.kind, gap.detail) for gap in source.gaps] == [("rotated", f"{paths[0]}.1 was not read")]


def test_a_log_that_was_rotated_just_now_is_empty_and_does_no_harm(tmp_path):
    """The current file has no bytes yet."""
    paths = parts(tmp_path, b"one\n", b"")
    assert b"".join(RotatedSource([paths[1], paths[0]]).chunks()) == b"one\n"


def test_a_file_that_is_missing_is_named(tmp_path):
    """The error is that of any log."""
    paths = parts(tmp_path, b"one\n")
    with pytest.raises(TriageError, match=r"x\.log\.1: no such file"):
        open_logs([*paths, str(tmp_path / "x.log.1")])
