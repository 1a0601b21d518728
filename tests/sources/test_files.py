"""Journal files: which there are, which can't be read, which are damaged."""

from __future__ import annotations

import os
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources import files
from triage.sources.files import file_gaps, inspect, journal_files, namespaces
from triage.sources.query import JournalQuery

MACHINE = "1b701acae5e64de18bde3f75499a566f"


def layout(root, *names):
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")


def names(query):
    return sorted(path.name for path in journal_files(query))


def test_finds_files_of_a_folder_and_of_the_machines_in_it(tmp_path):
    """Rotated, broken-off and user journals count; other files, and namespaces, do not."""
    layout(
        tmp_path,
        "a.journal",
        f"{MACHINE}/system.journal",
        f"{MACHINE}/system@0005.journal",
        f"{MACHINE}/user-1000.journal~",
        f"{MACHINE}/note.txt",
        f"{MACHINE}.gpu/system2.journal",
        "other/system3.journal",
    )
    query = JournalQuery(directory=tmp_path)
    assert names(query) == ["a.journal", "system.journal", "system@0005.journal", "user-1000.journal~"]
    assert namespaces(query) == ["gpu"]


def test_finds_the_files_of_a_namespace(tmp_path):
    """A name is that namespace alone, +NAME the default too, * everything."""
    layout(tmp_path, f"{MACHINE}/system.journal", f"{MACHINE}.gpu/gpu.journal", f"{MACHINE}.web/web.journal")

    def of(namespace):
        return names(JournalQuery(directory=tmp_path, namespace=namespace))

    assert of("gpu") == ["gpu.journal"]
    assert of("+gpu") == ["gpu.journal", "system.journal"]
    assert of("*") == ["gpu.journal", "system.journal", "web.journal"]
    with pytest.raises(TriageError, match="no journal of namespace nope; namespaces there: gpu, web"):
        of("nope")


def test_files_may_be_patterns(tmp_path):
    """--file takes a path or, as in journalctl, a pattern."""
    layout(tmp_path, "a.journal", "b.journal", "x[1].journal")
    assert names(JournalQuery(files=[tmp_path / "*.journal"])) == ["a.journal", "b.journal", "x[1].journal"]
    assert names(JournalQuery(files=[tmp_path / "x[1].journal"])) == ["x[1].journal"]


def test_wrong_places_are_user_errors(tmp_path):
    """Missing, of the wrong kind, or without journals: one line that says it."""
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    for query, message in (
        (JournalQuery(directory=tmp_path / "nope"), "no such directory"),
        (JournalQuery(directory=tmp_path / "file"), "is no directory: name a journal file with --file"),
        (JournalQuery(directory=tmp_path / "empty"), "holds no journal files"),
        (JournalQuery(files=[tmp_path / "nope"]), "no such file"),
        (JournalQuery(files=[tmp_path]), "is a directory: read it with -D"),
        (JournalQuery(files=["/dev/zero"]), "is no journal file, but a pipe or a device"),
    ):
        with pytest.raises(TriageError, match=message):
            journal_files(query)


def test_a_whole_file_has_nothing_wrong(journal_dir):
    """A real journal tells how many entries it holds."""
    assert inspect(journal_dir("lab") / "system.journal")[::2] == (277, None)


def damaged(tmp_path, journal_dir, change):
    data = bytearray((journal_dir("sglang") / "system.journal").read_bytes())
    path = tmp_path / "system.journal"
    path.write_bytes(change(data))
    entries, _, why = inspect(path)
    return entries, why


def test_sees_files_that_are_cut_short(tmp_path, journal_dir):
    """libsystemd reads nothing of them, without a word."""
    entries, why = damaged(tmp_path, journal_dir, lambda data: data[:500_000])
    assert entries == 1598
    assert "cut short" in why
    assert damaged(tmp_path, journal_dir, lambda data: data[:100])[1] == (
        "this is no journal file, or its header is destroyed"
    )
    assert damaged(tmp_path, journal_dir, lambda data: b"")[1] == "the file is empty"


def test_counts_entries_that_a_hole_has_swallowed(tmp_path, journal_dir):
    """What lies behind zeros is skipped by libsystemd without a word; about how many entries, is told."""

    def zeroed(data, share):
        used = struct.unpack_from("<Q", data, 136)[0]  # the last object's offset
        start = int(used * share)
        data[start:used] = bytes(used - start)
        return data

    entries, why = damaged(tmp_path, journal_dir, lambda data: zeroed(data, 0.9))
    assert entries == 1598
    assert 500 < int(why.split("about ")[1].split()[0]) < 900
    assert "1598 of its 1598 entries" in damaged(tmp_path, journal_dir, lambda data: zeroed(data, 0.5))[1]


def test_an_unknown_format_is_left_to_libsystemd(tmp_path, journal_dir):
    """What a newer systemd writes may look different inside: only whether it can be read counts."""

    def newer(data):
        data[13] = 0xFF
        return data

    assert damaged(tmp_path, journal_dir, newer) == (1598, None)
    path = tmp_path / "system.journal"
    other = journal_dir("lab") / "system.journal"
    (gap,) = file_gaps([path, other], lambda file: file == other)
    assert gap.kind == "unreadable"
    assert "can't read its 1598 entries" in gap.detail


def test_damage_is_a_gap_and_the_rest_is_read(tmp_path, journal_dir):
    """One bad file of two is a gap; nothing but bad files is an error."""
    bad = tmp_path / "bad.journal"
    bad.write_bytes(b"garbage" * 100)
    good = journal_dir("lab") / "system.journal"
    (gap,) = file_gaps([bad, good], lambda path: path == good)
    assert (gap.kind, gap.detail.startswith(f"{bad}: this is no journal file")) == ("unreadable", True)
    with pytest.raises(TriageError, match="the journal can't be read"):
        file_gaps([bad], lambda _: False)


def test_files_of_others_are_a_permission_gap(monkeypatch, journal_dir):
    """What this user may not read is told once, with what to do."""
    mine, other = journal_dir("user") / "system.journal", journal_dir("lab") / "system.journal"
    monkeypatch.setattr(files.os, "access", lambda path, _mode: path != other)
    (gap,) = file_gaps([mine, other], lambda _: True)
    assert gap.kind == "permission"
    assert "1 of 2 journal files" in gap.detail
    assert "systemd-journal" in gap.detail
    with pytest.raises(TriageError, match="not readable for you"):
        file_gaps([other], lambda _: False)


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_any_damage_is_survived(tmp_path_factory, journal_dir, data):
    """Whatever bytes a journal file holds, it is looked over without an exception."""
    content = bytearray((journal_dir("user") / "system.journal").read_bytes()[:200_000])
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.one_of(st.integers(0, 300), st.integers(0, len(content) - 9)))
        content[at : at + 8] = data.draw(st.binary(min_size=8, max_size=8))
    if data.draw(st.booleans()):
        struct.pack_into("<QQ", content, 88, 256, len(content) - 256)
    path = tmp_path_factory.getbasetemp() / f"any-{os.getpid()}.journal"
    path.write_bytes(content)
    entries, _, why = inspect(path)
    assert entries >= 0
    assert why is None or why
