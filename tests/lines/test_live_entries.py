"""Journal entries as they are written: the same lines as from the whole journal."""

import lzma
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.lines import read_entries
from triage.lines.live import LiveEntries
from triage.model import Entry
from triage.sources.export import parse_export

DATA = Path(__file__).parent.parent / "data" / "journals"
ENTRIES = list(parse_export([lzma.decompress((DATA / "lab.export.xz").read_bytes())]))[:400]


def said(lines):
    return [(line.text, line.unit, line.pid, line.rank, line.origin, line.time) for line in lines]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, len(ENTRIES)), max_size=6))
def test_batches_do_not_matter(cuts):
    """However journald wakes its readers."""
    live = LiveEntries("journal")
    edges = [0, *sorted(cuts), len(ENTRIES)]
    lines = [line for a, b in pairwise(edges) for line in live.feed(ENTRIES[a:b])]
    lines += live.finish()
    assert said(lines) == said(read_entries(iter(ENTRIES), "journal", live=True))
    assert [line.offset for line in lines] == sorted(line.offset for line in lines)


@pytest.mark.parametrize("pauses", [True, False])
def test_a_line_in_pieces_waits_for_its_end(pauses):
    """journald splits at 48 KiB; after a pause a piece goes out as it is."""
    fields = {"_SYSTEMD_UNIT": "x.service", "_PID": "7", "_TRANSPORT": "stdout"}
    first = Entry({**fields, "MESSAGE": "a" * 10, "_LINE_BREAK": "line-max"}, 1, "c1", 0)
    second = Entry({**fields, "MESSAGE": "b"}, 2, "c2", 1)
    live = LiveEntries("journal")
    assert live.feed([first]) == []
    out = [line.text for line in live.pause()] if pauses else []
    out += [line.text for line in live.feed([second])]
    assert out == (["a" * 10, "b"] if pauses else ["a" * 10 + "b"])
