"""Single native lines: device asserts, NCCL WARN, glog, torch's watchdog, compilers, C++ stacks."""

from pathlib import Path

import pytest

from triage.events.native import NativeAssembler
from triage.events.native_compiler import compiler_error
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "native"


def plain(*texts, stream="s", **fields):
    return [Line(text=text, stream=stream, offset=n, number=n, **fields) for n, text in enumerate(texts)]


def singles(lines):
    assembler = NativeAssembler()
    left = [line for line in lines if not assembler.feed(line) and not assembler.soft(line)]
    return list(assembler.close()), left


def of_file(name):
    return singles(read_text([(0, (DATA / name).read_bytes())], name))


def test_equal_device_asserts_are_one_event_with_their_number():
    """64 threads of a kernel print 64 lines; the kernel's place is the frame."""
    events, _ = of_file("device-assert.log")
    (event,) = [event for event in events if event.rule == "native/device-assert"]
    assert (event.kind, event.level, event.fatal) == ("native", 0.4, False)
    assert event.data["count"] == "64"
    assert event.data["what"] == "srcIndex < srcSelectDimSize"
    frame = event.frames[0]
    assert (frame.file, frame.line, frame.function) == (
        "/pytorch/aten/src/ATen/native/cuda/Indexing.cu",
        1515,
        "indexSelectSmallIndex",
    )
    assert len(event.evidence) == 3


def test_an_assertion_may_quote_backticks():
    """torch's own text holds quotes of the same sort as those around it."""
    text = (
        "/pytorch/aten/src/ATen/native/cuda/TensorCompare.cu:112: _assert_async_cuda_kernel: block: [0,0,0], "
        "thread: [0,0,0] Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed."
    )
    (event,) = singles(plain(text))[0]
    assert event.data["what"] == "probability tensor contains either `inf`, `nan` or element < 0"


def test_deep_gemm_s_assertions_are_device_asserts_too():
    """They name file, line and condition."""
    (event,) = singles(plain("Assertion failed: deep_gemm/include/deep_gemm/a.cuh:42, condition: x % 128 == 0"))[0]
    assert (event.rule, event.data["what"]) == ("native/device-assert", "x % 128 == 0")


def test_nccl_warnings_of_several_ranks_fold_over_volatile_parts():
    """Names of shared memory segments differ from rank to rank."""
    events, left = of_file("nccl-shm.log")
    assert [(event.rule, event.level, event.data["count"]) for event in events] == [("native/nccl-warn", 2.2, "2")] * 2
    assert events[0].data["what"].startswith("Error: failed to extend /dev/shm/nccl-")
    assert not left


def test_nccl_s_head_gives_process_and_device():
    """The head may still stand on the line."""
    (event,) = singles(plain("node1:36748:36991 [2] misc/shmutils.cc:72 NCCL WARN Error: no space"))[0]
    assert (event.data["pid"], event.data["device"], event.data["at"]) == ("36748", "2", "misc/shmutils.cc:72")


def test_a_warning_of_every_healthy_start_is_no_failure():
    """`peer access is already enabled` comes with CUDA graphs and means nothing."""
    (event,) = singles(plain("n:1:2 [0] transport/p2p.cc:275 NCCL WARN Cuda failure 'peer access is already enabled'"))[
        0
    ]
    assert event.level is None


def test_glog_errors_fold_and_keep_their_place():
    """Mooncake writes with glog; the head may be there or be peeled off."""
    text = "Session::writeBody failed. Error: Bad address (value: 14), total_transferred_bytes_: 0"
    heads = [f"E0612 14:05:26.17671{n} 1192408 tcp_transport.cpp:136] {text}" for n in range(8)]
    (event,) = singles(plain(*heads))[0]
    assert (event.rule, event.kind, event.level, event.data["count"]) == ("native/glog", "message", 2.0, "8")
    assert (event.data["what"], event.data["pid"]) == (text, "1192408")
    (peeled,) = singles(plain(text, text, record=True, severity=3, where="tcp_transport.cpp:136", pid=7))[0]
    assert (peeled.rule, peeled.data["count"], peeled.frames[0].file) == ("native/glog", "2", "tcp_transport.cpp")


def test_a_fatal_glog_line_ends_its_process():
    """glog's F lines abort."""
    (event,) = singles(plain("F0612 14:05:26.176716 1192408 master.cc:12] Check failed: a == b"))[0]
    assert (event.level, event.fatal) == (0.5, True)


@pytest.mark.parametrize(
    "text",
    [
        "I0612 14:05:26.176716 1192408 tcp_transport.cpp:136] listening",
        "E1129 13:55:22.536000 575 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: -9)",
        'E0704 02:10:42.441200    1188 pod_workers.go:1301] "Error syncing pod, skipping"',
        "Error: the port is in use",
        "AssertionError: x",
    ],
)
def test_other_loggers_lines_are_left_to_others(text):
    """Information, torch's Python log and the kubelet's klog are not glog's errors."""
    line = plain(text, record=True, severity=3)
    assert singles(line)[1] == line


def test_what_a_watchdog_adds_belongs_to_what_it_said_first():
    """Five lines of one rank's NCCL watchdog are one event, with the collective in its data."""
    events, _ = of_file("nccl-watchdog-four-ranks.log")
    watchdogs = [event for event in events if event.rule == "native/torch-watchdog"]
    assert sorted(event.ranks[0] for event in watchdogs) == ["rank1", "rank2", "rank5", "rank6"]
    (five,) = [event for event in watchdogs if event.ranks == ["rank5"]]
    assert (five.level, five.data["op"], five.data["timeout_ms"], len(five.evidence)) == (1.1, "ALLREDUCE", "600000", 5)


def test_a_dump_signal_names_the_rank_that_gave_it():
    """torch tells the other ranks who ran out of time."""
    text = "[Rank 1] Received a dump signal due to a collective timeout from rank 3 and we will try our best to dump"
    (event,) = singles(plain(text))[0]
    assert (event.data["blamed"], event.level) == ("rank3", 2.1)


def test_compilers_copies_of_an_error_fold():
    """Four ranks compile the same file under different temporary names; the source lines shown are context."""
    events, left = of_file("python-h-missing.log")
    (event,) = events
    assert (event.rule, event.level, event.data["count"]) == ("native/compiler", 0.6, "4")
    assert event.data["what"] == "Python.h: No such file or directory"
    assert event.frames[0].file.endswith("main.c")
    assert not [line for line in left if line.text and "Python.h" in line.text]


def test_a_build_s_mere_status_is_weaker_than_the_compiler_s_own_error():
    """ninja only says that something failed."""
    events, _ = singles(
        plain("FAILED: a/b.cuda.o", "/bin/sh: 1: nvcc: not found", "ninja: build stopped: subcommand failed.")
    )
    assert [event.level for event in events] == [1.6, 0.6, 1.6]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ptxas fatal   : Value 'sm_121a' is not defined", "Value 'sm_121a' is not defined"),
        ("ptxas /tmp/x.ptx, line 5; error   : Feature needs sm_90", "Feature needs sm_90"),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_120a'", "Unsupported gpu architecture 'compute_120a'"),
        ('/x/a.cuh(123): error: identifier "foo" is undefined', 'identifier "foo" is undefined'),
        ("/x/b.h:7:3: error: 'y' was not declared", "'y' was not declared"),
        ("/usr/bin/ld: cannot find -lcuda: No such file or directory", "cannot find -lcuda: No such file or directory"),
        ("gcc: fatal error: no input files", "no input files"),
        ("collect2: error: ld returned 1 exit status", "ld returned 1 exit status"),
        ("LLVM ERROR: Cannot select: intrinsic", "LLVM ERROR: Cannot select: intrinsic"),
        (
            "ninja: error: loading 'build.ninja': No such file or directory",
            "ninja: error: loading 'build.ninja': No such file or directory",
        ),
    ],
)
def test_errors_of_each_compiler_are_read(text, what):
    """One shape of each tool."""
    assert compiler_error(text).what == what


@pytest.mark.parametrize(
    "text", ["error: x", "usage: sglang: error: bad argument", "ERROR 07-27 core.py:708 fatal", "server.py:12: error"]
)
def test_other_errors_are_no_compiler_s(text):
    """argparse and loggers say `error` too."""
    assert compiler_error(text) is None


def test_a_stack_without_an_owner_is_kept_as_a_partial_one():
    """The line that announced it may be cut off."""
    stack = [
        "Exception raised from check at /pytorch/c10/cuda/CUDAException.cpp:43 (most recent call first):",
        "frame #0: c10::Error::Error() + 0x96 (0x7febb895cff1 in /x/libc10.so)",
        "frame #1: c10d::run() + 0x96 (0x7febb895dff1 in /x/libtorch_cuda.so)",
    ]
    (event,) = singles(plain(*stack))[0]
    assert (event.rule, event.level, event.assembly) == ("native/c10", None, "partial")
    assert [frame.function for frame in event.frames] == ["c10d::run()", "c10::Error::Error()", "check"]


def test_a_what_without_its_head_is_a_partial_terminate():
    """The head may be cut off, or stand in another file."""
    (event,) = singles(plain("  what():  [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)"))[0]
    assert (event.rule, event.assembly, event.ranks, event.level) == ("native/terminate", "partial", ["rank3"], 1.1)


def test_an_event_comes_out_when_no_line_has_joined_it_for_a_while():
    """A running service's events do not wait for its end."""
    assembler = NativeAssembler()
    assembler.soft(plain("n:1:2 [0] a.cc:2 NCCL WARN broken")[0])
    assert list(assembler.drain()) == []
    for line in plain(*["tick"] * 300):
        assembler.feed(line)
    assert [event.rule for event in assembler.drain()] == ["native/nccl-warn"]


def test_distinct_warnings_are_held_in_bounded_number():
    """A flood of different warnings is given out instead of being kept."""
    assembler = NativeAssembler()
    count = 0
    for number in range(4000):
        name = "".join(chr(97 + int(digit)) for digit in str(number))
        assembler.soft(plain(f"n:1:2 [0] a.cc:2 NCCL WARN broken {name}")[0])
        count += len(list(assembler.drain()))
    assert len(assembler._singles._folds) <= 2001
    assert count + len(list(assembler.close())) == 4000
