"""Logs of ranks mixed at random: the rules of a pipe are kept, and what is lost is known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.testing import Weave, interleave

LINES = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=40), max_size=12)
LOGS = st.lists(LINES.map(lambda lines: "".join(line + "\n" for line in lines)), min_size=1, max_size=4)


@settings(max_examples=200, deadline=None)
@given(LOGS, st.integers(0, 1000), st.sampled_from([1, 2, 5, 20]))
def test_every_line_is_there_and_each_rank_in_order(logs, seed, run):
    """Whole lines only change places between ranks."""
    mixed = interleave(logs, seed, Weave(run=run))
    for rank, log in enumerate(logs):
        lines = log.split("\n")[:-1]
        places = [mixed.whole[rank][number] for number in range(len(lines))]
        assert places == sorted(places)
        for place, line in zip(places, lines, strict=True):
            assert mixed.data[place:].startswith(line.encode() + b"\n")
    assert len(mixed.data) == sum(len(log.encode()) for log in logs)


@settings(max_examples=200, deadline=None)
@given(LOGS, st.integers(0, 1000), st.integers(1, 50))
def test_torn_writes_lose_no_byte(logs, seed, write):
    """Blocks of one rank keep their order; lines said to be whole are."""
    mixed = interleave(logs, seed, Weave(run=1, write=write))
    assert sorted(mixed.data.replace(b"\n", b"")) == sorted("".join(logs).replace("\n", "").encode())
    for rank, log in enumerate(logs):
        for number, place in mixed.whole[rank].items():
            assert mixed.data[place:].startswith(log.split("\n")[number].encode() + b"\n")


@settings(max_examples=100, deadline=None)
@given(LOGS, st.integers(0, 1000), st.floats(0, 1), st.floats(0, 1))
def test_what_is_cut_off_is_not_called_whole(logs, seed, head, tail):
    """Lines that are said to stand there do."""
    mixed = interleave(logs, seed, Weave(lost_head=head, lost_tail=tail, labels=True))
    for rank, log in enumerate(logs):
        for number, place in mixed.whole[rank].items():
            assert mixed.data[place:].startswith(f"[rank{rank}]: {log.split(chr(10))[number]}\n".encode())


@pytest.mark.parametrize("carrier", ["", "journal", "compose", "cri", "kubectl"])
def test_the_same_seed_gives_the_same_log(carrier):
    """Seeds are what a failure is reported with."""
    weave = Weave(carrier=carrier, colour=0.3, bars=0.3, nccl=0.3, crlf=True)
    logs = ["a\n" * 50, "b\n" * 50]
    assert interleave(logs, 7, weave) == interleave(logs, 7, weave)
    assert interleave(logs, 7, weave).data != interleave(logs, 8, weave).data


def test_runs_have_the_length_that_was_asked_for():
    """One line by turns, or twenty in a row on the average."""
    logs = ["a\n" * 4000, "b\n" * 4000]
    for run in (1, 5, 20):
        letters = interleave(logs, 1, Weave(run=run)).text.replace("\n", "")[:4000]
        turns = letters.count("ab") + letters.count("ba") + 1
        assert 0.8 < len(letters) / turns / run < 1.25


@pytest.mark.parametrize("wrong", [{"run": 0}, {"write": 0}, {"colour": 2}, {"lost_tail": -0.1}])
def test_nonsense_is_refused(wrong):
    """A share is between 0 and 1, a run 1 at least."""
    with pytest.raises(ValueError):
        interleave(["a\n"], 0, Weave(**wrong))


def test_no_log_is_refused():
    """There is nothing to mix."""
    with pytest.raises(ValueError):
        interleave([], 0)
