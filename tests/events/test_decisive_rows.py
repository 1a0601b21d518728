"""Decisive lines of what stands around an engine: one line each, as printed, and the row that knows it."""

import pytest

from triage.events.message import MessageReader
from triage.model import Line

KNOWN = [
    (
        "flash-attention/cuda-error",
        "CUDA error (/build/hopper/flash_fwd_launch_template.h:166): no kernel image is available for execution",
    ),
    ("loader/library", "/usr/bin/x: error while loading shared libraries: libz.so.9: cannot open shared object file"),
    ("vllm/worker-died", "Worker proc VllmWorker-3 died unexpectedly, shutting down executor."),
    ("vllm/worker-died", "Worker VllmWorkerProcess pid 1221546 died, exit code: -15"),
    ("vllm/engine-dead", "MQLLMEngine is already dead, terminating server process"),
    ("vllm/engine-dead", "Got fatal signal from worker processes, shutting down. See stack trace above."),
    ("rocm/memory-fault", "Memory access fault by GPU node-4 (Agent handle: 0x9) on address 0x7f. Reason: Unknown."),
    ("kubernetes/oom-killed", "      Reason:       OOMKilled"),
    (
        "kubernetes/probe-killed",
        "Normal  Killing  78s  kubelet  Container vllm failed startup probe, will be restarted",
    ),
    (
        "kubernetes/probe-failed",
        "Warning  Unhealthy  9s  kubelet  Liveness probe failed: HTTP probe failed with statuscode: 503",
    ),
    ("kubernetes/back-off", "Warning  BackOff  2s  kubelet  Back-off restarting failed container vllm in pod vllm-0"),
    ("kubernetes/back-off", "      Reason:       CrashLoopBackOff"),
    (
        "kubernetes/config",
        '  Warning  Failed  3m  kubelet  Error: secret "hf-token" not found couldn\'t find key token',
    ),
    ("kubernetes/unschedulable", "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."),
    ("kubernetes/image", 'Failed to pull image "vllm/vllm-openai:v9": rpc error: code = NotFound'),
    ("container/runtime", 'OCI runtime create failed: exec: "vllm": executable file not found in $PATH: unknown'),
    (
        "docker/daemon",
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    ),
    ("container/terminated", "sglang-1 exited with code 137"),
    ("container/ended", "sglang-1 exited with code 0"),
    (
        "slurm/oom",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=11.0. Some of the step tasks have been OOM Killed.",
    ),
    ("slurm/oom", "srun: error: node-a01: task 1: Out Of Memory"),
    ("slurm/task-killed", "srun: error: node-a01: tasks 1-3: Killed"),
    ("slurm/task", "srun: error: node-a01: task 0: Exited with exit code 1"),
    ("slurm/task-stopped", "srun: error: node-a01: task 0: Terminated"),
    (
        "slurm/cancelled-why",
        "slurmstepd: error: *** JOB 7 ON node-a01 CANCELLED AT 2025-10-01T11:05:02 DUE TO TIME LIMIT ***",
    ),
    (
        "slurm/cancelled",
        "slurmstepd: error: *** STEP 7.0 ON node-a01 CANCELLED AT 2025-10-01T11:05:02 DUE TO TASK FAILURE ***",
    ),
    ("mpirun/exited", "mpirun noticed that process rank 9 with PID 0 on node w1 exited on signal 9 (Killed)."),
    ("mpirun/stopped", "mpirun noticed that process rank 2 with PID 0 on node w1 exited on signal 15 (Terminated)."),
    ("mpirun/aborted", "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD"),
    (
        "ray/out-of-memory",
        "2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons",
    ),
    (
        "ucx/caught-signal",
        "[dgx-01:45435:0:45788] Caught signal 11 (Segmentation fault: address not mapped to object at 0x7f)",
    ),
    ("shell/not-found", "/bin/bash: line 1: vllm: command not found"),
    ("shell/not-found", "exec /usr/bin/sh: exec format error"),
    ("process/crashed", "./run.sh: line 71:    27 Illegal instruction     (core dumped) vllm serve /m"),
    ("process/crashed", "Segmentation fault (core dumped)"),
    (
        "process/crashed",
        "./start.sh: 第 18 行： 48213 段错误               (核心已转储) python3 -m sglang.launch_server",
    ),
    ("process/crashed", "Speicherzugriffsfehler (Speicherabzug geschrieben)"),
    ("process/abandoned", "Killed"),
    ("process/abandoned", "已杀死"),
    ("process/abandoned", "./run.sh: Zeile 3: 77 Getötet                  python3 -m sglang.launch_server"),
]
UNKNOWN = [
    "0 Workers (tasks / actors) killed due to memory pressure (OOM), 1 Workers crashed due to other reasons",
    "Killed by the user's own request, going on",
    "the model was Terminated early in this paper",
    "Request aborted: client closed the connection",
    "No such file or directory is fine here, creating it",
    "process rank 3 of world size 8",
]


@pytest.mark.parametrize(("rule", "text"), KNOWN)
def test_a_line_is_known(rule, text):
    """The first row that fits is the one meant."""
    event = MessageReader().known(Line(text=text, stream="s", offset=0))
    assert event is not None
    assert event.rule == rule


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_line_that_only_looks_like_one_is_not(text):
    """The words alone are not enough."""
    event = MessageReader().known(Line(text=text, stream="s", offset=0))
    assert event is None or event.rule == "ray/died"
