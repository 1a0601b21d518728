"""Tracebacks of real logs (tests/data/tracebacks): what is read out of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.events.traceback import TracebackAssembler
from triage.lines import read_text

DATA = Path(__file__).parents[1] / "data" / "tracebacks"


def events_of(name):
    assembler = TracebackAssembler(lambda line: line.text == "Killed" or line.origin != "service")
    events = []
    for line in read_text([(0, (DATA / f"{name}.log").read_bytes())], name):
        assembler.feed(line)
        events += assembler.drain()
    return events + list(assembler.close())


def told(event):
    one = event.exception
    return one.type.rpartition(".")[2], one.frames[-1].function, event.assembly


def chain(event):
    one = event.exception
    links = [(link.type.rpartition(".")[2], link.relation) for link in one.chain]
    return [*links[: one.place], "here", *links[one.place :]]


CAPTURE = "init_torch_distributed"
ALL = {
    "interleaved-eight-ranks": [("IndexError", "f", "inferred")] * 6
    + [("ValueError", "f", "inferred")]
    + [("IndexError", "f", "inferred")]
    + [("ChildFailedError", "launch_agent", "exact")],
    "interleaved-four-ranks": [("AttributeError", "__init__", "inferred")] * 4,
    "interleaved-shredded": [("RuntimeError", "gated_delta_rule_decode", "inferred")] * 8,
    "journal-four-ranks": [("IndexError", "_get_value_buffer", "exact")] * 4,
    "quoted-in-runtime-error": [
        ("ValueError", "device_id_to_physical_device_id", "exact"),
        ("ValidationError", "__init__", "exact"),
    ],
    "thread-and-group": [("ConnectionResetError", "w", "exact"), ("ExceptionGroup", "thread_and_group", "exact")],
    "ray-task-error": [("ValueError", CAPTURE, "exact"), ("ActorDiedError", "init_workers", "exact")],
    "message-of-paragraphs": [("ImportError", "_load_architecture_specific_ops", "exact")],
    "logged-and-raised-again": [
        ("InductorError", "make_cubin", "exact"),
        ("InductorError", "run_engine_core", "exact"),
    ],
    "cause-then-handler-fails": [
        ("HTTPStatusError", "raise_for_status", "exact"),
        ("UnboundLocalError", "run_detokenizer_process", "exact"),
    ],
    "wrapped-by-capture": [("RuntimeError", "low_latency_dispatch", "exact")],
    "three-in-a-chain": [
        ("RuntimeError", "exception_rank1_nccl_hang", "exact"),
        ("RuntimeError", "all_reduce", "exact"),
        ("ChildFailedError", "launch_agent", "exact"),
    ],
    "build-tool-status": [("RuntimeError", "run_ninja", "exact"), ("RuntimeError", "collective_rpc", "exact")],
}


@pytest.mark.parametrize("name", sorted(ALL))
def test_type_innermost_frame_and_assembly(name):
    """Every traceback of the log comes out, in the order of its head."""
    assert [told(event) for event in events_of(name)] == ALL[name]


def test_ranks_of_shredded_heads():
    """Heads carry the ranks, whatever happens to the lines below them."""
    ranks = [event.ranks for event in events_of("interleaved-shredded")]
    assert ranks == [[f"TP{n}"] for n in (0, 3, 2, 5, 7, 6, 4, 1)]


def test_equal_stacks_that_end_differently_name_all_their_ranks():
    """Nothing says which of the eight ranks raised the other exception."""
    events = events_of("interleaved-eight-ranks")[:8]
    assert all(set(event.ranks) == {f"PP{n}" for n in range(8)} for event in events)
    assert [event.ranks[0] for event in events] == ["PP0", "PP2", "PP3", "PP4", "PP5", "PP7", "PP6", "PP1"]


def test_different_ends_get_the_frames_that_raised_them():
    """The ValueError was raised one line above the IndexError."""
    lines = {(e.exception.type, e.exception.frames[-1].line) for e in events_of("interleaved-eight-ranks")[:8]}
    assert lines == {("IndexError", 137), ("ValueError", 136)}


def test_frames_of_the_shredded_stacks_are_the_same():
    """Eight ranks that fail alike have eight equal stacks."""
    stacks = {
        tuple((f.file, f.line, f.function) for f in e.exception.frames) for e in events_of("interleaved-shredded")
    }
    assert len(stacks) == 1
    assert len(stacks.pop()) == 18


CHAINS = {
    "quoted-in-runtime-error": [("CalledProcessError", "cause"), ("RuntimeError", "remote"), "here"],
    "cause-then-handler-fails": ["here", ("OSError", "cause")],
    "wrapped-by-capture": ["here", ("Exception", "context")],
    "three-in-a-chain": [("IndexError", "cause"), ("KeyError", "context"), "here"],
    "build-tool-status": [("CalledProcessError", "cause"), "here"],
}


@pytest.mark.parametrize("name", sorted(CHAINS))
def test_chain_and_main_exception(name):
    """The exception that says why is the main one, the others stand around it as printed."""
    assert chain(events_of(name)[0]) == CHAINS[name]


def test_group_is_the_exception_and_its_leaves_the_chain():
    """Leaves of nested groups come flat, notes apart from messages."""
    group = events_of("thread-and-group")[1].exception
    assert [(link.type, link.relation) for link in group.chain] == [
        ("IndexError", "group"),
        ("IndexError", "group"),
        ("ExceptionGroup", "group"),
        ("ValueError", "group"),
        ("IndexError", "group"),
    ]
    assert group.chain[0].notes == ["while preparing stage 0"]
    assert group.chain[0].frames[-1].text == "[][i]"
    assert group.chain[3].message == "bad block size 96"


def test_thread_name_and_intros():
    """What announced a traceback stands before its head or on the line above."""
    assert events_of("thread-and-group")[0].data == {"intro": "Exception in thread zmq-recv", "thread": "zmq-recv"}
    intros = [event.data["intro"] for event in events_of("logged-and-raised-again")]
    assert intros == ["EngineCore failed to start.", "Process EngineCore_DP0"]
    assert events_of("wrapped-by-capture")[0].data["intro"] == "Scheduler hit an exception"


def test_message_with_blank_lines_is_whole():
    """sgl_kernel's message is made of paragraphs, the reason stands in the last one."""
    event = events_of("message-of-paragraphs")[0]
    assert "Attempted locations:" in event.exception.message
    assert "libnuma.so.1: cannot open shared object file" in event.exception.message
    assert "libnuma.so.1: cannot open shared object file" in event.text


def test_process_title_ends_the_message_before_it():
    """`Process EngineCore_DP0:` announces the next traceback and belongs to no message."""
    first = events_of("logged-and-raised-again")[0].exception
    assert first.message.endswith('set TORCH_LOGS="+dynamo"')
    assert "sm_121a" in first.message


def test_chain_messages_stand_in_the_text():
    """All of a chain is shown."""
    text = events_of("cause-then-handler-fails")[0].text
    assert "429 Too Many Requests" in text
    assert "Unable to load vocabulary" in text


def test_evidence_shows_head_frame_and_exception():
    """Evidence is word for word, with the places of the lines."""
    event = events_of("journal-four-ranks")[0]
    texts = [shown.text.strip() for shown in event.evidence]
    assert texts[0].endswith("Traceback (most recent call last):")
    assert any("in _get_value_buffer" in text for text in texts)
    assert texts[-1] == "IndexError: list index out of range"
    assert event.evidence[0].at.rank == "PP3 TP1"
    assert event.evidence[0].at.pid == 85727
    assert len({shown.at.offset for shown in event.evidence}) == len(event.evidence)
