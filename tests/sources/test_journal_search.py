"""Which entries the bytes of a journal file name, against the export of the same journal; without systemd."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.sources.export import parse_export
from triage.sources.files import inspect
from triage.sources.journal_hash import siphash24
from triage.sources.journal_objects import JournalFile, OtherwiseError
from triage.sources.journal_raw import RawFile, Search
from triage.sources.query import matches, output_groups

NEEDLES = [b"Error", b"exited", b"sg-", b"Traceback"]


def found(path, groups, left=1 << 30):
    file = RawFile(path)
    try:
        return file.find(Search(NEEDLES, groups, left))
    finally:
        file.close()


@pytest.mark.parametrize("name", ["lab", "sglang", "user"])
@pytest.mark.parametrize("groups", [[], output_groups("sg-lines.service"), [(("_UID", "0"), ("_UID", "1000"))]])
def test_the_entries_with_a_literal_are_found(name, groups, journal_dir, export):
    """All of them, no others, by the cursors that libsystemd gives."""
    expected = [
        (entry.cursor, entry.realtime)
        for entry in parse_export([export(name)])
        if any(needle.decode() in entry.fields.get("MESSAGE", "") for needle in NEEDLES)
        and (not groups or matches(groups, entry.fields))
    ]
    entries = found(journal_dir(name) / "system.journal", groups)
    assert [(entry.cursor, entry.realtime) for entry in entries] == expected


def test_too_many_are_not_searched_for(journal_dir):
    """The ordinary way is as fast then."""
    with pytest.raises(OtherwiseError, match="too many"):
        found(journal_dir("lab") / "system.journal", [], left=5)


def test_a_file_that_is_missing_is_read_otherwise(tmp_path):
    """It was removed since it was listed."""
    with pytest.raises(OtherwiseError, match="gone"):
        JournalFile(tmp_path / "gone.journal")


def test_an_offset_beyond_all_files_is_damage(journal_dir, tmp_path):
    """A flipped high bit of an entry's offset, which no file offset can be, is told, not raised."""
    path = tmp_path / "system.journal"
    data = bytearray((journal_dir("lab") / "system.journal").read_bytes())
    array = int.from_bytes(data[176:184], "little")
    data[array + 24 : array + 24 + 8 * 4] = b"\xff" * 32
    path.write_bytes(data)
    assert "damaged" in (inspect(path)[2] or "")


@settings(deadline=None)
@given(
    flips=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=30),
    header=st.booleans(),
    share=st.floats(0, 1),
)
def test_a_damaged_file_is_read_otherwise_or_as_it_is(flips, header, share, journal_dir, tmp_path_factory):
    """Flipped bytes and cut files raise nothing else."""
    data = bytearray((journal_dir("lab") / "system.journal").read_bytes())
    low, high = (8, 264) if header else (5000, len(data) - 1)
    for part, mask in flips:
        data[int(low + part * (high - low))] ^= mask
    path = tmp_path_factory.mktemp("damaged") / "system.journal"
    path.write_bytes(data[: int(len(data) * share)] if share < 0.5 else data)
    assert inspect(path)[0] >= 0
    try:
        found(path, output_groups("sg-lines.service"))
    except OtherwiseError as error:
        assert str(error)
    path.unlink()


@pytest.mark.parametrize(
    ("size", "value"), [(0, 0x726FDB47DD0E0E31), (8, 0x93F5F5799A932462), (15, 0xA129CA6149BE45E5)]
)
def test_the_hash_is_siphash(size, value):
    """Values of the reference implementation, for the bytes and the key that it uses."""
    assert siphash24(bytes(range(size)), bytes(range(16))) == value


@pytest.mark.parametrize("name", ["lab", "sglang", "user"])
def test_entries_are_counted_through_the_hash_table(name, journal_dir, export):
    """Of each unit as many as the export has, of a unit that is not there none."""
    entries = list(parse_export([export(name)]))
    file = RawFile(journal_dir(name) / "system.journal")
    units = {entry.fields["_SYSTEMD_UNIT"] for entry in entries if "_SYSTEMD_UNIT" in entry.fields}
    for unit in [*units, "other.service"]:
        groups = output_groups(unit)
        assert file.most(groups) == sum(matches(groups, entry.fields) for entry in entries)
    assert file.most([(("_UID", "0"), ("_UID", "1000"), ("_SYSTEMD_UNIT", "other.service"))]) == 0
    assert file.most([]) == file.entries == len(entries)
    file.close()


def test_where_hashes_have_no_key_all_entries_count(journal_dir, tmp_path):
    """Files of systemd 245 and older use another hash."""
    data = bytearray((journal_dir("lab") / "system.journal").read_bytes())
    data[12] &= ~4
    (tmp_path / "system.journal").write_bytes(data)
    file = RawFile(tmp_path / "system.journal")
    assert file.most(output_groups("other.service")) == file.entries > 0
    file.close()


def test_a_chain_of_hashes_without_an_end_is_damage(journal_dir, tmp_path):
    """A data object that follows itself."""
    path = journal_dir("lab") / "system.journal"
    file = RawFile(path)
    wanted = siphash24(b"_UID=0", file._key)
    at = file._buckets + wanted % file._most_buckets * 16
    file.close()
    data = bytearray(path.read_bytes())
    first = int.from_bytes(data[at : at + 8], "little")
    data[first + 16 : first + 24] = b"\1" * 8
    data[first + 24 : first + 32] = first.to_bytes(8, "little")
    (tmp_path / "system.journal").write_bytes(data)
    with pytest.raises(OtherwiseError, match="hash table"):
        RawFile(tmp_path / "system.journal").count(b"_UID=0")


@pytest.mark.parametrize("name", ["lab", "sglang"])
def test_entries_of_a_span_of_time_are_counted(name, journal_dir, export):
    """Both ends included; never none, where there are any at another time."""
    entries = [entry for entry in parse_export([export(name)]) if matches([(("_UID", "0"),)], entry.fields)]
    times = [entry.realtime for entry in entries]
    file = RawFile(journal_dir(name) / "system.journal")
    for since, until in ((times[5], None), (None, times[5]), (times[5], times[-9]), (times[5] + 1, times[-9] - 1)):
        within = [time for time in times if (since or 0) <= time <= (until or time)]
        assert file.most([(("_UID", "0"),)], since, until) == len(within)
    assert file.most([(("_UID", "0"),)], times[-1] + 1, None) == 1
    file.close()
