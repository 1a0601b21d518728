"""Native crashes out of real logs: which block a line belongs to, what the event says, what it is worth."""

from pathlib import Path

import pytest

from triage.events.native import NativeAssembler
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "native"


def lines_of(name):
    for number, line in enumerate(read_text([(0, (DATA / name).read_bytes())], name)):
        line.number = number
        yield line


def plain(*texts, stream="s"):
    return [Line(text=text, stream=stream, offset=number, number=number) for number, text in enumerate(texts)]


def run(lines):
    """Feed lines as the extractor does; return the events in the order of their lines, and the lines left over."""
    assembler = NativeAssembler()
    events, left = [], []
    for line in lines:
        if not assembler.feed(line) and not assembler.soft(line):
            left.append(line)
        events += assembler.drain()
    events += assembler.close()
    return sorted(events, key=lambda event: event.order), left


def functions(event):
    return [frame.function for frame in event.frames]


def test_faulthandler_names_the_crashing_thread_outermost_first():
    """The frames of the current thread are turned round; the signal and the innermost lines are told."""
    event = run(lines_of("segfault-rank1.log"))[0][0]
    assert (event.kind, event.rule, event.level, event.fatal) == ("native", "native/faulthandler", 0.1, True)
    assert functions(event) == ["<module>", "segfault_rank1", "string_at"]
    assert event.data["signal"] == "SIGSEGV"
    assert event.data["thread"] == "crashing"
    assert event.text.startswith("Fatal Python error: Segmentation fault")
    assert event.assembly == "exact"


def test_a_record_glued_into_the_list_of_modules_leaves_its_end_consumed():
    """`(total: 13)` after another rank's record still belongs to the dump."""
    _, left = run(lines_of("segfault-rank1.log"))
    assert not [line for line in left if "total: 13" in line.text]
    assert [line for line in left if line.text.startswith("Decode batch")]


def test_a_native_stack_above_the_dump_is_the_crashing_one():
    """Without a current thread the handler's own stack says who crashed, not the first thread listed."""
    (event,) = run(lines_of("mooncake-segfault.log"))[0]
    assert event.rule == "native/faulthandler"
    assert functions(event)[-2:] == ["mooncake::MemcpyWorkerPool::workerThread()", "__memmove_avx512_unaligned_erms"]
    assert event.data["library"] == "mooncake"
    assert "MemcpyWorkerPool::workerThread" in event.text
    assert "queue.py:get" in event.data["threads"]


def test_terminate_and_its_dump_are_one_crash_with_the_exception_s_level():
    """`Aborted` is only how a C++ exception ends; a frame torn by `terminate called recursively` is put together."""
    (event,) = run(lines_of("xgrammar-abort.log"))[0]
    assert (event.rule, event.level, event.fatal) == ("native/terminate", 0.2, True)
    assert event.data["type"] == "xgrammar::LoggingError"
    assert event.data["library"] == "xgrammar"
    assert "RecursionGuard: Maximum recursion depth exceeded" in event.data["what"]
    assert event.data["signal"] == "SIGABRT"
    assert functions(event)[-2:] == ["dispatch_json", "compile_json_schema"]
    assert event.data["thread"] == "any"


def test_what_is_read_though_it_is_all_there_is():
    """A terminate without a dump keeps its what() and its type."""
    event = run(lines_of("collective-mismatch.log"))[0][0]
    assert event.data["type"] == "gloo::EnforceNotMet"
    assert event.data["library"] == "gloo"
    assert event.level == 0.2
    assert "op.preamble.length <= op.nbytes" in event.text


def test_a_cuda_error_that_ends_a_thread_is_weaker_than_the_exception_that_python_raises():
    """The watchdog thread only sees what the process's own code raises too."""
    (event,) = run(lines_of("cuda-error-terminate.log"))[0]
    assert (event.rule, event.level) == ("native/terminate", 0.9)
    assert functions(event)[-1] == "c10_cuda_check_implementation"
    assert event.frames[-1].file.endswith("CUDAException.cpp")
    assert "library" not in event.data


def test_four_ranks_that_die_at_once_give_four_crashes():
    """Ranks come from the what() texts, the first to die first; what cannot be told apart is inferred."""
    events, _ = run(lines_of("nccl-watchdog-four-ranks.log"))
    crashes = [event for event in events if event.rule == "native/terminate"]
    assert [event.ranks for event in crashes] == [["rank5"], ["rank2"], ["rank1"], ["rank6"]]
    assert {event.level for event in crashes} == {1.1}
    assert {event.assembly for event in crashes} == {"inferred"}
    assert all("Watchdog caught collective operation timeout" in event.text for event in crashes)
    assert all(functions(event)[-1] == "checkTimeout" for event in crashes)


def test_no_line_of_four_interleaved_dumps_is_left_over():
    """Only the launcher's own words go on to the other readers."""
    _, left = run(lines_of("nccl-watchdog-four-ranks.log"))
    assert [line.text for line in left if line.text] == [
        "Received sigquit from a child process. It usually means the child failed.",
        "Killed",
    ]


def test_a_watchdog_s_stack_goes_to_the_rank_that_announced_it():
    """The C++ stack behind a labelled line carries no label; it belongs to no crash that is still open."""
    events, _ = run(lines_of("watchdog-stacks.log"))
    watchdogs = [event for event in events if event.rule == "native/torch-watchdog"]
    assert [event.ranks for event in watchdogs] == [["rank0"], ["rank1"]]
    assert all(functions(event)[-1] == "c10_cuda_check_implementation" for event in watchdogs)
    assert all(not event.frames for event in events if event.rule == "native/terminate")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("terminate called without an active exception", 1.5),
        ("free(): invalid pointer", 0.1),
        ("double free or corruption (!prev)", 0.1),
        ("*** stack smashing detected ***: terminated", 0.1),
        ("python3: ../lib/IR/Value.cpp:98: void f(int): Assertion `x < 3' failed.", 0.2),
        ("*** SIGSEGV received at time=1795963257 on cpu 5 ***", 0.1),
        ("Fatal Python error: Aborted", 1.4),
        ("Fatal Python error: _enter_buffered_busy: could not acquire lock at interpreter shutdown", 2.8),
        ("Fatal Python error: init_fs_encoding: failed to get the Python codec", 0.1),
    ],
)
def test_a_single_head_is_a_crash_of_its_level(text, level):
    """Whatever is cut off behind it, a head is told and judged."""
    line = plain(text)[0]
    assert NativeAssembler().starts(line)
    (event,) = run([line])[0]
    assert (event.level, event.fatal, event.kind) == (level, True, "native")


@pytest.mark.parametrize(
    "text",
    [
        "Decode batch, #running-req: 3",
        "Process SpawnProcess-1:",
        "the kernel said: Fatal Python error: Aborted",
        "thread pool started",
        "Traceback (most recent call last):",
        "/pytorch/a.cu:1: f: block: [0,0,0], thread: [0,0,0] Assertion `x` failed.",
        "",
    ],
)
def test_other_lines_open_no_block(text):
    """Quoted heads, tracebacks and device asserts are no hard start."""
    assert not NativeAssembler().starts(plain(text)[0])


def test_a_head_glued_behind_another_writer_s_text_is_found():
    """Two processes share a line when one wrote no newline."""
    lines = plain(
        "[..] 11/512 loadingterminate called after throwing an instance of 'std::bad_alloc'",
        "  what():  std::bad_alloc",
    )
    assert NativeAssembler().starts(lines[0])
    (event,) = run(lines)[0]
    assert event.data["type"] == "std::bad_alloc"


def test_records_of_others_tear_no_block():
    """A labelled record in the middle goes on to the other readers, the dump goes on."""
    lines = plain(
        "Fatal Python error: Segmentation fault",
        "",
        "Current thread 0x00007fcbb23c2140 (most recent call first):",
        "Decode batch",
        '  File "/x/a.py", line 3 in f',
    )
    lines[3].record = True
    events, left = run(lines)
    assert left == [lines[3]]
    assert functions(events[0]) == ["f"]


def test_a_block_closes_after_some_hundred_foreign_lines():
    """What looks like a frame much later is no part of an old crash."""
    lines = plain("Fatal Python error: Aborted", *["tick"] * 400, '  File "/x/a.py", line 3 in f')
    events, left = run(lines)
    assert events[0].frames == []
    assert len(left) == 401


def test_traceback_frames_are_not_taken_by_an_open_crash():
    """Frames with a comma belong to a traceback of another rank."""
    lines = plain("Fatal Python error: Aborted", '  File "/x/a.py", line 3, in f')
    assert run(lines)[1] == [lines[1]]


def test_python_3_14_s_thread_names_and_c_stack_are_read():
    """3.14 prints a thread's name and the C stack of the crashing one."""
    (event,) = run(
        plain(
            "Fatal Python error: Segmentation fault",
            "",
            "Current thread 0x00007f3c0d17cb80 [MainThread] (most recent call first):",
            '  File "/x/a.py", line 3 in f',
            "",
            "Current thread's C stack trace (most recent call first):",
            '  Binary file "/lib/libfoo.so.2", at crash_here+0x1f [0x7f3c0d17cb99]',
            '  Binary file "/lib/libc.so.6", at +0x2a1c9 [0x7f3c0d1001c9]',
        )
    )[0]
    assert event.data["thread_name"] == "MainThread"
    assert functions(event)[-1] == "crash_here"
    assert event.data["library"] == "libfoo"


def test_a_dump_without_a_head_is_partial_and_no_root():
    """The head may be cut off, or nobody died (`faulthandler.dump_traceback`)."""
    (event,) = run(plain("Thread 0x00007fcbb23c2140 (most recent call first):", '  File "/x/a.py", line 3 in f'))[0]
    assert (event.assembly, event.level, event.fatal) == ("partial", None, False)


def test_a_ucx_handler_s_stack_is_read():
    """UCX prints its own backtrace before the process dies."""
    (event,) = run(
        plain(
            "[node1:4711 :0:4711] Caught signal 11 (Segmentation fault: address not mapped to object at address 0x8)",
            "==== backtrace (tid:   4711) ====",
            " 0  /usr/lib/libucs.so.0(ucs_handle_error+0x2dc) [0x7f3c0d17cb99]",
            " 1  /usr/lib/libnixl.so(nixlAgent+0x11) [0x7f3c0d17cc99]",
            "=================================",
        )
    )[0]
    assert event.rule == "native/signal-handler"
    assert event.data["signal"] == "SIGSEGV"
    assert functions(event) == ["nixlAgent", "ucs_handle_error"]


def test_the_first_rust_panic_is_the_reason_and_poisoned_locks_follow_from_it():
    """A PoisonError says that another thread panicked while it held the lock."""
    events, left = run(lines_of("rust-panic-loop.log"))
    panics = [event for event in events if event.rule == "native/rust-panic"]
    assert panics[0].data["what"] == "attempt to calculate the remainder with a divisor of zero"
    assert (panics[0].level, panics[0].role) == (0.1, None)
    assert (panics[0].frames[-1].file, panics[0].frames[-1].line) == ("src/router.rs", 455)
    assert {(event.level, event.role) for event in panics[1:]} == {(2.0, "consequence")}
    assert not any("unwrap" in line.text for line in left)


def test_a_panic_of_the_main_thread_ends_the_process():
    """Old and new heads, with a backtrace: the place of the panic is innermost."""
    (event,) = run(
        plain(
            "thread 'main' panicked at 'index out of bounds: the len is 0', src/main.rs:12:5",
            "stack backtrace:",
            "   0: rust_begin_unwind",
            "             at /rustc/abc/library/std/src/panicking.rs:665:5",
            "   1: app::main",
            "note: Some details are omitted",
        )
    )[0]
    assert event.fatal
    assert event.data["what"] == "index out of bounds: the len is 0"
    assert functions(event)[:2] == ["app::main", "rust_begin_unwind"]
    assert event.frames[-1].file == "src/main.rs"


def test_a_copied_core_dump_message_is_a_weak_crash_with_frames():
    """Without the journal's fields the signal is not known."""
    (event,) = run(
        plain(
            "Process 5511 (python3) of user 996 dumped core.",
            "",
            "Module libcuda.so.1 without build-id.",
            "Stack trace of thread 5511:",
            "#0  0x00007f2b9209eb2c pthread_kill (libc.so.6 + 0x9eb2c)",
            "#1  0x00007f2b92129c42 epoll_wait (libc.so.6 + 0x129c42)",
            "Stack trace of thread 5512:",
            "#0  0x00007f2b9209eb2c other (libc.so.6 + 0x9eb2c)",
        )
    )[0]
    assert (event.rule, event.level, event.data["pid"]) == ("native/coredump", 1.5, "5511")
    assert functions(event) == ["epoll_wait", "pthread_kill"]


def test_the_stacks_of_threads_are_bounded():
    """Ten million frames keep no more than sixty a thread, forty threads."""
    texts = ["Fatal Python error: Aborted"]
    for thread in range(60):
        texts.append(f"Thread 0x00007f{thread:010x} (most recent call first):")
        texts += [f'  File "/x/{thread}.py", line {number} in f{number}' for number in range(100)]
    (event,) = run(plain(*texts))[0]
    assert len(event.frames) == 60
    assert event.data["threads"].count("thread ") <= 40
    assert len(event.data["threads"]) < 50_000
    assert len(event.text) <= 2000
    assert len(event.evidence) <= 12


def test_many_streams_keep_a_bounded_number_of_open_blocks():
    """Ten thousand ranks that all crash are all told, and the oldest blocks close early."""
    assembler = NativeAssembler()
    events = []
    for number in range(5000):
        assembler.feed(Line(text="Fatal Python error: Aborted", stream=f"s{number}", offset=number, number=number))
        events += assembler.drain()
    assert len(assembler.open) <= 1024
    events += assembler.close()
    assert len(events) == 5000


def test_many_dumps_together_carry_a_bounded_text():
    """The stacks of other threads are kept for the first crashes only."""
    head = ["Fatal Python error: Aborted"]
    body = [f"Thread 0x00007f{n:010x} (most recent call first):" for n in range(3)]
    frames = [f'  File "/x/{"y" * 300}.py", line {n} in {"z" * 280}{n}' for n in range(50)]
    texts = head + [text for thread in body for text in (thread, *frames)]
    assembler = NativeAssembler()
    size = 0
    for number in range(120):
        for line in plain(*texts, stream=f"s{number}"):
            assembler.feed(line)
    for event in assembler.close():
        size += len(event.data.get("threads", ""))
    assert 0 < size <= 2_000_000
