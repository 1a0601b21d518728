"""How far a start has come, from logs of real starts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.lines import read_text
from triage.model import Line
from triage.sources.text import whole
from triage.watching.progress import Start

CASES = Path(__file__).parent.parent / "data/cases"
PP8 = "v0.5.6.post2-layer0-probe-pp8-triton-FIXED"


def lines(name):
    data = (CASES / name / "input.log").read_bytes()
    return [line for line in read_text(whole([data]), name) if line.origin == "service"]


def fed(some):
    start, moves = Start(), []
    for line in some:
        moves += start.feed(line)
    return start, moves


def line(text, rank=None, at=0.0, pid=None):
    return Line(text, f"pid {pid}", 0, time=at, rank=rank, pid=pid, record=True)


def test_the_phases_of_eight_stages_come_in_order():
    """Each begins once and ends once, however many ranks go through it."""
    start, moves = fed(lines(PP8))
    begun = [move.phase for move in moves if move.kind == "begin"]
    assert begun == ["args", "distributed", "weights", "kv-pool", "warmup"]
    assert sorted(move.phase for move in moves if move.kind == "end") == sorted(begun)
    assert start.ready is not None
    assert {label for label in start.ranks if label} == {f"PP{n}" for n in range(8)}


def test_a_phase_takes_from_its_first_rank_to_its_last():
    """PP1 began to load at 14:23:27, PP0 and PP3 ended at 14:23:34."""
    start, _ = fed(lines(PP8))
    span = start.span("weights")
    assert span.end - span.start == 7
    assert start.last_rank("weights") in ("PP0", "PP3")


def test_a_bar_tells_how_many_shards_are_loaded():
    """`40% Completed | 2/5`."""
    some = lines(PP8)
    upto = next(n for n, one in enumerate(some) if "2/5" in one.text)
    start, _ = fed(some[: upto + 1])
    bar = start.bar("weights")
    assert (bar.done, bar.of, bar.percent) == (2, 5, 40)


def test_progress_is_told_by_tenths():
    """Not every line of a bar."""
    some = [line("Load weight begin.", "PP0", pid=4)]
    some += [line(f"Loading shards: {n}% Completed | {n}/100 [00:01<00:01]", pid=4) for n in range(101)]
    start, moves = fed(some)
    assert [move.kind for move in moves].count("progress") == 11
    assert start.bar("weights").done == 100


def test_what_each_rank_took_is_told():
    """The quickest first."""
    times = fed(lines(PP8))[0].times("weights")
    assert len(times) == 8
    assert times == sorted(times)


def test_the_rank_that_is_behind_is_named():
    """Seven stages have loaded their weights, one has not."""
    some = [
        one for one in lines(PP8) if not (one.rank == "PP3" and ("Load weight end" in one.text or "pool" in one.text))
    ]
    upto = max(n for n, one in enumerate(some) if "Memory pool end" in one.text)
    behind = fed(some[: upto + 1])[0].behind()
    assert (behind.ranks, behind.phase) == (["PP3"], "weights")


def test_a_rank_that_never_spoke_is_behind_by_the_launch_arguments():
    """`pp_size=8` promises eight, seven have begun."""
    some = [one for one in lines(PP8) if one.rank != "PP6" and "weight end" not in one.text]
    upto = max(n for n, one in enumerate(some) if "Load weight begin" in one.text)
    behind = fed(some[: upto + 1])[0].behind()
    assert (behind.ranks, behind.phase) == (["PP6"], "")


def test_nobody_is_behind_when_all_are_as_far():
    """Nor when there is only one process."""
    start, _ = fed(lines(PP8))
    assert start.behind() is None
    assert fed(lines("v0.5.6.post2-healthy-cpu-tiny4"))[0].behind() is None


def test_lines_without_a_label_are_their_processs():
    """A progress bar is printed without the head that names the rank."""
    start, _ = fed([
        line("Load weight begin.", "PP1", pid=5), line("Load weight begin.", "PP0", pid=4),
        line("Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:01<00:01]", pid=5),
    ])  # fmt: skip
    assert start.ranks["PP1"].bars["weights"].percent == 50


def test_one_process_that_writes_for_all_ranks_says_nothing_of_who_wrote():
    """A log that was copied through one program."""
    start, _ = fed([
        line("Load weight begin.", "PP0", pid=5), line("Load weight begin.", "PP1", pid=5), line("hello", pid=5)
    ])  # fmt: skip
    assert start.ranks[""].last_text == "hello"


def test_vllm_is_ready_when_its_http_server_is_up():
    """It has no line of its own for it."""
    assert (
        fed([line("vLLM API server version 0.11.0"), line("INFO:     Application startup complete.", at=5.0)])[0].ready
        == 5.0
    )


def test_sglang_is_not():
    """Its warm-up comes after."""
    some = [line("server_args=ServerArgs(model_path='/m', tp_size=1)"), line("INFO:     Application startup complete.")]
    assert fed(some)[0].ready is None


@pytest.mark.parametrize("name", sorted(path.parent.name for path in CASES.glob("*/input.log"))[::7])
def test_any_log_can_be_fed(name):
    """Whatever it is a log of, from anywhere in it: a phase ends no earlier than it begins."""
    some = lines(name)
    for first in (0, len(some) // 2):
        start, moves = fed(some[first:])
        edges = [(move.kind, move.phase) for move in moves if move.kind != "progress"]
        assert len(set(edges)) == len(edges)
        for phase in start.order:
            span = start.span(phase)
            assert span is None or span.end is None or span.end >= span.start
        start.behind()


@given(
    st.lists(
        st.tuples(st.text(max_size=60), st.sampled_from([None, "PP0", "PP99999999999999", "TP1 PP2", "x"])), max_size=20
    )
)
def test_any_text_can_be_fed(some):
    """Nothing is raised."""
    start, _ = fed([line(text, rank) for text, rank in some])
    start.behind()
    assert start.phase == "" or start.phase in start.order
