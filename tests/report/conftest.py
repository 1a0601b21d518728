"""Reports made by hand from the texts of real logs, as the stages before this one hand them over."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from triage.model import (
    Attempts,
    Because,
    ChainLink,
    Diagnosis,
    Evidence,
    ExceptionInfo,
    Exit,
    Failure,
    Fix,
    Frame,
    Gap,
    Incident,
    Member,
    Phase,
    Position,
    Process,
    Report,
    Tool,
    Verdict,
)
from triage.report import summary

PACKAGES = "/opt/sglang/venv/lib/python3.11/site-packages"
TOOL = Tool("0.1.0", signatures=312, digest="sha256:0123456789abcdef")


@pytest.fixture(autouse=True)
def _utc(monkeypatch):
    """Tests read times in UTC, without colours and terminals of whoever runs them."""
    import time

    for name in ("NO_COLOR", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def stack(*frames):
    """Make frames of `path:line function` below SGLang's `srt`, outermost first."""
    found = []
    for text in frames:
        place, function = text.split(" ")
        file, line = place.rsplit(":", 1)
        home = f"{PACKAGES}/" if file.startswith(("torch/", "sglang/")) else f"{PACKAGES}/sglang/srt/"
        found.append(Frame(home + file, int(line), function, "<source line>"))
    return found


def report(*incidents):
    """Make a report of incidents, each diagnosed."""
    verdicts = []
    for number, incident in enumerate(incidents, 1):
        root = next((failure.id for failure in incident.failures if failure.role == "root"), None)
        verdicts.append(Verdict(number, root, summary(incident)))
    return Report(TOOL, verdicts, list(incidents))


def layer0_diagnosis():
    return Diagnosis(
        "sglang/pp-triton-layer0-value-buffer",
        "certain",
        "Triton attention backend probes layer 0 on a pipeline stage that does not hold it",
        "To learn the head size, the Triton attention backend asks the KV pool of its own stage for layer 0. A pipeline "
        "stage after the first does not hold layer 0: start_layer is subtracted and the index falls out of the list, as "
        "soon as the stage starts beyond its own number of layers. The service can't start with this layout.",
        matched=[
            "IndexError",
            "list index out of range",
            "triton_backend.py:__init__",
            "pp_size 8",
            "attention_backend triton",
        ],
        release="you run sglang 0.5.6.post2, fixed in 0.5.18",
        not_when="an IndexError of the same buffer while requests are served",
        fixes=[
            Fix(
                "edit",
                "Probe the stage's own first layer in TritonAttnBackend.__init__",
                command=[
                    "triage",
                    "patch",
                    "sglang/pp-triton-layer0-value-buffer",
                    "--apply",
                    "--unit",
                    "sglang-pp8.service",
                ],
                risk=["restart"],
                applies="yes",
            ),
            Fix(
                "flag",
                "Start with --attention-backend=flashinfer",
                detail="Replace --attention-backend triton in ExecStart.",
                command=["systemctl", "edit", "--full", "sglang-pp8.service"],
                risk=["restart", "speed"],
                applies="unknown",
                why="the GPU is not known from the log",
            ),
            Fix(
                "upgrade",
                "Upgrade sglang to 0.5.18 or later",
                command=["/opt/sglang/venv/bin/python", "-m", "pip", "install", "sglang>=0.5.18"],
                risk=["restart"],
                applies="yes",
            ),
        ],
        references=["https://github.com/sgl-project/sglang/pull/30340"],
    )


def pp8(unit="sglang-pp8.service"):
    """Make the incident of the layer-0 probe: eight pipeline stages, the second of two attempts in the journal."""
    cursor = "s=0d1ab45b8b1f4b5f8b7a;i=1f2;b=9a3e;m=5b1c;t=6560d2c2ad1f0;x=77aa"

    def at(**more):
        return Position(1795963549.2508, True, "PP5", 933, "gpu-node-07", "journal", 498, None, cursor, **more)

    root = Failure(
        "f2",
        "exception",
        "traceback",
        "v1:4f1c0a7be2",
        at(),
        "root",
        level=0.0,
        fatal=True,
        ranks=["PP5"],
        exception=ExceptionInfo(
            "IndexError",
            "list index out of range",
            stack(
                "managers/scheduler.py:2680 run_scheduler_process",
                "managers/scheduler.py:320 __init__",
                "managers/tp_worker.py:248 __init__",
                "model_executor/model_runner.py:359 __init__",
                "model_executor/model_runner.py:513 initialize",
                "model_executor/model_runner.py:2062 init_attention_backend",
                "model_executor/model_runner.py:2096 _get_attention_backend",
                "model_executor/model_runner.py:2113 _get_attention_backend_from_str",
                "layers/attention/attention_registry.py:102 create_triton_backend",
                "layers/attention/triton_backend.py:102 __init__",
                "mem_cache/memory_pool.py:754 get_value_buffer",
                "mem_cache/memory_pool.py:749 _get_value_buffer",
            ),
        ),
        text="Scheduler hit an exception: Traceback (most recent call last):\nIndexError: list index out of range",
        evidence=[
            Evidence(at(), "Scheduler hit an exception: Traceback (most recent call last):"),
            Evidence(at(), "IndexError: list index out of range"),
        ],
        diagnoses=[layer0_diagnosis()],
    )
    parent = Failure(
        "f3",
        "exit",
        "sglang/sigquit",
        "v1:00a1",
        Position(1795963549.265, True, None, 914, "gpu-node-07", "journal", 520, None, "s=0d1a;i=20a"),
        "consequence",
        Because("f2", "child-failed"),
        level=3.0,
        fatal=True,
        text="Received sigquit from a child process. It usually means the child failed.",
    )
    unit_end = Failure(
        "f4",
        "unit",
        "systemd/main-exited",
        "v1:00b2",
        Position(1795963549.77, True, None, 1, "gpu-node-07", "journal", 531, None, "s=0d1a;i=215"),
        "consequence",
        Because("f2", "unit-result"),
        level=2.5,
        fatal=True,
        text="sglang-pp8.service: Main process exited, code=killed, status=9/KILL",
        data={"signal": "SIGKILL", "status": "9/KILL", "code": "killed"},
    )
    tracker = Failure(
        "f5",
        "exception",
        "traceback",
        "v1:00c3",
        Position(1795963549.6, True, None, 940, "gpu-node-07", "journal", 528),
        "teardown",
        Because("f2", "resource-tracker"),
        level=3.0,
        exception=ExceptionInfo("KeyError", "'/mp-5r1662vy'"),
        text="KeyError: '/mp-5r1662vy'",
    )
    notice = Failure(
        "f1", "message", "nccl-not-found", "v1:00d4", Position(1795963540.0, True), text="Failed to load NCCL library"
    )
    start = 1795963410.25
    return Incident(
        "journal",
        [Member("gpu-node-07", unit, "1f0e2d3c4b5a69788796a5b4c3d2e1f0")],
        start,
        1795963549.794,
        True,
        "failed",
        "kv-pool",
        Exit(None, "SIGKILL", "signal", 2),
        Attempts(2, True, ["PP2 raised IndexError: list index out of range"]),
        {
            "engine": "sglang",
            "sglang": "0.5.6.post2",
            "tp_size": 1,
            "pp_size": 8,
            "attention_backend": "triton",
            "device": "cpu",
            "model_path": "/models/tiny64",
            "api_key": None,
        },
        [
            Process(
                f"PP{number}",
                928 + number,
                "gpu-node-07",
                [
                    Phase("weights", start + 121, start + 134, True),
                    Phase("kv-pool", start + 138, start + 138.9, True),
                ],
                Evidence(
                    Position(1795963549.2217, True, f"PP{number}", 928 + number), "Memory pool end. avail mem=14.39 GB"
                ),
            )
            for number in range(8)
        ],
        [notice, root, parent, unit_end, tracker],
        [],
    )


def pp8_file():
    """Make the same failure as a plain log shows it: no unit, no zone, two stages' tracebacks, seven victims."""
    incident = pp8("")
    incident.source = "logs/input.log"
    incident.members = [Member()]
    incident.zoned = False
    incident.started, incident.ended = 1795962385.0, 1795962081.0 + 400
    incident.exit = None
    incident.attempts = Attempts()
    incident.facts["sglang"] = None
    root = incident.failures[1]
    root.ranks = ["PP6", "PP4"]
    root.count = 2
    root.assembly = "inferred"
    root.first = Position(1795962081.0, False, "PP6", None, None, "logs/input.log", 36788, 278)
    for number, found in enumerate(root.evidence):
        found.at = Position(
            1795962081.0, False, "PP6", None, None, "logs/input.log", 36788 + 1818 * number, 278 + 25 * number
        )
    root.diagnoses[0].confidence = "likely"
    root.diagnoses[0].unconfirmed = ["sglang release not in the log", "attention_backend is not in the log"]
    root.diagnoses[0].release = "release unknown: `/opt/sglang/venv/bin/python -m pip show sglang` tells"
    for found in incident.failures:
        found.first.host = found.first.cursor = None
    incident.failures[2].ranks = ["PP0", "PP1", "PP2", "PP3", "PP5", "PP7"]
    incident.failures[2].kind, incident.failures[2].rule = "exception", "traceback"
    incident.failures[2].because = Because("f2", "peer-closed")
    incident.failures[2].exception = ExceptionInfo(
        "RuntimeError",
        "[/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:544] Connection closed by peer [127.0.0.1]:39876",
    )
    del incident.failures[3]
    incident.gaps = [
        Gap("missing-rank", "PP7 logged nothing after its memory pool was ready"),
        Gap("truncated", "the log ends in the middle of a line"),
    ]
    return incident


def host_oom():
    """Make the kernel's OOM kill of a scheduler on a node that was promised too much memory."""
    when = 1783131047.0
    kernel = Failure(
        "f1",
        "kernel",
        "kernel/oom-kill",
        "v1:77aa",
        Position(when, False, None, 40377, "node-a", "input.log", 14321, 102),
        "root",
        level=0.0,
        fatal=True,
        text="Out of memory: Killed process 40377 (sglang::schedul) total-vm:127528440kB, anon-rss:15284000kB, file-rss:4016kB, "
        "shmem-rss:0kB, UID:0 pgtables:40000kB oom_score_adj:936",
        evidence=[
            Evidence(
                Position(when, False, None, 40377, "node-a", "input.log", 14100, 101),
                "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=kubepods-burstable-pod61aa.slice,mems_allowed=0,"
                "global_oom,task_memcg=/kubepods/burstable/pod77e0,task=sglang::schedul,pid=40377,uid=0",
            ),
            Evidence(
                Position(when, False, None, 40377, "node-a", "input.log", 14321, 102),
                "Out of memory: Killed process 40377 (sglang::schedul) total-vm:127528440kB, anon-rss:15284000kB",
            ),
        ],
        diagnoses=[
            Diagnosis(
                "kernel/node-oom",
                "certain",
                "The node ran out of memory and the kernel killed the service",
                "constraint=CONSTRAINT_NONE: the whole node ran out of memory, not a cgroup.",
                matched=["oom kill", "constraint=CONSTRAINT_NONE"],
                fixes=[
                    Fix(
                        "config",
                        "Raise the pod's memory request to what the service really uses (about 18Gi)",
                        risk=["restart"],
                    )
                ],
            )
        ],
    )
    victims = [
        Failure(
            f"f{number}",
            "message",
            rule,
            f"v1:{number}",
            Position(when + number - 1, False, rank, 40190, "node-a", "input.log", 15000 + number, 103 + number),
            "consequence",
            Because("f1", because),
            level=level,
            ranks=[rank] if rank else [],
            text=text,
        )
        for number, rule, because, level, rank, text in (
            (
                2,
                "sglang/subprocess-crashed",
                "process-died",
                1.0,
                None,
                "Subprocess scheduler_0 (pid=40377) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
            ),
            (
                3,
                "sglang/sigquit",
                "child-failed",
                3.0,
                None,
                "SIGQUIT received. signum=None, frame=None. It usually means one child failed.",
            ),
            (
                4,
                "torch/peer-lost",
                "peer-closed",
                2.0,
                "rank0",
                "TCPStore.cpp:125 [c10d] recvValue failed on SocketImpl: Connection reset by peer",
            ),
        )
    ]
    return Incident(
        "input.log",
        [Member("node-a", "sglang", None)],
        when - 47,
        when + 2,
        False,
        "failed",
        "serving",
        None,
        Attempts(),
        {"engine": "sglang", "sglang": None, "model_path": "/models/Qwen3.6-27B-int4"},
        [],
        [kernel, *victims],
    )


def gloo():
    """Make a failure whose reason is a warning five seconds before it."""
    warning = Failure(
        "f1",
        "message",
        "gloo/loopback",
        "v1:90",
        Position(1738260700.88, False, "rank0", None, None, "input.log", 5120, 27),
        ranks=["rank0", "rank3"],
        text="Warning: Unable to resolve hostname to a (local) address. Using the loopback address as fallback.",
        evidence=[
            Evidence(
                Position(1738260700.88, False, "rank0", None, None, "input.log", 5120, 27),
                "Warning: Unable to resolve hostname to a (local) address. Using the loopback address as fallback. Manually set "
                "the network interface to bind to with GLOO_SOCKET_IFNAME. (function operator())",
            )
        ],
        diagnoses=[
            Diagnosis(
                "gloo/loopback-fallback",
                "certain",
                "Gloo bound the loopback address, which other nodes can't reach",
                "The host's own name does not resolve to the address of a network interface.",
                matched=["Using the loopback address as fallback", "nnodes 2"],
                role="notice",
                fixes=[
                    Fix(
                        "env",
                        "Name the interface on every node",
                        command=["systemctl", "set-environment", "GLOO_SOCKET_IFNAME=eth0"],
                        risk=["restart"],
                        applies="unknown",
                        why="the interface's name is not known: `ip -br addr` tells",
                    )
                ],
            )
        ],
    )
    root = Failure(
        "f2",
        "exception",
        "traceback",
        "v1:91",
        Position(1738260705.0, False, "TP4", None, None, "input.log", 6500, 37),
        "root",
        Because("f1", "gloo/loopback-fallback"),
        0.0,
        True,
        ranks=["TP4", "TP5", "TP6", "TP7"],
        count=4,
        exception=ExceptionInfo(
            "RuntimeError",
            "Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
            stack(
                "managers/scheduler.py:1773 run_scheduler_process",
                "model_executor/model_runner.py:233 init_torch_distributed",
                "torch/distributed/distributed_c10d.py:1810 _new_process_group_helper",
            ),
            chain=[ChainLink("KeyError", "'store'", "context")],
            place=1,
        ),
        text="RuntimeError: Gloo connectFullMesh failed",
        evidence=[
            Evidence(
                Position(1738260705.0, False, "TP4", None, None, "input.log", 7500, 60),
                "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
            )
        ],
        diagnoses=[
            Diagnosis(
                "gloo/full-mesh",
                "possible",
                "Gloo could not connect all ranks",
                "A rank could not reach another one.",
                missing=["the address"],
            )
        ],
    )
    return Incident(
        "input.log",
        [Member()],
        1738260674.0,
        1738260706.0,
        False,
        "failed",
        "distributed",
        None,
        Attempts(),
        {"engine": "sglang", "sglang": "0.4.2", "tp_size": 16, "nnodes": 2},
        [],
        [warning, root],
    )


def unknown():
    """Make a failure that no signature knows, with a gap that may be why."""
    at = Position(1783131047.0, True, "TP1", 812, "gpu7", "journal", 0, None, "s=1;i=2")
    root = Failure(
        "f1",
        "exception",
        "traceback",
        "v1:aa",
        at,
        "root",
        level=0.0,
        fatal=True,
        assembly="partial",
        ranks=["TP1"],
        exception=ExceptionInfo("AssertionError", "", stack("layers/moe/topk.py:88 select_experts")),
        text="AssertionError",
        evidence=[Evidence(at, "AssertionError")],
    )
    return Incident(
        "journal",
        [Member("gpu7", "moe.service", None)],
        1783131000.0,
        1783131048.0,
        True,
        "failed",
        "graphs",
        Exit(1, None, "exit-code"),
        Attempts(4, False, ["TP0 raised AssertionError", "killed by SIGKILL"]),
        {"engine": "sglang", "tp_size": 2},
        [],
        [root],
        [
            Gap(
                "no-kernel",
                "Kernel lines could not be read (no permission): whether the kernel killed a process is unknown.",
            )
        ],
    )


def no_root():
    """Make a failed run in which nothing says why, only two lines that could."""
    lines = [
        Failure(f"f{number}", "exit", "exit", f"v1:{number}", Position(), "consequence", level=level, text=text)
        for number, level, text in (
            (1, 2.8, "sglang-quiet.service: Failed with result 'exit-code'."),
            (2, 2.5, "sglang-quiet.service: Main process exited, code=exited, status=1/FAILURE"),
        )
    ]
    return Incident(
        "journal", [Member(None, "sglang-quiet.service", None)], None, None, True, "failed", None, failures=lines
    )


def healthy(unit="sglang-ok.service"):
    """Make a run that served for four hours until the operator stopped it."""
    return Incident(
        "journal",
        [Member("gpu7", unit, None)],
        1783130000.0,
        1783145000.0,
        True,
        "healthy",
        "serving",
        Exit(0, None, "success"),
        ready=1783130090.0,
        stopped_by_operator=True,
    )


def starting():
    """Make a run that is loading weights."""
    return Incident(
        "journal",
        [Member("gpu7", "sglang-new.service", None)],
        1783130000.0,
        None,
        True,
        "starting",
        "weights",
        processes=[Process("TP0", 4, None, [Phase("weights", 1783130030.0)])],
    )


REPORTS = {
    "pp8-unit": lambda: report(pp8()),
    "pp8-file": lambda: report(pp8_file()),
    "host-oom": lambda: report(host_oom()),
    "because-of-a-warning": lambda: report(gloo()),
    "unknown": lambda: report(unknown()),
    "no-root": lambda: report(no_root()),
    "healthy": lambda: report(healthy()),
    "services": lambda: report(healthy("sglang@0.service"), starting(), pp8(), healthy("sglang@1.service")),
}
HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07",
    "[red]markup[/red] [link=http://x]y[/link]",
    "<script>alert(1)</script><!-- & \"'",
    "``` \n```\n# heading\n````",
    "\u202egnp.exe\u202c \u200b\u2066\ufeff\U000e0041",
    "a\r\nb\x00c\x7f\x9b\tz",
    "@everyone #1 owner/repo#2 $x^2$ | a | b |",
    "\ud800 broken",
    "\u4f60\u597d" * 30,
    "x" * 5000,
)


@pytest.fixture(params=REPORTS)
def named_report(request):
    """Every report by its name."""
    return request.param, REPORTS[request.param]()


@pytest.fixture()
def reports():
    """Functions that make each of the reports anew, by name."""
    return REPORTS


@pytest.fixture()
def incidents():
    """Functions that make each of the incidents anew, and `report`, which makes a report of them."""
    makers = (report, pp8, pp8_file, host_oom, gloo, unknown, no_root, healthy, starting)
    return SimpleNamespace(**{maker.__name__: maker for maker in makers})


@pytest.fixture(params=range(len(HOSTILE)))
def hostile(request):
    """A text that would act if it were shown as it is, in every field of a failed incident that comes from a log."""
    text = HOSTILE[request.param]
    incident = pp8()
    root = incident.failures[1]
    at = Position(1.0, False, text, 1, text, text, 5, None)
    root.ranks, root.first, root.text = [text, "PP1"], at, text
    root.exception = ExceptionInfo(text, text, [Frame(text, 1, text, text)], [text], [ChainLink(text, text, "cause")])
    root.evidence = [Evidence(at, text)]
    found = root.diagnoses[0]
    found.title = found.cause = found.release = found.not_when = text
    found.matched = found.unconfirmed = found.missing = [text]
    found.fixes[0].title = found.fixes[0].detail = found.fixes[0].why = text
    found.fixes[0].applies = "unknown"
    found.references = [text, "https://github.com/sgl-project/sglang/pull/30340"]
    incident.source = incident.phase = text
    incident.members = [Member(text, text, text)]
    incident.facts = {"engine": text, text: text}
    incident.processes = [Process(text, 1, text, [Phase(text)], Evidence(at, text), text)]
    incident.gaps = [Gap("clock", text)]
    incident.attempts = Attempts(2, False, [text])
    incident.exit = Exit(1, text, text)
    return Report(TOOL, [Verdict(1, "f2", summary(incident))], [incident], [text])


@pytest.fixture()
def golden():
    """Compare a text with tests/data/report/NAME; TRIAGE_BLESS=1 writes it instead."""

    def compare(name, text):
        path = Path(__file__).parents[1] / "data" / "report" / name
        if os.environ.get("TRIAGE_BLESS") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare
