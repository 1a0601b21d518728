"""What is read around hits, by calls of journalctl that are played here, against what a selector picks; hermetic."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import Entry, TriageError
from triage.scan import selector
from triage.sources import journal_windows
from triage.sources.journal_objects import OtherwiseError
from triage.sources.journal_windows import Walk, Windows, found_at, windows
from triage.sources.journalctl_place import JournalctlPlace


class Played:
    """Answers as journalctl does, from a list of entries."""

    def __init__(self, entries):
        self.entries_ = entries
        self.calls = []

    def entries(self, groups, options, fields=""):
        self.calls.append(options)
        told = dict(option[2:].partition("=")[::2] for option in options)
        found = self.entries_
        if "since" in told:
            found = [entry for entry in found if entry.realtime >= _micro(told["since"])]
        if "until" in told:
            found = [entry for entry in found if entry.realtime <= _micro(told["until"])]
        at = next((n for n, entry in enumerate(found) if entry.cursor == told.get("cursor")), None)
        if "cursor" in told and at is None:
            return iter(())
        if "reverse" in told:
            found = found[: None if at is None else at + 1][::-1]
        elif at is not None:
            found = found[at:]
        return islice(iter(found), int(told["lines"]) if "lines" in told else None)


def _micro(text):
    return round(float(text[1:]) * 1_000_000)


def journal(hits, step=1):
    """Entries of which each `step`th number is one of the unit's; a hit has a word in its message."""
    return [
        Entry({"MESSAGE": "Error" if hit else "well"}, 1_000_000 * (n + 1), f"s=a;i={1 + n * step:x};t={n}", n)
        for n, hit in enumerate(hits)
    ]


def wanted(entries):
    return [found_at(e.cursor, e.realtime) for e in entries if e.fields["MESSAGE"] == "Error"]


@given(
    hits=st.lists(st.integers(0, 12).map(lambda n: n == 0), max_size=120),
    step=st.sampled_from([1, 30, 600, 1001]),
    head=st.integers(2, 6),
    tail=st.integers(1, 6),
    context=st.integers(0, 1),
    live=st.none() | st.integers(0, 120),
)
def test_the_walk_gives_what_a_selector_picks(hits, step, head, tail, context, live):
    """And all from a time on, where the journal is being written; each entry once, in order."""
    entries = journal(hits, step)
    around = selector([b"Error"], head=head, tail=tail, context=context, block=1 << 30)
    reader = Played(entries)
    live_from = None if live is None else 1_000_000 * live
    found = list(Walk(JournalctlPlace(reader, ()), around).entries(Windows(wanted(entries), 0, live_from), None, None))
    picked = set(around([entry.fields["MESSAGE"].encode() for entry in entries])) if entries else set()
    picked.update(n for n, entry in enumerate(entries) if live_from is not None and entry.realtime >= live_from)
    assert [entry.offset for entry in found] == sorted(picked)


def test_what_is_near_is_reached_by_reading_on():
    """One call for the last entries, one for the first ones and all hits; two more for each hit that is far away."""
    hits = [n in {20, 60, 90} for n in range(200)]
    around = selector([b"Error"], head=3, tail=3, context=1)
    for step, calls in ((1, 2), (1001, 2 + 2 * 4)):
        reader = Played(journal(hits, step))
        place = JournalctlPlace(reader, ())
        assert len(list(Walk(place, around).entries(Windows(wanted(reader.entries_), 0, None), None, None))) == 15
        assert len(reader.calls) == calls


def test_an_entry_that_journalctl_does_not_find_ends_the_walk():
    """What was given until then is known, so that the ordinary way goes on behind it."""
    entries = journal([n in {20, 60} for n in range(100)], 1001)
    around = selector([b"Error"], head=3, tail=3, context=1)
    found = wanted(entries)
    found[1].cursor += "1"
    walk = Walk(JournalctlPlace(Played(entries), ()), around)
    with pytest.raises(OtherwiseError, match="not where libsystemd"):
        list(walk.entries(Windows(found, 0, None), None, None))
    assert sorted(int(cursor.partition(";t=")[2]) for cursor in walk.given) == [0, 1, 2, 19, 20, 21]
    assert walk.last is entries[21]


def test_where_journalctl_fails_every_message_is_read(monkeypatch):
    """The ordinary way then says what is wrong, if it still is."""

    def fail(*_):
        raise TriageError("journalctl: no such thing")
        yield

    monkeypatch.setattr(journal_windows, "look", lambda *_: Windows([], 0, None))
    notes = []
    place = JournalctlPlace(SimpleNamespace(entries=fail), ())
    walk = windows(place, [], (), None, None, selector([b"Error"]), notes)
    assert list(walk) == []
    assert notes == [
        "read every message, as the journal's files could not be searched as bytes: journalctl: no such thing"
    ]
