"""Native crashes, systemd, the kernel, silence."""

import pytest

from triage.match import diagnose
from triage.model import Exit, Phase, Position, Process


def crash(fail, **more):
    """A segmentation fault in NCCL."""
    data = {"signal": "SIGSEGV", **more.pop("data", {})}
    native = more.pop("native", ["libpthread.so.0:start_thread", "libnccl.so.2:ncclProxyService(void*)"])
    return fail(kind="native", text="Fatal Python error: Segmentation fault", data=data, native=native, **more)


@pytest.mark.parametrize(
    ("native", "fits"),
    [
        ("signal: SIGSEGV", True),
        ("signal: 11", True),
        ("signal: SEGV", True),
        ("signal: [SIGABRT, SIGSEGV]", True),
        ("signal: SIGABRT", False),
        ('message: "Segmentation  fault"', True),
        ('message: "Bus error"', False),
        ("symbol: ncclProxyService", True),
        ("symbol: 'ncclProxy*'", True),
        ("symbol: ncclInit", False),
        ("library: libnccl.so", True),
        ("library: libnccl.so.2", True),
        ("library: libcuda.so", False),
        ("library: 'libnccl*'", True),
        ("signal: SIGSEGV, symbol: ncclProxyService, library: libnccl.so", True),
        ("signal: SIGABRT, symbol: ncclProxyService", False),
    ],
)
def test_native(library, fail, ids, native, fits):
    """Signal, text, and what is on the stack of the thread that crashed."""
    assert (ids(library(a=f"match: {{native: {{{native}}}}}"), crash(fail)) == ["a"]) is fits


def test_other_threads_count_only_if_asked_for(library, fail, ids):
    """Their frames are in the text."""
    failure = crash(fail, native=["a.py:run"], evidence=['File "x.py", line 1 in ncclProxyService'])
    assert ids(library(a="match: {native: {signal: SIGSEGV, symbol: ncclProxyService}}"), failure) == []
    assert ids(library(a="match: {native: {signal: SIGSEGV, symbol: ncclProxyService, thread: any}}"), failure) == ["a"]


def test_frames_of_a_native_failure(library, fail, ids):
    """faulthandler prints Python frames."""
    failure = crash(fail, native=["sglang/srt/managers/scheduler.py:event_loop_normal"])
    assert ids(
        library(a='match: {native: {signal: SIGSEGV}, frames: ["managers/scheduler.py:event_loop*"]}'), failure
    ) == ["a"]


def test_missing_stack_is_not_observable(library, fail, incident):
    """A crash without a stack may be this one: possible, if something else was seen."""
    failure = crash(fail, native=[])
    diagnose(
        incident(failure),
        library(
            a="match: {native: {signal: SIGSEGV, symbol: ncclProxyService}}",
            b="match: {native: {symbol: ncclProxyService}}",
        ),
    )
    assert [(d.signature, d.confidence, d.missing) for d in failure.diagnoses] == [
        ("lab/a", "possible", ["symbol ncclProxyService"])
    ]


def ended(fail, **data):
    """What systemd said of a unit's end."""
    return fail(kind="unit", text="sglang.service: Main process exited", data=data)


@pytest.mark.parametrize(
    ("unit", "fits"),
    [
        ("exit_status: 203", True),
        ("exit_status: 203/EXEC", True),
        ("exit_status: EXEC", True),
        ("exit_status: [1, 203]", True),
        ("exit_status: 1", False),
        ("step: EXEC", True),
        ("result: exit-code", True),
        ("result: [signal, exit-code]", True),
        ("result: oom-kill", False),
        ("result: exit-code, exit_status: 203", True),
        ("result: exit-code, signal: SIGKILL", False),
    ],
)
def test_unit(library, fail, ids, unit, fits):
    """By name or number."""
    failure = ended(fail, result="exit-code", status="203/EXEC", exit="203", step="EXEC")
    assert (ids(library(a=f"match: {{unit: {{{unit}}}}}"), failure) == ["a"]) is fits


def test_unit_is_told_by_all_its_lines(library, fail, ids):
    """One line has the status, another one the result."""
    known = library(a="match: {unit: {result: signal, signal: SIGKILL}}")
    assert ids(known, ended(fail, result="signal"), ended(fail, status="9/KILL", signal="SIGKILL")) == ["a"]


def test_unit_is_told_by_the_incidents_exit(library, fail, incident):
    """Where no line was read, but systemd was asked."""
    failure = ended(fail)
    run = incident(failure)
    run.exit = Exit(result="start-limit-hit")
    diagnose(run, library(a="match: {unit: {result: start-limit-hit}}"))
    assert [d.signature for d in failure.diagnoses] == ["lab/a"]


@pytest.mark.parametrize(
    ("kernel", "fits"),
    [
        ("oom: true", True),
        ("oom: memcg", True),
        ("oom: global", False),
        ("oom: true, process: 'sglang::scheduler'", True),
        ("oom: true, process: 'sglang::scheduler_TP*'", True),
        ("oom: true, process: 'sglang::*'", True),
        ("oom: true, process: python3", False),
        ("xid: 79", False),
        ("segfault: true", False),
    ],
)
def test_kernel_oom(library, fail, ids, kernel, fits):
    """The kernel knows 15 characters of a process's name."""
    failure = fail(
        kind="kernel", text="Memory cgroup out of memory", data={"oom": "memcg", "process": "sglang::schedul"}
    )
    assert (ids(library(a=f"match: {{kernel: {{{kernel}}}}}"), failure) == ["a"]) is fits


def test_kernel_xid_and_segfault(library, fail, ids):
    """Numbers, and text of the line."""
    known = library(
        a="match: {kernel: {xid: [79, 119]}}",
        b="match: {kernel: {segfault: true}}",
        c="match: {kernel: {segfault: libcuda.so}}",
    )
    assert ids(known, fail(kind="kernel", text="NVRM: Xid (PCI:0000:01:00): 79", data={"xid": "79"})) == ["a"]
    assert ids(known, fail(kind="kernel", text="x: segfault at 0 in libcuda.so.1", data={"segfault": "1"})) == [
        "c",
        "b",
    ]
    assert ids(known, fail(kind="kernel", text="x: segfault at 0 in libc.so.6", data={"segfault": "1"})) == ["b"]


def test_a_service_does_not_speak_for_kernel_or_systemd(library, fail, ids):
    """Only failures of these kinds are matched."""
    known = library(a="match: {kernel: {oom: true}}", b="match: {unit: {result: oom-kill}}")
    assert ids(known, fail(text="Out of memory: Killed process 7", data={"oom": "global", "result": "oom-kill"})) == []


def test_silence(library, fail, ids):
    """A rank that said nothing, in a phase or in any."""
    known = library(a="match: {silence: {phase: weights}}", b="match: {silence: {}}")
    assert ids(known, fail(kind="silence", data={"phase": "weights"})) == ["a", "b"]
    assert ids(known, fail(kind="silence", data={"phase": "graphs"})) == ["b"]


def test_phase_is_that_of_the_failing_process(library, fail, incident):
    """At the time of the failure; else the run's."""
    known = library(a='match: {exception: E, message: "some text"}\nwhen: {phase: weights}')
    failure = fail("E", "some text", rank="TP1", pid=7, time=150.0)
    run = incident(failure)
    run.phase = "graphs"
    run.processes = [
        Process(rank="TP0", pid=6, phases=[Phase("graphs", 100.0)]),
        Process(rank="TP1", pid=7, phases=[Phase("weights", 120.0), Phase("kv-pool", 160.0)]),
    ]
    diagnose(run, known)
    assert failure.diagnoses[0].matched[-1] == "phase = weights"
    failure.first = Position(time=170.0, rank="TP1", pid=7)
    diagnose(run, known)
    assert failure.diagnoses == []
