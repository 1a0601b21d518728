"""The journal of this host as it is written: through journalctl, and through a stand-in for libsystemd."""

import os
import select
import threading

import pytest

from triage.model import TriageError
from triage.sources import feed, ongoing
from triage.sources.feed import JournalctlFeed
from triage.sources.journal import LibsystemdReader
from triage.sources.query import JournalQuery
from triage.sources.wake import LibsystemdFeed, can_wake

ENTRY = "__CURSOR=s=1;i={0}\n__REALTIME_TIMESTAMP={1}\n_SYSTEMD_UNIT=x.service\n_BOOT_ID=b\nMESSAGE=line {0}\n\n"


def entries(*numbers):
    return "".join(ENTRY.format(n, 1_700_000_000_000_000 + n) for n in numbers)


class Waking:
    """systemd-python's reader over a list that grows: two groups of wants, rotation and vacuum are not its concern."""

    rows = ()
    changed: tuple = ()
    broken = False

    def __init__(self, flags=0, path=None, files=None):
        self.at = -1
        self.data_threshold = 0
        self.matches = []

    def add_match(self, match):
        self.matches.append(match)

    def add_disjunction(self): ...

    def fileno(self):
        return self.changed[0]

    def get_events(self):
        return 1

    def get_timeout_ms(self):
        return -1

    def process(self):
        return len(os.read(self.changed[0], 1)) if select.select([self.changed[0]], [], [], 0)[0] else 0

    def seek_realtime(self, time):
        self.at = sum(row[0] < time for row in self.rows) - 1

    def seek_cursor(self, cursor):
        self.at = next((i - 1 for i, row in enumerate(self.rows) if row[1] >= cursor), len(self.rows) - 1)

    def test_cursor(self, cursor):
        return self.rows[self.at][1] == cursor

    def _next(self):
        if Waking.broken:
            raise OSError(74, "Bad message")
        if self.at + 1 >= len(self.rows):
            return False
        self.at += 1
        return True

    def _get_realtime(self):
        return self.rows[self.at][0]

    def _get_cursor(self):
        return self.rows[self.at][1]

    def _get_all(self):
        return {"MESSAGE": self.rows[self.at][2].encode(), "_SYSTEMD_UNIT": b"x.service"}


@pytest.fixture
def waking(monkeypatch):
    """The stand-in with its list, and a function that appends to it and wakes who sleeps."""
    reads, writes = os.pipe()
    monkeypatch.setattr(Waking, "rows", [])
    monkeypatch.setattr(Waking, "changed", (reads, writes))
    monkeypatch.setattr(Waking, "broken", False)

    def write(*numbers):
        Waking.rows += [(1_700_000_000_000_000 + n, f"c{n:04}", f"line {n}") for n in numbers]
        os.write(writes, b"x")

    yield write
    os.close(reads)
    os.close(writes)


def following(**options):
    return LibsystemdFeed(LibsystemdReader(JournalQuery(units=["x"]), Waking), [(("A", "b"),)], **options)


def texts(batch):
    return [entry.fields["MESSAGE"] for entry in batch]


def test_it_sleeps_until_something_is_written(waking):
    """What is there comes first, then each piece as it is written, with running numbers."""
    waking(1, 2)
    found = following(since=0)
    batches = found.batches()
    assert texts(next(batches)) == ["line 1", "line 2"]
    threading.Timer(0.1, waking, (3,)).start()
    third = next(batches)
    assert (texts(third), third[0].offset, third[0].cursor) == (["line 3"], 2, "c0003")
    threading.Timer(0.1, found.close).start()
    assert list(batches) == []


def test_it_begins_behind_a_cursor(waking):
    """Or at the next entry, where the one of the cursor was vacuumed away."""
    waking(1, 2, 3)
    assert texts(next(following(after="c0002").batches())) == ["line 3"]
    Waking.rows = [row for row in Waking.rows if row[2] != "line 2"]
    assert texts(next(following(after="c0002").batches())) == ["line 3"]


def test_without_a_beginning_only_what_is_new_comes(waking):
    """Not the whole journal."""
    waking(1, 2)
    found = following()
    threading.Timer(0.1, found.close).start()
    assert list(found.batches()) == []


def test_damage_is_opened_anew_and_passed_over(waking):
    """libsystemd gives an error for ever; what is behind the damage is read, and that entries are missing is said."""
    said = []
    waking(1)
    found = following(since=0, say=said.append)
    batches = found.batches()
    assert texts(next(batches)) == ["line 1"]
    Waking.broken = True
    far = 4_000_000_000_000_000

    def mend():
        Waking.broken = False
        Waking.rows.append((far, "c9999", "later"))
        os.write(Waking.changed[1], b"x")

    for delay, act in ((0.1, waking), (0.2, waking), (0.4, mend)):
        threading.Timer(delay, act).start()
    assert texts(next(batches)) == ["later"]
    assert len(said) == 1


def test_a_module_that_cannot_be_slept_on_is_not_used(stand_in):
    """journalctl is."""
    assert can_wake(Waking)
    assert not can_wake(stand_in)
    assert not can_wake(None)


def test_journalctl_is_started_again_behind_the_last_entry(fake_program, tmp_path, monkeypatch):
    """journald was restarted, or somebody ended it."""
    monkeypatch.setattr(feed, "_FIRST_WAIT", 0.05)
    fake_program(
        "journalctl",
        f'echo "$*" >> {tmp_path}/asked\n'
        f'case "$*" in *after-cursor*) cat <<"E"\n{entries(3)}E\n exec sleep 60;; esac\ncat <<"E"\n{entries(1, 2)}E\nexit 1',
    )
    said = []
    found = JournalctlFeed(["--directory=/j"], [(("A", "b"),), (("C", "d"),)], since=5_000_001, say=said.append)
    batches = found.batches()
    assert texts(next(batches)) == ["line 1", "line 2"]
    assert texts(next(batches)) == ["line 3"]
    found.close()
    first, second = (tmp_path / "asked").read_text().splitlines()
    assert first.endswith("--follow --no-tail --since=@5.000001 -- A=b + C=d")
    assert "--directory=/j" in first
    assert "--after-cursor=s=1;i=2" in second
    assert len(said) == 2


def test_journalctl_that_fails_at_once_is_an_error(fake_program):
    """It was asked for something that it cannot do; trying again is in vain."""
    fake_program("journalctl", "echo 'No journal files were found.' >&2; exit 1")
    with pytest.raises(TriageError, match="journalctl: No journal files were found"):
        list(JournalctlFeed([], []).batches())


@pytest.fixture
def opened(fake_program, tmp_path, monkeypatch):
    """A query that is opened through journalctl, over these entries; later ones come by the feed."""
    monkeypatch.setattr("triage.sources.journal.load", lambda: None)
    monkeypatch.setattr("triage.sources.source.journal_files", lambda query: [tmp_path / "system.journal"])
    monkeypatch.setattr("triage.sources.source.file_gaps", lambda paths, reads: [])

    def run(there, later, **options):
        fake_program(
            "journalctl",
            f'case "$*" in *--follow*) cat <<"E"\n{later}E\n exec sleep 60;; '
            f'*--reverse*--lines=1*) cat <<"E"\n{there[there.rstrip().rfind("__CURSOR") :] if there else ""}E\n;; '
            f'*) cat <<"E"\n{there}E\n;; esac',
        )
        fake_program("systemctl", "printf 'LoadState=loaded\\nActiveState=inactive\\n'")
        return ongoing.open_ongoing(JournalQuery(units=["x"], **options), lambda text: None)

    return run


def test_what_is_there_comes_once_and_then_what_is_written(opened):
    """Entries at the seam come from both sides."""
    found = opened(entries(1, 2, 3), entries(3, 4))
    batches = found.batches()
    assert texts(next(batches)) == ["line 1", "line 2", "line 3"]
    assert texts(next(batches)) == ["line 4"]
    found.feed.close()


def test_a_unit_that_never_ran_is_waited_for(opened):
    """systemd knows it; the journal has nothing of it yet."""
    found = opened("", entries(1))
    assert texts(next(found.batches())) == ["line 1"]
    assert found.past is None
    found.feed.close()


@pytest.mark.parametrize("options", [{"until": "now"}, {"files": ["/f"]}, {"invocation": "-1"}])
def test_what_is_over_is_not_followed(options):
    """It would wait for ever."""
    with pytest.raises(TriageError, match="-f goes on for ever"):
        ongoing.open_ongoing(JournalQuery(units=["x"], **options), lambda text: None)
