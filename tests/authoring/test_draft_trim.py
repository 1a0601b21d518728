"""Excerpts of logs: the failure with what stands around it and what tells facts, whatever the blocks."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.authoring.draft.trim import trim
from triage.model import Evidence, Failure, Incident, Position, TriageError

LINES = [f"chatter {number}\n" for number in range(200)]
LINES[10] = "[2026-05-25 21:41:00] server_args=ServerArgs(model_path='m')\n"
LINES[20] = "Load weight begin. avail mem=70 GB\n"
LINES[150] = "Traceback (most recent call last):\n"
LINES[155] = "LabError: broken\n"
LOG = "".join(LINES).encode()


def failed(*numbers, role="root", log=LINES):
    """A failure whose evidence stands on these lines."""
    offsets = [len("".join(log[:number]).encode()) for number in numbers]
    at = [Position(source="log", offset=offset) for offset in offsets]
    return Failure("f1", "message", "r", "v1:1", at[0], role, evidence=[Evidence(one, "") for one in at])


def excerpt(around, *failures, log=LOG, blocks=None):
    """What is kept, as text."""
    found = trim(blocks or [log], Incident("log", failures=list(failures)), failures[0], around)
    assert found.total == log.count(b"\n")
    return b"".join(found.lines).decode()


def test_failure_and_what_stands_around_it_are_kept():
    """With the lines between its own."""
    text = excerpt(3, failed(150, 155))
    assert "".join(LINES[147:159]) in text
    assert "chatter 146\n" not in text
    assert "chatter 159\n" not in text


def test_what_tells_facts_and_phases_is_kept():
    """However far before the failure; and the end of the log."""
    text = excerpt(1, failed(150, 155))
    assert text.startswith(LINES[10] + LINES[20])
    assert text.endswith("chatter 198\nchatter 199\n")


def test_what_followed_is_kept_too():
    """Where it began."""
    text = excerpt(1, failed(150, 155), failed(190, role="consequence"))
    assert "chatter 189\nchatter 190\nchatter 191\n" in text


def test_repeats_far_away_do_not_keep_all_between():
    """Each is kept for itself."""
    lines = [*LINES[:160], *(["x" * 1000 + "\n"] * 100), *LINES[150:160]]
    text = excerpt(1, failed(150, 155, 260, 265, log=lines), log="".join(lines).encode())
    assert text.count("Traceback") == 2
    assert text.count("x" * 1000) < 20


@settings(deadline=None)
@given(st.lists(st.integers(1, len(LOG) - 1), max_size=12), st.integers(0, 5))
def test_blocks_do_not_matter(cuts, around):
    """However the log comes, the excerpt is the same, and its lines are lines of the log in their order."""
    places = [0, *sorted(set(cuts)), len(LOG)]
    blocks = [LOG[one:other] for one, other in pairwise(places)]
    text = excerpt(around, failed(150, 155), blocks=blocks)
    assert text == excerpt(around, failed(150, 155))
    rest = iter(LINES)
    assert all(line in rest for line in text.splitlines(keepends=True))


def test_line_of_megabytes_is_bounded():
    """Only its beginning is looked at and kept, and offsets behind it stay right."""
    log = LOG[:100].rpartition(b"\n")[0] + b"\n" + b"y" * 5_000_000 + b"\n" + LOG
    shift = len(log) - len(LOG)
    failure = failed(150, 155)
    for one in [failure.first, *(item.at for item in failure.evidence)]:
        one.offset += 0 if one.offset >= shift + len("".join(LINES[:150])) else shift
    blocks = [log[place : place + 65536] for place in range(0, len(log), 65536)]
    text = excerpt(1, failure, log=log, blocks=blocks)
    assert "LabError: broken\n" in text
    assert len(text) < 100_000


def test_export_format_is_refused():
    """Its entries are no lines."""
    with pytest.raises(TriageError, match="export format"):
        excerpt(1, failed(0), log=b"__CURSOR=s=1\nMESSAGE=x\n\n")
