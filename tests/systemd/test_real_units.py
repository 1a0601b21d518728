"""Units with one fault each, run by a real systemd, read from the journal that it wrote."""

import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.systemd

PP8 = Path(__file__).with_name("pp8.py")


def root_of(report):
    return next(f for f in report["incidents"][-1]["failures"] if f["role"] == "root")


@pytest.mark.parametrize(
    ("name", "unit", "text"),
    [
        ("chdir", "WorkingDirectory=/opt/nowhere\nExecStart=/usr/bin/true", "working directory"),
        ("exec", "ExecStart=/opt/nowhere/python -m sglang.launch_server", "/opt/nowhere/python"),
        ("user", "User=nobody-here\nExecStart=/usr/bin/true", "user credentials"),
        ("envfile", "EnvironmentFile=/etc/nowhere\nExecStart=/usr/bin/true", "environment files"),
        ("pre", "ExecStartPre=/bin/sh -c 'echo fatal: giving up; exit 7'\nExecStart=/usr/bin/true", "giving up"),
        ("startlimit", "ExecStart=/opt/nowhere/x\nRestart=always\nRestartSec=0", "/opt/nowhere/x"),
        ("starttimeout", "Type=notify\nTimeoutStartSec=1\nExecStart=/usr/bin/sleep 60", "start operation timed out"),
        ("kill9", "ExecStart=/bin/sh -c 'kill -9 $$$$'", "KILL"),
        ("exit3", "ExecStart=/bin/sh -c 'exit 3'", "status=3"),
    ],
)
def test_a_unit_that_fails_is_named_with_its_reason(box, journal, name, unit, text):
    """What systemd itself says is wrong is the root, read from the exec child's lines too."""
    box.unit(f"t-{name}.service", f"[Service]\n{unit}\n")
    box.start(f"t-{name}.service")
    status, report = journal(f"t-{name}")
    assert report["incidents"][-1]["outcome"] == "failed"
    assert text in root_of(report)["text"]
    assert status in (1, 3)


def test_a_stop_by_the_operator_is_no_failure(box, journal):
    """Whatever status follows `systemctl stop`, the run is healthy."""
    box.unit("t-stop.service", "[Service]\nExecStart=/bin/sh -c 'trap \"exit 143\" TERM; echo up; sleep 60 & wait'\n")
    box.run("systemctl", "start", "t-stop.service")
    box.run("sleep", "0.5")
    box.run("systemctl", "stop", "t-stop.service")
    box.sync()
    status, report = journal("t-stop")
    assert (status, report["incidents"][-1]["outcome"]) == (0, "healthy")


def test_eight_stages_that_fail_at_once_are_one_failure(box, journal):
    """The ranks that raised are folded, the parent's line and systemd's are consequences."""
    shutil.copy(PP8, box.root / "opt/pp8.py")
    box.unit("t-pp8.service", "[Service]\nExecStart=/usr/bin/python3 /opt/pp8.py\n")
    box.start("t-pp8.service")
    _status, report = journal("t-pp8")
    root = root_of(report)
    assert root["exception"]["type"] == "IndexError"
    assert root["exception"]["frames"][-1]["function"] == "value_buffer"
    assert set(root["ranks"]) <= {f"PP{n}" for n in range(2, 8)}
    assert root["ranks"]
    others = {f["role"] for f in report["incidents"][-1]["failures"] if f["id"] != root["id"]}
    assert others <= {"consequence", "teardown"}


@pytest.mark.parametrize("library", ["systemd-python", "journalctl"])
def test_a_large_journal_that_is_being_written_is_searched(library, box, journal, tmp_path, monkeypatch):
    """The failure stands far from both ends of what the unit printed, and another unit goes on printing."""
    if library == "journalctl":
        (tmp_path / "systemd").mkdir()
        (tmp_path / "systemd" / "__init__.py").write_text("raise ImportError\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    (box.root / "opt" / "many.sh").write_text(
        f"healthy() {{ seq -f 'step %g of a run that goes {'well, ' * 30}as ever' $1 $2; }}\n"
        "healthy 1 12000; echo 'Traceback (most recent call last):'; echo '  File \"/opt/x.py\", line 3, in load'\n"
        "echo '    open(name)'; echo 'ValueError: no such shard 7'; healthy 12001 24000; exit 1\n"
    )
    box.unit("t-other.service", "[Service]\nExecStart=/bin/sh -c 'while :; do echo chatter; sleep 0.01; done'\n")
    box.unit(f"t-{library}.service", "[Service]\nLogRateLimitIntervalSec=0\nExecStart=/bin/sh /opt/many.sh\n")
    box.run("systemctl", "start", "t-other.service")
    box.start(f"t-{library}.service")
    _, report = journal(f"t-{library}")
    box.run("systemctl", "stop", "t-other.service")
    assert library in report["notes"][0]
    assert "searched the bytes of 1 journal files" in report["notes"][1]
    assert "ValueError: no such shard 7" in {f["text"] for f in report["incidents"][-1]["failures"]}
