"""How systemd-python's reader is used, with a stand-in for it that reads exports."""

from __future__ import annotations

import pytest

from triage.sources import journal
from triage.sources.journal import LibsystemdReader
from triage.sources.query import JournalQuery, manager_groups, output_groups


@pytest.fixture
def opened(stand_in, journal_dir):
    """Return a reader of the lab journal and the list of stand-ins that it has made."""
    made = []

    class Counted(stand_in):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            made.append(self)

    return LibsystemdReader(JournalQuery(directory=journal_dir("lab")), Counted), made


def test_entries_are_looked_up_in_a_journal_that_is_opened_once(opened):
    """Each with its own matches, forwards and backwards."""
    reader, made = opened
    for unit in ("sg-exit1.service", "sg-lines.service"):
        for groups in (output_groups(unit), manager_groups(unit)):
            entries = list(reader.read(groups))
            for newest_first, entry in ((False, entries[0]), (True, entries[-1])):
                found = next(reader.read(groups, newest_first=newest_first, limit=1))
                assert (found.cursor, found.fields) == (entry.cursor, entry.fields)
    assert len(made) == 4 + 1


def test_a_journal_of_which_files_are_missing_now_is_opened_again(opened, monkeypatch):
    """libsystemd closes a damaged file for good."""
    reader, made = opened
    assert next(reader.read([], limit=1), None)
    monkeypatch.setattr(made[0], "get_usage", lambda: 0)
    assert next(reader.read([], limit=1), None)
    assert next(reader.read([], limit=1), None)
    assert len(made) == 2


@pytest.mark.parametrize("lost", ["none", "one", "all"])
def test_wanted_entries_are_read_again_from_a_mark(lost, opened, monkeypatch, stand_in):
    """Where a mark is not found the journal is opened again, and at worst read from the block's first entry on."""
    reader, made = opened
    monkeypatch.setattr(journal, "_MARKED", 8)
    monkeypatch.setattr(journal, "BLOCK", 50)
    entries = list(reader.read([]))
    inner = {entry.cursor for n, entry in enumerate(entries) if n % 50}
    real = stand_in.seek_cursor

    def seek(self, cursor):
        real(self, cursor)
        if cursor in inner and (lost == "all" or (lost == "one" and len(made) == 3)):
            self._at += 20

    monkeypatch.setattr(stand_in, "seek_cursor", seek)
    found = list(reader.scan([], None, None, lambda block: [n for n in (0, 3, 30, 31, 49) if n < len(block)]))
    wanted = [n for n in range(len(entries)) if n % 50 in {0, 3, 30, 31, 49}]
    assert [(entry.cursor, entry.offset) for entry in found] == [(entries[n].cursor, n) for n in wanted]
