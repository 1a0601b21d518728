"""The journal through journalctl, with a program in its place that shows what it was asked."""

from __future__ import annotations

from itertools import islice

import pytest

from triage.model import TriageError
from triage.sources import open_journal
from triage.sources.journal import load
from triage.sources.journalctl import JournalctlReader
from triage.sources.query import JournalQuery, manager_groups, output_groups
from triage.sources.source import choose_reader


@pytest.fixture
def journalctl(fake_program, journal_dir, tmp_path):
    """Put a journalctl on the PATH that writes its arguments down and prints the export of the lab journal."""
    asked = tmp_path / "asked"
    export = journal_dir("lab") / "system.export"
    fake_program("journalctl", f'for word; do printf "%s\\n" "$word"; done >> {asked}; echo . >> {asked}; cat {export}')

    def words():
        return [call.splitlines() for call in asked.read_text().split(".\n")[:-1]]

    return words


def test_asks_for_the_export_of_the_matches(journalctl):
    """Fields are named, every match stands behind `--`, groups are parted by `+`."""
    reader = JournalctlReader(JournalQuery(directory="/j"))
    entries = list(reader.read([*output_groups("a.service"), *manager_groups("a.service")], 1_500_000, 2_000_001))
    (words,) = journalctl()
    assert words[:3] == ["--no-pager", "--quiet", "--directory=/j"]
    assert {"--output=export", "--since=@1.500000", "--until=@2.000001"} <= set(words)
    assert words[words.index("--") + 1 :] == ["_SYSTEMD_UNIT=a.service", "+", "UNIT=a.service", "_UID=0"]
    fields = next(word for word in words if word.startswith("--output-fields=")).partition("=")[2].split(",")
    assert {"MESSAGE", "_PID", "INVOCATION_ID", "COREDUMP_UNIT"} <= set(fields)
    assert len(entries) == 277
    assert [entry.offset for entry in entries] == list(range(277))


def test_a_reader_that_stops_early_stops_journalctl(fake_program, journal_dir):
    """A limit ends the program, even one that would print for ever."""
    export = journal_dir("lab") / "system.export"
    fake_program("journalctl", f"while :; do cat {export} || exit 1; done")
    reader = JournalctlReader(JournalQuery(directory="/j"))
    assert len(list(reader.read([], limit=3))) == 3
    assert len(list(islice(reader.read([]), 900))) == 900


def test_where_it_looks(journalctl, tmp_path, journal_dir):
    """Files are patterns to journalctl, so their names are escaped; containers and namespaces have options."""
    (tmp_path / "a[1].journal").touch()
    for query, word in (
        (JournalQuery(files=[tmp_path / "a[1].journal"]), f"--file={tmp_path}/a\\[1].journal"),
        (JournalQuery(machine="box"), "--machine=box"),
        (JournalQuery(namespace="+gpu"), "--namespace=+gpu"),
    ):
        list(JournalctlReader(query).read([]))
        assert word in journalctl()[-1]


def test_newest_first_with_a_limit(journalctl):
    """journalctl itself reverses and counts."""
    list(JournalctlReader(JournalQuery(directory="/j")).read([], newest_first=True, limit=5))
    assert {"--reverse", "--lines=5"} <= set(journalctl()[0])


def test_names_and_boots(fake_program):
    """Values of a field and the list of boots, with or without its head line."""
    fake_program(
        "journalctl",
        'case "$*" in *--list-boots*) echo "IDX BOOT ID"; echo " -1 985c715c398b4b2f8672ef4e958d9295 Sun 2026"; '
        'echo "  0 8e6b98909f3048cf899fb3c7c5dd76b1 Sun 2026";; *) printf "a.service\\n\\nb.service\\n";; esac',
    )
    reader = JournalctlReader(JournalQuery(directory="/j"))
    assert reader.unique("UNIT") == {"a.service", "b.service"}
    assert reader.boots() == ["985c715c398b4b2f8672ef4e958d9295", "8e6b98909f3048cf899fb3c7c5dd76b1"]


def test_what_it_complains_of_is_the_error(fake_program, tmp_path):
    """Where nothing was printed and it failed, its first line is the message."""
    fake_program("journalctl", 'echo "No machine named box" >&2; echo more >&2; exit 1')
    reader = JournalctlReader(JournalQuery(machine="box"))
    with pytest.raises(TriageError, match=r"^journalctl: No machine named box$"):
        list(reader.read([]))
    assert reader.reads(tmp_path / "x.journal") is False


def test_without_either_the_error_says_what_to_do(monkeypatch, tmp_path):
    """Neither systemd-python nor journalctl."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TriageError, match="neither systemd-python nor journalctl is here"):
        list(JournalctlReader(JournalQuery(directory="/j")).read([]))


def test_chosen_where_systemd_python_is_missing_or_strange(monkeypatch, journal_dir, stand_in):
    """No module, or one without the names that are known here, and every container: journalctl."""
    query = JournalQuery(directory=journal_dir("lab"))
    monkeypatch.setitem(__import__("sys").modules, "systemd", None)
    assert load() is None
    assert choose_reader(query).label == "journalctl"
    monkeypatch.setattr("triage.sources.journal.load", lambda: stand_in)
    assert choose_reader(query).label == "systemd-python"
    assert choose_reader(JournalQuery(machine="box")).label == "journalctl"


def test_a_module_without_the_known_names_is_not_used(monkeypatch):
    """The private names that are needed are looked for first."""
    from types import ModuleType, SimpleNamespace

    package = ModuleType("systemd")
    package._reader = SimpleNamespace(_Reader=type("_Reader", (), {"_next": None}))
    monkeypatch.setitem(__import__("sys").modules, "systemd", package)
    monkeypatch.setitem(__import__("sys").modules, "systemd._reader", package._reader)
    assert load() is None


def test_a_container_is_read(journalctl):
    """-M: units, entries and the name of the source."""
    source = open_journal(JournalQuery(units=["sg-exit1"], machine="box", kernel=False, invocation="all"))
    assert source.name == "journal box"
    assert source.reader == "journalctl"
    assert next(source.entries()).fields["_BOOT_ID"]
    assert all("--machine=box" in words for words in journalctl())
