"""What the kernel says: OOM kills, Xids, crashes, failing hardware; and copies of it in plain text."""

from pathlib import Path

import pytest

from triage.data import knowledge
from triage.events import kernel
from triage.events.cgroup import owner
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "native"


def events_of(name):
    reader = kernel.KernelReader()
    events = []
    for number, line in enumerate(read_text([(0, (DATA / name).read_bytes())], name)):
        line.number = number
        if line.origin == "kernel":
            events += reader.feed(line)
    return events + reader.close()


def said(*texts, origin="kernel"):
    return [Line(text=text, stream="k", offset=n, number=n, origin=origin) for n, text in enumerate(texts)]


def read(*texts):
    reader = kernel.KernelReader()
    events = [event for line in said(*texts) for event in reader.feed(line)]
    return events + reader.close()


def test_an_oom_kill_of_a_unit_is_one_event_made_of_its_lines():
    """A real report of Linux 6.1: memory limit, victim, its unit; level 0, since nothing else can have been first."""
    event = events_of("kernel-lab.log")[0]
    assert (event.kind, event.rule, event.level, event.fatal) == ("kernel", "kernel/oom", 0, True)
    assert event.unit == "sg-oom.service"
    wanted = {
        "oom": "memcg",
        "constraint": "CONSTRAINT_MEMCG",
        "process": "sigs.py",
        "pid": "662",
        "memcg": "/system.slice/sg-oom.service",
        "unit": "sg-oom.service",
        "limit": "153600kB",
        "rss": "153016kB",
        "invoker": "sigs.py",
    }
    assert wanted.items() <= event.data.items()
    assert "Memory cgroup out of memory: Killed process 662 (sigs.py)" in event.text
    assert event.evidence[0].text.startswith("sigs.py invoked oom-killer")


def test_each_victim_of_a_machine_wide_shortage_is_an_event():
    """Three victims; one has no `oom-kill:` line; the pod is named, the kubelet's copy says nothing here."""
    events = events_of("oom-node.log")
    assert [(event.data["process"], event.data["pid"]) for event in events] == [
        ("controller", "3301"),
        ("postgres", "3420"),
        ("sglang::schedul", "40377"),
    ]
    assert {event.data["oom"] for event in events} == {"global"}
    assert [event.data.get("pod") for event in events] == ["9b1c", None, "77e0"]
    assert events[2].data["reaped"] == "1"
    assert all(event.unit is None for event in events)


def test_a_limit_that_kills_three_processes_gives_three_events():
    """Each has its own report in the log."""
    events = events_of("oom-cgroup.log")
    assert [event.data["pid"] for event in events] == ["7746", "7747", "7745"]
    assert {event.unit for event in events} == {"sglang.service"}


def test_a_group_kill_takes_the_unit_of_the_process_that_was_chosen():
    """With memory.oom.group only the first process has an `oom-kill:` line."""
    events = read(
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/system.slice/a.service,"
        "task_memcg=/system.slice/a.service,task=python3,pid=7,uid=0",
        "Memory cgroup out of memory: Killed process 7 (python3) total-vm:1kB, anon-rss:2kB, file-rss:0kB, shmem-rss:0kB",
        "Tasks in /system.slice/a.service are going to be killed due to memory.oom.group set",
        "Memory cgroup out of memory: Killed process 8 (python3) total-vm:1kB, anon-rss:3kB, file-rss:0kB, shmem-rss:0kB",
    )
    assert [(event.data["pid"], event.unit, event.data["rss"]) for event in events] == [
        ("7", "a.service", "2kB"),
        ("8", "a.service", "3kB"),
    ]


def test_old_kernels_kill_and_killed_lines_are_one_event():
    """Before 4.19 the choice and the kill were printed apart."""
    (event,) = read(
        "Out of memory: Kill process 4321 (python) score 900 or sacrifice child",
        "Killed process 4321 (python) total-vm:100kB, anon-rss:50kB, file-rss:0kB, shmem-rss:0kB",
    )
    assert (event.data["oom"], event.data["rss"], event.data["pid"]) == ("global", "50kB", "4321")


def test_a_report_that_is_cut_off_still_names_its_victim():
    """The `Killed process` line may be lost to a rate limit."""
    (event,) = read(
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
        "task_memcg=/user.slice/user-0.slice/user@0.service/app.slice/x.service,task=a,b,pid=12,uid=0"
    )
    assert (event.data["oom"], event.data["process"], event.data["pid"], event.unit) == (
        "global",
        "a,b",
        "12",
        "x.service",
    )


def test_an_xid_says_what_it_means():
    """43 is the program's own error, 79 a lost GPU; one event for each GPU."""
    events = events_of("xid43.log")
    assert [event.data["pci"] for event in events] == ["0000:3b:00", "0000:5e:00", "0000:86:00", "0000:af:00"]
    first = events[0]
    wanted = {
        "xid": "43",
        "pid": "52311",
        "process": "sglang::schedul",
        "class": "application",
        "detail": "Ch 00000008",
    }
    assert wanted.items() <= first.data.items()
    assert (first.rule, first.level) == ("kernel/xid", 0.6)
    assert kernel.xid_row("43")["class"] == "application"
    lost = events_of("kernel-lab.log")[-1]
    assert (lost.data["xid"], lost.level, lost.data["class"]) == ("79", 0, "hardware")


@pytest.mark.parametrize(
    ("text", "xid", "pid"),
    [
        ("NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "79", None),
        ("NVRM: Xid (0000:03:00): 14, Channel 00000001", "14", None),
        ("NVRM: Xid (PCI:0000:10:1c): 63, pid=1896, Row Remapper: New row marked for remapping", "63", "1896"),
        ("Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus.", "79", "1234"),
    ],
)
def test_xids_of_all_drivers_are_read(text, xid, pid):
    """Old drivers leave out PCI:, new ones name the process, journald may take off `NVRM:`."""
    (event,) = read(text)
    assert (event.data["xid"], event.data.get("pid")) == (xid, pid)


def test_what_the_kernel_repeats_within_a_minute_only_counts():
    """A broken link repeats its Xid many times a second."""
    (event,) = read(*["NVRM: Xid (PCI:0000:3b:00): 74, pid=1, name=x, NVLink"] * 5)
    assert event.data["count"] == "5"


@pytest.mark.parametrize(
    ("text", "rule", "data"),
    [
        (
            "python3[1097]: segfault at 0 ip 00007f230d72d819 sp 00007ffd08678878 error 4 in libfoo.so[7f230d5f0000+163000] likely on CPU 1",
            "kernel/segfault",
            {"pid": "1097", "library": "libfoo.so", "signal": "SIGSEGV", "segfault": "1"},
        ),
        (
            "traps: python3[77] general protection fault ip:7f sp:7f error:0 in libx.so[7f+1]",
            "kernel/trap",
            {"trap": "general protection fault", "library": "libx.so"},
        ),
        (
            "traps: python3[77] trap invalid opcode ip:7f sp:7f error:0 in libx.so[7f+1]",
            "kernel/trap",
            {"trap": "invalid opcode"},
        ),
        (
            "watchdog: BUG: soft lockup - CPU#3 stuck for 26s! [python3:1234]",
            "kernel/lockup",
            {"pid": "1234", "seconds": "26"},
        ),
        ("INFO: task python3:1234 blocked for more than 120 seconds.", "kernel/hung-task", {"pid": "1234"}),
        ("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", "kernel/gpu-lost", {"pci": "0000:3b:00.0:"}),
        ("NVRM: API mismatch: the client has the version 570.1, but", "kernel/driver-mismatch", {}),
        (
            "nvidia-nvswitch3: SXid (PCI:0000:06:00.0): 24007, Fatal, Link 44",
            "kernel/sxid",
            {"sxid": "24007", "severity": "Fatal"},
        ),
        (
            "nvidia-nvswitch3: SXid (PCI:0000:06:00.0): 20034, Non-fatal, Link 35 LTSSM Fault Up",
            "kernel/sxid",
            {"severity": "Non-fatal"},
        ),
        ("EDAC MC0: 1 UE memory read error on CPU_SrcID#0", "kernel/edac", {}),
        (
            "MCE: Killing python3:1234 due to hardware memory corruption fault at 7f",
            "kernel/memory-failure",
            {"signal": "SIGBUS"},
        ),
        ("blk_update_request: I/O error, dev nvme0n1, sector 12345", "kernel/disk", {"device": "nvme0n1"}),
        ("I/O error, dev nvme0n1, sector 12345 op 0x0:(READ)", "kernel/disk", {"device": "nvme0n1"}),
        ("NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 0 timed out", "kernel/net", {"device": "eth0"}),
        (
            "mlx5_core 0000:0c:00.0: poll_health:800: device's health compromised - reached miss count",
            "kernel/mlx5",
            {"pci": "0000:0c:00.0:"},
        ),
        (
            "cgroup: fork rejected by pids controller in /system.slice/sg.service",
            "kernel/pids-limit",
            {"unit": "sg.service"},
        ),
        ("nfs: server 10.0.0.1 not responding, still trying", "kernel/nfs", {"server": "10.0.0.1"}),
    ],
)
def test_other_lines_that_matter_are_told(text, rule, data):
    """One line for each row of knowledge, as the kernel and the drivers print it."""
    (event,) = read(text)
    assert event.rule == rule
    assert {name: value.rstrip(":") for name, value in data.items()}.items() <= {
        name: value.rstrip(":") for name, value in event.data.items()
    }.items()


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.126.20  Release Build",
        "Memory cgroup stats for /system.slice/a.service:",
        " oom_kill_process.cold+0xb/0x10",
        "tun: Universal TUN/TAP device driver, 1.6",
        "",
    ],
)
def test_ordinary_lines_say_nothing(text):
    """Most of what the kernel prints is no event."""
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("[12345.678901] Out of memory: Killed process 77 (python) total-vm:1kB, anon-rss:2kB", "kernel/oom"),
        (
            "[Fri Jul  4 02:10:36 2026] Memory cgroup out of memory: Killed process 77 (python) total-vm:1kB",
            "kernel/oom",
        ),
        ("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python,pid=77,uid=0", "kernel/oom"),
        ("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "kernel/xid"),
        ("kern  :err   : [ 123.456789] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "kernel/xid"),
    ],
)
def test_unmistakable_copies_of_dmesg_are_read_and_marked(text, rule):
    """A pasted dmesg has no transport that could say who speaks."""
    (line,) = said(text, origin="service")
    event = kernel.parse_text(line)
    assert (event.rule, event.data["quoted"]) == (rule, "1")


@pytest.mark.parametrize(
    "text",
    [
        'reason="SystemOOM" message="System OOM encountered, victim process: controller, pid: 3301"',
        "I think it was: Out of memory: Killed process 77 (python) total-vm:1kB",
        "python3[1097]: segfault at 0 ip 00 sp 00 error 4",
        "Killed process 3 (x)",
        "CUDA out of memory. Tried to allocate 2 GiB",
    ],
)
def test_a_service_s_own_words_do_not_speak_for_the_kernel(text):
    """Quotes, weak shapes and other programs' accounts are left alone."""
    assert kernel.parse_text(said(text, origin="service")[0]) is None


def test_parse_reads_a_line_alone():
    """For a single line that nobody follows up."""
    assert kernel.parse(said("NVRM: Xid (PCI:0000:3b:00): 31, pid=1, name=x, Ch 8")[0]).data["class"] == "application"
    assert kernel.parse(said("hello")[0]) is None


def test_every_xid_has_a_known_class_a_meaning_and_a_first_step():
    """The table is complete."""
    table = knowledge("xid")
    for number, row in table["xids"].items():
        assert row["class"] in table["levels"], number
        assert row["name"]
        assert len(row["means"]) > 10
        assert len(row["first"]) > 10
        assert row.get("level") is None or 0 <= row["level"] <= 3


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("/system.slice/sglang@glm.service", {"unit": "sglang@glm.service"}),
        ("/system.slice/docker-9f2c1d4457aa.scope", {"container": "9f2c1d4457aa"}),
        ("/docker/9f2c1d4457aa", {"container": "9f2c1d4457aa"}),
        (
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice/cri-containerd-9f2c1d4457aa.scope",
            {"pod": "0a1b2c3d-1111-2222-3333-444455556666", "container": "9f2c1d4457aa"},
        ),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/sg.service", {"unit": "sg.service"}),
        ("/", {}),
    ],
)
def test_a_control_group_s_path_names_its_owner(path, wanted):
    """Units, containers and pods of the usual managers."""
    assert owner(path) == wanted
