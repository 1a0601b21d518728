"""Native readers on damaged input: any cut, shuffle or junk is read without an exception and within bounds."""

import doctest
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.events import cgroup, coredump, kernel, native_compiler, native_pyspy, native_shapes
from triage.events.native import NativeAssembler
from triage.events.torchelastic import TorchElastic
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "native"
TEXTS = [line.text for path in sorted(DATA.glob("*.log")) for line in read_text([(0, path.read_bytes())], path.name)]
PIECES = [
    "terminate called after throwing an instance of 'x'",
    "  what():  [Rank 5] boom",
    "Fatal Python error: Aborted",
    "Thread 0x00007f53c9ff640 (most recent call first):",
    "Current thread 0x (most recent call first):",
    '  File "/a.py", line 1 in f',
    '  File "/a.py", line 1terminate called recursively',
    " in f",
    "frame #99999999999999: x + 0x96 (0x7f20aa2b9446 in /x.so)",
    "Exception raised from f at x:1 (most recent call first):",
    "Extension modules: a, b",
    " (total: 3)",
    "!!!!!!! Segfault encountered !!!!!!!",
    '  File "<unknown>", line 0, in f()',
    "Process 1: sglang::scheduler_TP0",
    'Thread 1 (idle): "MainThread"',
    "    f (a.py:1)",
    "thread 'x' panicked at a.rs:1:2:",
    "note: run with",
    "*** SIGSEGV received at time=1 on cpu 5 ***",
    "    @     0x7f3a2c1d4520  (unknown)  f",
    "x invoked oom-killer: a",
    "oom-kill:constraint=,task=,pid=",
    "Memory cgroup out of memory: Killed process 1 (x)",
    "NVRM: Xid (PCI:0000): 9999",
    "n:1:2 [0] NCCL WARN",
    "E0612 14:05:26.176716 1 a.cc:1] x",
    "[0]:",
    "Root Cause (first observed failure):",
    "  exitcode  : -9 (pid: 1)",
    "a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.",
    "",
]

line_texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(PIECES), st.text(max_size=80))
written = st.tuples(
    line_texts, st.sampled_from(["a", "a/0", "b"]), st.booleans(), st.sampled_from([None, "TP0", "rank1"])
)


def consume(lines):
    """Offer every line to every reader; return the native events."""
    assembler, elastic, reader = NativeAssembler(), TorchElastic(), kernel.KernelReader()
    events = []
    for number, line in enumerate(lines):
        line.number = number
        assembler.starts(line)
        if not assembler.feed(line):
            assembler.soft(line)
        events += assembler.drain()
        elastic.feed(line)
        elastic.feed_message(line)
        events += reader.feed(line)
        kernel.parse_text(line)
        coredump.parse(line)
    events += assembler.close()
    events += elastic.close()
    events += reader.close()
    return events


def check(events, count):
    for event in events:
        assert len(event.text) <= 2000
        assert len(event.evidence) <= 12
        assert all(len(shown.text) <= 500 for shown in event.evidence)
        assert len(event.frames) <= 60
        assert 0 <= event.order < max(1, count)
        assert event.level is None or 0 <= event.level <= 3
        assert all(isinstance(value, str) for value in event.data.values())


@settings(max_examples=150, deadline=None)
@given(st.lists(written, max_size=120))
def test_any_mixture_of_lines_is_read(rows):
    """Pieces of real blocks, junk, several streams and records in any order."""
    lines = [
        Line(text=text, stream=stream, offset=n, record=record, rank=rank, severity=3)
        for n, (text, stream, record, rank) in enumerate(rows)
    ]
    check(consume(lines), len(lines))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(path.name for path in DATA.glob("*.log"))), st.integers(0, 12_000), st.integers(0, 12_000)
)
def test_any_window_of_a_real_log_is_read(name, start, length):
    """Cut in the middle of a line, of a block, of a character."""
    raw = (DATA / name).read_bytes()[start : start + length]
    lines = list(read_text([(0, raw)], name))
    check(consume(lines), len(lines))


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_interleaving_of_two_crashes_keeps_both(random):
    """Two ranks' lines in one stream, each in its own order: two crashes, and no line is lost to others."""
    ranks = []
    for rank, address in ((2, "7e20aa2b9446"), (5, "7f50aa2b9446")):
        ranks.append(
            [
                "terminate called after throwing an instance of 'c10::DistBackendError'",
                f"  what():  [PG ID 2 Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
                "Exception raised from checkTimeout at ../x.cpp:632 (most recent call first):",
                f"frame #0: c10::Error::Error() + 0x96 (0x{address} in /x/libc10.so)",
                f"frame #1: c10d::watchdogHandler() + 0x96 (0x{address} in /x/libtorch_cuda.so)",
                "Fatal Python error: Aborted",
                f"Thread 0x0000{address} (most recent call first):",
                '  File "/x/torch.py", line 311 in load_file',
            ]
        )
    texts = []
    while any(ranks):
        one = random.choice([rank for rank in ranks if rank])
        texts.append(one.pop(0))
    lines = [Line(text=text, stream="s", offset=n, number=n) for n, text in enumerate(texts)]
    assembler = NativeAssembler()
    assert all(assembler.feed(line) for line in lines)
    crashes = list(assembler.close())
    assert sorted(event.ranks for event in crashes) == [["rank2"], ["rank5"]]
    assert {event.rule for event in crashes} == {"native/terminate"}


@pytest.mark.parametrize(
    "text",
    [
        "Fatal Python error: " + "a" * 5_000_000,
        "frame #0: " + "c10::" * 500_000,
        "thread '" + "'" * 100_000 + " panicked at ",
        "/a.cu:1: " + "f: block: [" * 50_000,
        "x" * 1_000_000 + ": Assertion `",
        "Thread 0x" + "f" * 200_000,
        "ld" * 200_000 + " error",
        "a" * 100_000 + ".cu:1:1: error" + "error" * 10_000,
        "[" + ":" * 100_000 + " NCCL WARN ",
        "oom-kill:constraint=" + ",task=" * 100_000,
        "NVRM: Xid (" + "0" * 100_000,
        "python" * 100_000 + "[1]: segfault at 0",
        "\0" * 100_000,
        "\ud800 Fatal Python error: \ud800",
    ],
)
def test_enormous_and_odd_lines_are_read(text):
    """Lines of megabytes and broken characters end in bounded events."""
    check(consume([Line(text=text, stream="s", offset=0) for _ in range(3)]), 3)


@pytest.mark.parametrize(
    "module", [cgroup, native_compiler, native_pyspy, native_shapes], ids=lambda module: module.__name__
)
def test_the_samples_in_the_documentation_are_true(module):
    """Doctests of the parsers."""
    assert doctest.testmod(module).failed == 0
