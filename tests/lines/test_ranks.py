"""Rank labels: their numbers, their short form, and which process wrote under which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.lines.ranks import RankBook, compact, from_process, from_title, parse
from triage.model import Line


@pytest.mark.parametrize(
    ("label", "numbers"),
    [
        ("PP3 TP1", {"pp": 3, "tp": 1}),
        ("TP1 PP3", {"pp": 3, "tp": 1}),
        ("DP1 TP0 EP4", {"dp": 1, "tp": 0, "ep": 4}),
        ("DP1 PP0 ATTN_CP1 MOE_DP0 TP2 EP4", {"dp": 1, "pp": 0, "attn_cp": 1, "moe_dp": 0, "tp": 2, "ep": 4}),
        ("rank11", {"rank": 11}),
        ("EngineCore_DP0", {"dp": 0}),
        ("Worker_TP2", {"tp": 2}),
        ("Worker_DP0_TP1_EP1", {"dp": 0, "tp": 1, "ep": 1}),
        ("gpu3", {"gpu": 3}),
        ("encode_dp_worker[2]", {"encode_dp_worker": 2}),
        ("", {}),
        ("no numbers", {}),
    ],
)
def test_numbers_of_a_label(label: str, numbers: dict[str, int]) -> None:
    """Labels are sets: releases of SGLang print them in different orders."""
    assert parse(label) == numbers


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("sglang::scheduler_PP3_TP1", "PP3 TP1"),
        ("sglang::scheduler_DP0_PP0_ATTN_CP1_MOE_DP0_TP2", "DP0 PP0 ATTN_CP1 MOE_DP0 TP2"),
        ("sglang::scheduler", None),
        ("sglang::detokenizer", None),
        ("VLLM::Worker_TP2", "Worker_TP2"),
        ("VLLM::APIServer", None),
        ("python -m sglang.launch_server --tp 8", None),
        (None, None),
    ],
)
def test_label_in_a_process_title(title: str | None, label: str | None) -> None:
    """SGLang and vLLM name their processes after their ranks."""
    assert from_title(title) == label


@pytest.mark.parametrize(
    ("name", "rank"),
    [("EngineCore_DP0", True), ("EngineCore_0", True), ("Worker_TP2", True), ("Worker_DP0_TP1_EP1", True),
     ("APIServer", False), ("EngineCore", False), ("SGLangEngine", False), ("WorkerDict", False), ("TaskRunner_v2", False)],
)  # fmt: skip
def test_process_names_that_say_a_rank(name: str, rank: bool) -> None:
    """`(Worker_TP2 pid=475)` names a rank, `(APIServer pid=1)` a role only."""
    assert from_process(name) == (name if rank else None)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (["PP2", "PP3", "PP4", "PP5"], "PP2-5"),
        (["TP5", "TP0", "TP1", "TP2", "TP3", "TP0"], "TP0-3, TP5"),
        (["TP0", "TP1"], "TP0, TP1"),
        (["TP9", "TP10", "TP11"], "TP9-11"),
        (["PP0 TP0", "PP0 TP1", "PP0 TP2", "PP1 TP0"], "PP0 TP0-2, PP1 TP0"),
        (["TP0 EP0", "TP1 EP1", "TP2 EP2", "TP3 EP3"], "TP0-3 EP0-3"),
        (["TP0", "TP2", "TP4"], "TP0, TP2, TP4"),
        (["rank1"], "rank1"),
        ([], ""),
    ],
)
def test_short_form_of_many_labels(labels: list[str], text: str) -> None:
    """Runs of three and more become a range, in the order of their numbers."""
    assert compact(labels) == text


@given(st.lists(st.text(max_size=12), max_size=12))
def test_any_labels_have_a_short_form(labels: list[str]) -> None:
    """Labels come from logs: nothing in them makes the short form fail."""
    assert isinstance(compact(labels), str)
    assert all(isinstance(parse(label), dict) for label in labels)


def test_a_process_with_one_label_has_it_on_all_its_lines() -> None:
    """The book tells the label of a process that wrote under exactly one."""
    book = RankBook()
    for host, pid, label in [("a", 7, "TP0"), ("a", 7, None), ("b", 7, "TP4"), ("a", None, "TP9")]:
        book.learn(host, pid, label)
    assert book.label("a", 7) == "TP0"
    assert book.label("b", 7) == "TP4"
    assert book.label("c", 7) is None
    assert book.label("a", None) is None
    assert book.pids("TP4") == [("b", 7)]


def test_lines_take_the_label_that_their_process_has_shown() -> None:
    """From the first labelled line on, unlabelled ones of the same process get its label."""
    book = RankBook()
    lines = [
        Line("x", "s", n, pid=pid, rank=rank)
        for n, (pid, rank) in enumerate([(7, None), (7, "TP1"), (7, None), (8, None)])
    ]
    for line in lines:
        book.add(line)
    assert [line.rank for line in lines] == [None, "TP1", "TP1", None]
    book.add(lines[0])
    assert lines[0].rank == "TP1"


def test_a_parent_that_forwards_all_ranks_has_none() -> None:
    """A pid with several labels says nothing about its lines, for good."""
    book = RankBook()
    for label in ("TP0", "TP1", "TP0"):
        book.learn(None, 1, label)
    assert book.label(None, 1) is None
