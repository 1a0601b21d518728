"""The search of journal files as bytes against the reading of every message, on native journals of all formats.

What was found is read through systemd-python or journalctl. These need both, and systemd-journal-remote, but no running
systemd and no root.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from functools import cache
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.pipeline import Options, diagnose
from triage.scan import selector
from triage.sources import journal, journal_windows, journalctl, journalctl_place, reader
from triage.sources.journal import LibsystemdReader
from triage.sources.journal_raw import RawFile
from triage.sources.journalctl import JournalctlReader
from triage.sources.query import JournalQuery, manager_groups, output_groups

pytestmark = pytest.mark.systemd

FORMATS = [(compress, compact) for compress in ("yes", "no") for compact in ("0", "1")]
WAYS = ["systemd-python", "journalctl"]
NEEDLES = [b"Error", b"Traceback", b"failed", b"sg-lines", b"exited"]
REMOTE = "/lib/systemd/systemd-journal-remote"


def write(path, text, compress="yes", compact="1"):
    """Write a native journal file from an export."""
    subprocess.run(
        [shutil.which("systemd-journal-remote") or REMOTE, "--output", str(path), f"--compress={compress}", "-"],
        input=text, env={**os.environ, "SYSTEMD_JOURNAL_COMPACT": compact}, check=True, capture_output=True,
    )  # fmt: skip
    return path


@cache
def made(entries=600, first=0):
    """An export with repeated and long messages, a needle in other fields and other units, and few hits."""
    chance = random.Random(entries + first)
    text = []
    for number in range(first, first + entries):
        unit = chance.choice(["a", "a", "b"])
        message = chance.choice(["all is well", f"step {number}", "x" * 700, f"{chance.random()} " * 90])
        if chance.random() < 0.05:
            message = chance.choice(
                ["ValueError: 7", f"{number} " * 200 + "Traceback", "Error\tMESSAGE=" + "y" * 600, "MESSAGE=Error"]
            )
        now = 1_790_000_000_000_000 + number * 100_000
        text.append(
            f"__REALTIME_TIMESTAMP={now}\n__MONOTONIC_TIMESTAMP={number * 100_000 + 5}\n_BOOT_ID={'b' * 32}\n"
            f"_SYSTEMD_UNIT={unit}.service\n_COMM=Error-{number % 7}\n_CMDLINE={'Error ' * 120}\n"
            f"_UID=0\nMESSAGE={message}\n\n"
        )
    return "".join(text).encode()


@pytest.fixture(scope="module")
def native(tmp_path_factory, export):
    """Return the folder of a native journal: an export's name or `made`, and its format."""

    @cache
    def get(name, compress="yes", compact="1"):
        folder = tmp_path_factory.mktemp("native")
        write(folder / "system.journal", made() if name == "made" else export(name), compress, compact)
        return folder

    return get


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Search files of any size, and take a journal for one block in the ordinary way, whose borders cut context."""
    monkeypatch.setattr(reader, "FEWEST", 0)
    monkeypatch.setattr(reader, "LEAST_BYTES", 0)
    monkeypatch.setattr(journal_windows, "_SCANNED", 1 << 60)
    monkeypatch.setattr(journal, "BLOCK", 1 << 30)
    monkeypatch.setattr(journalctl, "BLOCK", 1 << 30)
    monkeypatch.setattr(journalctl_place, "WORTH", 0)


def select(**sizes):
    return selector(NEEDLES, **{"head": 3, "tail": 4, "context": 2, "block": 1 << 30, **sizes})


def _reader(folder):
    return LibsystemdReader(JournalQuery(directory=folder), journal.load())


def scanned(folder, groups, since=None, until=None, way="systemd-python", **sizes):
    """Return what is read with the search, what is read without it, and what the reader told of it."""
    usually = _reader(folder)
    searching = usually if way == "systemd-python" else JournalctlReader(JournalQuery(directory=folder))
    found = [(entry.cursor, entry.fields) for entry in searching.scan(groups, since, until, select(**sizes))]
    ordinary = select(**sizes)
    usual = [(e.cursor, e.fields) for e in usually.scan(groups, since, until, lambda block: ordinary(block))]  # noqa: PLW0108
    return found, usual, " ".join(searching.notes)


def changed(folder, to, change):
    """Copy a journal with its bytes changed."""
    data = bytearray((folder / "system.journal").read_bytes())
    to.mkdir(exist_ok=True)
    (to / "system.journal").write_bytes(change(data) or data)
    return to


@pytest.mark.parametrize(("compress", "compact"), FORMATS)
@pytest.mark.parametrize("name", ["made", "lab", "user", "sglang"])
def test_the_same_entries_are_read(name, compress, compact, native):
    """Of every unit, all entries and a span of time; compact or not, with compressed messages or without."""
    folder = native(name, compress, compact)
    units = sorted(_reader(folder).unique("_SYSTEMD_UNIT"))[:12]
    times = [entry.realtime for entry in _reader(folder).read([])]
    middle = (times[len(times) // 3], times[len(times) * 2 // 3])
    for groups in ([], *([*output_groups(unit), *manager_groups(unit)] for unit in units)):
        for span in ((None, None), middle):
            found, usual, told = scanned(folder, groups, *span)
            assert found == usual
            assert told.startswith("searched")


@pytest.mark.parametrize("near", [0, 5, 1000])
@pytest.mark.parametrize("name", ["made", "lab"])
def test_the_same_entries_are_read_through_journalctl(name, near, native, monkeypatch):
    """Whether what is next is sought by a call or reached by reading on."""
    monkeypatch.setattr(journal_windows, "_NEAR", near)
    folder = native(name)
    times = [entry.realtime for entry in _reader(folder).read([])]
    middle = (times[len(times) // 3], times[len(times) * 2 // 3])
    unit = "a.service" if name == "made" else "sg-lines.service"
    for groups in ([], [*output_groups(unit), *manager_groups(unit)]):
        for span in ((None, None), middle, (times[-1], None)):
            found, usual, told = scanned(folder, groups, *span, way="journalctl")
            assert found == usual
            assert told.startswith("searched")


def test_what_reading_on_does_not_reach_is_sought(native, monkeypatch):
    """Where entries of others lie between, there are fewer than their numbers say; where the journal was changed, more."""
    monkeypatch.setattr(journalctl_place, "_MOST_PASSED_OVER", 1)
    found, usual, told = scanned(native("made"), output_groups("a.service"), way="journalctl")
    assert found == usual
    assert told.startswith("searched")


def test_many_places_are_not_worth_a_call_each(native, monkeypatch):
    """journalctl reads every message then."""
    monkeypatch.setattr(journalctl_place, "WORTH", 1000)
    monkeypatch.setattr(journal_windows, "_NEAR", 5)
    found, usual, told = scanned(native("made"), output_groups("a.service"), way="journalctl")
    assert found == usual
    assert "too many places" in told
    monkeypatch.setattr(journal_windows, "_NEAR", 1000)
    assert scanned(native("made"), output_groups("a.service"), way="journalctl")[2].startswith("searched")


def test_something_is_left_out(native):
    """The comparison would hold for nothing if everything were read."""
    found, _, _ = scanned(native("made"), output_groups("a.service"))
    assert 30 < len(found) < 250
    assert any("Traceback" in fields["MESSAGE"] and len(fields["MESSAGE"]) > 600 for _, fields in found)


@pytest.mark.parametrize("way", WAYS)
def test_files_of_several_sequences_are_one_journal(way, tmp_path):
    """Each file numbers its entries from one on: the order is that of time."""
    for number in range(3):
        write(tmp_path / f"{number}.journal", made(200, 200 * number))
    found, usual, told = scanned(tmp_path, output_groups("a.service"), way=way)
    assert found == usual
    assert told.startswith("searched the bytes of 3")


@pytest.mark.parametrize("way", WAYS)
def test_an_entry_in_two_files_comes_once(way, tmp_path, native):
    """As it does from libsystemd."""
    for number in range(2):
        shutil.copy(native("made") / "system.journal", tmp_path / f"{number}.journal")
    found, usual, _ = scanned(tmp_path, output_groups("a.service"), way=way)
    assert found == usual


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("offset", "value", "told"),
    [
        (12, 0b11101, "incompatible flags"),
        (12, 0b11110, "incompatible flags"),
        (17, 0, "searched"),
        (0, 0, "read every"),
    ],
)
def test_another_format_is_read_in_the_ordinary_way(offset, value, told, way, native, tmp_path):
    """XZ, LZ4 and a destroyed header, but not for nothing; the same is read."""

    def change(data):
        data[offset] = value

    shutil.copytree(native("lab"), tmp_path / "other")
    (tmp_path / "other" / "system.journal").rename(tmp_path / "other" / "good.journal")
    folder = changed(native("made"), tmp_path / "other", change)
    found, usual, said = scanned(folder, output_groups("a.service"), way=way)
    assert found == usual
    assert told in said


@pytest.mark.parametrize("missing", ["hyperscan", "backports.zstd"])
def test_without_what_it_needs_every_message_is_read(missing, native, monkeypatch):
    """hyperscan for speed, backports.zstd for compressed messages."""
    for name in (missing, "compression.zstd") if missing == "backports.zstd" else (missing,):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    found, usual, told = scanned(native("made"), output_groups("a.service"))
    assert found == usual
    assert f"{missing} is not installed" in told


def test_too_many_hits_are_not_worth_it(native, monkeypatch):
    """Then every message is read, and the same comes."""
    monkeypatch.setattr(journal_windows, "LEAST_HITS", 10)
    found, usual, told = scanned(native("made"), output_groups("a.service"))
    assert found == usual
    assert "too many" in told


@pytest.mark.parametrize("way", WAYS)
def test_of_a_file_that_is_being_written_the_newest_entries_are_all_read(way, native, tmp_path, monkeypatch):
    """What journald had open may have grown since it was searched."""

    def online(data):
        data[16] = 1

    folder = changed(native("made"), tmp_path / "online", online)
    groups = output_groups("a.service")
    times = [e.realtime for e in _reader(folder).read(groups)]
    monkeypatch.setattr(journal_windows.time, "time_ns", lambda: (times[-100] + 5_000_000) * 1000)
    found, usual, _ = scanned(folder, groups, way=way)
    assert set(dict(usual)) < set(dict(found))
    assert len(found) >= 100
    assert [int(c.partition(";t=")[2].partition(";")[0], 16) for c, _ in found][-100:] == times[-100:]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_grows_meanwhile_is_read_at_least_as_far_as_it_was(way, tmp_path):
    """Written as journald writes, by appending, while it is searched again and again."""
    command = [shutil.which("systemd-journal-remote") or REMOTE, "--output", str(tmp_path / "live.journal"), "-"]
    groups = output_groups("a.service")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdin.write(made(600))
        process.stdin.flush()
        while not (tmp_path / "live.journal").exists() or len(list(_reader(tmp_path).read([]))) < 590:
            time.sleep(0.05)
        before = {cursor for cursor, _ in scanned(tmp_path, groups)[1][:-4]}
        assert len(before) > 30
        told = []
        for number in range(20 if way == "systemd-python" else 6):
            writer = Thread(target=process.stdin.write, args=(made(150, 600 + 150 * number),))
            writer.start()
            found, _, said = scanned(tmp_path, groups, way=way)
            writer.join()
            told.append(said)
            assert before <= {cursor for cursor, _ in found}
            assert len(dict(found)) == len(found)
        process.stdin.close()
    assert any(said.startswith("searched") for said in told)
    found, usual, _ = scanned(tmp_path, groups, way=way)
    assert found == usual


@pytest.mark.parametrize("way", WAYS)
def test_where_libsystemd_stands_elsewhere_the_rest_is_read_in_the_ordinary_way(way, native, monkeypatch):
    """A file was removed in between, or its index is damaged: nothing is lost, nothing comes twice."""
    real = RawFile.find

    def find(self, search):
        found = real(self, search)
        found[len(found) // 2].cursor += "1"
        return found

    monkeypatch.setattr(RawFile, "find", find)
    found, usual, told = scanned(native("made"), output_groups("a.service"), way=way)
    assert {cursor for cursor, _ in usual} <= {cursor for cursor, _ in found}
    assert found == sorted(found, key=lambda one: int(one[0].partition(";i=")[2].partition(";")[0], 16))
    assert len(dict(found)) == len(found)
    assert "not where libsystemd" in told


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_cut_files_give_what_the_ordinary_way_gives(way, share, zeros, native, tmp_path):
    """Cut short or zeroed from somewhere on."""

    def cut(data):
        used = int.from_bytes(data[136:144], "little")
        start = int(used * share)
        return data[:start] + bytes(len(data) - start if zeros else 0)

    folder = changed(native("made"), tmp_path / "cut", cut)
    shutil.copy(native("lab") / "system.journal", folder / "good.journal")
    for groups in ([], output_groups("a.service")):
        found, usual, _ = scanned(folder, groups, way=way)
        assert found == usual


@settings(max_examples=100, deadline=None)
@given(
    flips=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=40),
    header=st.booleans(),
    compact=st.sampled_from(["0", "1"]),
    way=st.sampled_from(WAYS),
)
def test_flipped_bytes_lose_nothing(flips, header, compact, way, native, tmp_path_factory):
    """Nothing is raised, whatever is flipped; of one byte, no entry around a hit is lost that the ordinary way gives.

    Without compressed messages, as libsystemd 252 aborts the process over some damage in them, whoever reads them.
    """

    def flip(data):
        used = int.from_bytes(data[136:144], "little")
        low = 8 if header else 3_000_000
        for share, mask in flips:
            data[int(low + share * ((264 if header else used) - low))] ^= mask

    folder = changed(native("made", "no", compact), tmp_path_factory.mktemp("flipped"), flip)
    found, usual, _ = scanned(folder, output_groups("a.service"), way=way)
    shutil.rmtree(folder)
    assert len(dict(found)) == len(found)
    if len(flips) > 1:
        return
    # Where damage ends the ordinary way, the last entries before it are its tail; the search goes on behind it.
    ended = len(usual) - 4 if usual and usual[-1] != found[-1] else len(usual)
    assert {cursor for cursor, _ in usual[:ended]} <= {cursor for cursor, _ in found}


@pytest.mark.parametrize("name", ["lab", "sglang"])
def test_the_verdict_is_the_same(name, native, monkeypatch):
    """The whole report, but for the running numbers of entries and how they were read."""

    def report(fewest):
        monkeypatch.setattr(reader, "FEWEST", fewest)
        query = JournalQuery(units=["*"], directory=native(name))
        found = diagnose(journal=query, options=Options())
        return [(v.summary, v.incident) for v in found.verdicts], [
            (i.outcome, [(f.id, f.role, f.headline if hasattr(f, "headline") else None) for f in i.failures])
            for i in found.incidents
        ]

    assert report(0) == report(1 << 40)


def test_small_journals_are_not_searched(native, monkeypatch):
    """Nothing is opened, and nothing told."""
    monkeypatch.setattr(reader, "LEAST_BYTES", 1 << 40)
    monkeypatch.setattr(journal_windows, "RawFile", None)
    found, usual, told = scanned(native("made"), output_groups("a.service"))
    assert found == usual
    assert not told


@pytest.mark.parametrize("name", ["FEWEST", "_SCANNED"])
def test_a_unit_with_few_entries_is_not_searched_for(name, native, monkeypatch):
    """However large the journal is: to read their messages takes less time than to look at all bytes."""
    few, size = (reader, 2000) if name == "FEWEST" else (journal_windows, 100)
    monkeypatch.setattr(few, name, size)
    found, usual, told = scanned(native("made"), output_groups("a.service"))
    assert found == usual
    assert not told
    monkeypatch.setattr(journal_windows.RawFile, "most", lambda *_: 1 << 40)
    assert scanned(native("made"), output_groups("a.service"))[2].startswith("searched")


def test_an_unreadable_file_is_read_in_the_ordinary_way(native, tmp_path, monkeypatch):
    """Which then tells of it."""
    folder = changed(native("made"), tmp_path / "denied", lambda data: data)
    real = os.open

    def refuse(path, *args, **more):
        if Path(path).name == "system.journal":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **more)

    monkeypatch.setattr("triage.sources.journal_objects.os.open", refuse)
    found, usual, told = scanned(folder, output_groups("a.service"))
    monkeypatch.undo()
    assert found == usual
    assert "Permission denied" in told
