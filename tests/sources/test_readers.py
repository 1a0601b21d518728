"""systemd-python, journalctl and the stand-in of the other tests against each other, on native journals.

These need systemd-python and journalctl, but no running systemd and no root.
"""

from __future__ import annotations

import shutil

import pytest

from triage.model import TriageError
from triage.sources import journal, open_journal
from triage.sources.export import parse_export
from triage.sources.journal import LibsystemdReader
from triage.sources.journalctl import JournalctlReader
from triage.sources.query import JournalQuery, manager_groups, other_groups, output_groups

pytestmark = pytest.mark.systemd

REAL_LOAD = journal.load
MACHINE = "1b701acae5e64de18bde3f75499a566f"

QUERIES = [
    {"units": ["sg-203exec"]},
    {"units": ["sg-oomchild", "sg-segv"]},
    {"units": ["sg-p*", "sg-lines"]},
    {"units": ["sg-flood"], "since": "@1795962800", "until": "@1795962830.5"},
    {"units": ["sg-watchdog"], "invocation": "0"},
    {"units": ["sg-pp8"], "invocation": "1", "kernel": False},
    {"units": ["sg-pp8"], "attempts": 1},
    {"matches": ["_PID=1", "+", "_TRANSPORT=kernel", "PRIORITY=3", "PRIORITY=4"]},
    {"units": ["sg-exit1"], "boot": "0"},
    {},
]


def both(query):
    return LibsystemdReader(query, REAL_LOAD()), JournalctlReader(query)


def result(**options):
    source = open_journal(JournalQuery(**options))
    return list(source.entries()), source.gaps, source.notes, source.units


@pytest.mark.parametrize("name", ["lab", "sglang", "user"])
def test_both_readers_give_what_the_export_says(name, journal_dir, export):
    """Every entry with its fields, time and cursor, in the same order; names of units and boots too."""
    lib, program = both(JournalQuery(directory=journal_dir(name)))
    expected = [(entry.fields, entry.realtime, entry.cursor) for entry in parse_export([export(name)])]
    assert [(entry.fields, entry.realtime, entry.cursor) for entry in lib.read([])] == expected
    assert list(program.read([])) == list(lib.read([]))
    assert program.unique("UNIT") == lib.unique("UNIT")
    assert program.boots() == lib.boots()


def test_both_readers_agree_on_every_unit(journal_dir):
    """Forwards, backwards, within times and by selection."""
    lib, program = both(JournalQuery(directory=journal_dir("lab")))
    for unit in sorted(lib.unique("UNIT")):
        groups = [*output_groups(unit), *manager_groups(unit), *other_groups(unit)]
        entries = list(lib.read(groups))
        assert list(program.read(groups)) == entries
        back = [entry.cursor for entry in lib.read(groups, newest_first=True)]
        assert back == [entry.cursor for entry in reversed(entries)]
        assert [entry.cursor for entry in program.read(groups, newest_first=True, limit=3)] == back[:3]
        middle = entries[len(entries) // 2].realtime
        span = (middle, middle + 10_000_000)
        assert list(program.read(groups, *span)) == list(lib.read(groups, *span))
        assert list(program.read(groups, *span, newest_first=True)) == list(lib.read(groups, *span, newest_first=True))
        for reader in (lib, program):
            assert list(reader.scan(groups, None, None, lambda block: range(2, len(block), 5))) == entries[2::5]
            scanned = [entry.cursor for entry in reader.scan(groups, *span, lambda block: range(len(block)))]
            assert scanned == [entry.cursor for entry in lib.read(groups, *span)]


@pytest.mark.parametrize("options", QUERIES, ids=str)
def test_a_query_gives_the_same_through_either(options, journal_dir, stand_in, monkeypatch):
    """Entries, gaps, notes and units are equal through systemd-python, journalctl and the stand-in."""
    options = {**options, "directory": journal_dir("lab")}
    real = result(**options)
    monkeypatch.setattr(journal, "load", lambda: None)
    assert result(**options) == real
    monkeypatch.setattr(journal, "load", lambda: stand_in)
    assert result(**options) == real


def test_both_ways_refuse_the_same(journal_dir, monkeypatch):
    """An unknown unit is the same error through either."""
    said = []
    for load in (REAL_LOAD, lambda: None):
        monkeypatch.setattr(journal, "load", load)
        with pytest.raises(TriageError) as error:
            open_journal(JournalQuery(units=["sg-exit2"], directory=journal_dir("lab")))
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_namespace_is_read_by_its_files(tmp_path, journal_dir):
    """libsystemd passes over a namespace's folder: its files are named, alone or beside the default ones."""
    for folder, name in ((MACHINE, "lab"), (f"{MACHINE}.gpu", "sglang")):
        (tmp_path / folder).mkdir()
        shutil.copy(journal_dir(name) / "system.journal", tmp_path / folder)
    for namespace, units in (
        (None, {"sg-pp8.service"}),
        ("gpu", {"sglang-pp8.service"}),
        ("+gpu", {"sg-pp8.service", "sglang-pp8.service"}),
    ):
        for reader in both(JournalQuery(directory=tmp_path, namespace=namespace)):
            found = reader.unique("_SYSTEMD_UNIT")
            assert {unit for unit in found if unit.endswith("-pp8.service")} == units


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_damaged_files_are_gaps(share, tmp_path, journal_dir, monkeypatch):
    """What libsystemd reads of a cut and of a zeroed file is told apart from all there was, either way."""
    data = (journal_dir("sglang") / "system.journal").read_bytes()
    shutil.copy(journal_dir("lab") / "system.journal", tmp_path / "good.journal")
    used = int.from_bytes(data[136:144], "little")
    start = int(used * share)
    damaged = data[:start] + bytes(used - start) + data[used:] if share > 0.5 else data[:start]
    (tmp_path / "bad.journal").write_bytes(damaged)
    gaps = []
    for load in (REAL_LOAD, lambda: None):
        monkeypatch.setattr(journal, "load", load)
        source = open_journal(JournalQuery(units=["sg-exit1"], directory=tmp_path))
        assert next(source.entries()).fields["MESSAGE"].startswith("Started sg-exit1")
        gaps.append([gap for gap in source.gaps if gap.kind == "unreadable"])
    assert len(gaps[0]) == 1
    assert gaps[0] == gaps[1]
