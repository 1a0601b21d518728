"""`triage journal -f` on the journal of a real systemd: each failure once, beyond rotation and vacuum."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.systemd

UNIT = "[Service]\nExecStart=/bin/sh -c 'cat /opt/{name}.why >&2; exit 3'\n"
RAISED = 'Traceback (most recent call last):\n  File "/opt/a.py", line 3, in run\n    x\n{why}\n'
PATIENCE = 60.0


class Following:
    """`triage journal UNIT -f -o jsonl`, its documents as they come."""

    def __init__(self, folder, *words, env=None):
        self._out = folder / "out.jsonl"
        self.err = folder / "err.txt"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "triage", "journal", *words, "-f", "-v", "-o", "jsonl"],
            stdin=subprocess.DEVNULL, stdout=self._out.open("w"), stderr=self.err.open("w"),
            env={**os.environ, **(env or {})},
        )  # fmt: skip

    def documents(self, count):
        """Wait until there are so many; return them."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            lines = self._out.read_text().splitlines()
            if len(lines) >= count:
                return [json.loads(line) for line in lines]
            assert self.process.poll() is None, self.err.read_text()
            time.sleep(0.1)
        raise AssertionError(f"{len(lines)} of {count} documents; {self.err.read_text()}")

    def said(self, text):
        """Wait until this was said on standard error."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.err.read_text():
            assert time.monotonic() < deadline, self.err.read_text()
            assert self.process.poll() is None, self.err.read_text()
            time.sleep(0.1)

    def seconds_of_cpu(self):
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(20)


@pytest.fixture
def following(tmp_path):
    """Start one; it is ended at the end."""
    started = []

    def start(*words, env=None):
        started.append(Following(tmp_path, *words, env=env))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.fixture
def unit(box, tmp_path):
    """A unit that raises what it is told to, and a function that starts it."""
    name = f"t-follow-{tmp_path.name.replace('_', '-')[-30:]}"
    box.unit(f"{name}.service", UNIT.format(name=name))

    def fail(why):
        (box.root / f"opt/{name}.why").write_text(RAISED.format(why=why))
        box.run("systemctl", "reset-failed", f"{name}.service", check=False)
        box.start(f"{name}.service")

    return name, fail


def roots(documents):
    found = [
        next(f for f in document["incidents"][-1]["failures"] if f["role"] == "root")["exception"]
        for document in documents
    ]
    return [f"{each['type']}: {each['message']}" for each in found]


def without_systemd_python(tmp_path):
    """An environment in which systemd-python can't be imported."""
    (tmp_path / "none/systemd").mkdir(parents=True)
    (tmp_path / "none/systemd/__init__.py").write_text("raise ImportError\n")
    return {"PYTHONPATH": str(tmp_path / "none")}


@pytest.mark.parametrize("way", ["systemd-python", "journalctl"])
def test_rotation_and_vacuum_lose_nothing(box, unit, following, tmp_path, way):
    """Failures before, between and after, through libsystemd and through journalctl: each is told once, in order."""
    if way == "systemd-python":
        __import__("systemd.journal")  # CI brings it
    name, fail = unit
    fail("ValueError: one")
    follow = following(
        name, "-D", str(box.journal), env=without_systemd_python(tmp_path) if way == "journalctl" else None
    )
    assert roots(follow.documents(1)) == ["ValueError: one"]
    box.run("journalctl", "--rotate")
    fail("ValueError: two")
    assert roots(follow.documents(2))[1:] == ["ValueError: two"]
    box.run("journalctl", "--rotate")
    box.run("journalctl", "--vacuum-files=1")
    fail("ValueError: three")
    box.run("journalctl", "--rotate")
    box.run("journalctl", "--vacuum-files=1")
    fail("ValueError: one")
    documents = follow.documents(4)
    assert roots(documents) == ["ValueError: one", "ValueError: two", "ValueError: three", "ValueError: one"]
    assert documents[-1]["incidents"][-1]["attempts"]["count"] == 4


def test_a_unit_in_a_restart_loop_is_counted(box, following):
    """One report, then one line for each time."""
    box.unit(
        "t-follow-loop.service",
        "[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/bin/sh -c 'echo hello; exit 3'\n"
        "Restart=always\nRestartSec=300ms\n",
    )
    box.run("systemctl", "start", "--no-block", "t-follow-loop.service")
    follow = following("t-follow-loop", "-D", str(box.journal))
    documents = follow.documents(4)
    box.run("systemctl", "stop", "t-follow-loop.service")
    prints = {f["fingerprint"] for d in documents for f in d["incidents"][-1]["failures"] if f["role"] == "root"}
    assert len(prints) == 1


def test_it_sleeps_while_nothing_is_written(box, unit, following):
    """No polling: what it takes is told by its clock ticks over some seconds of silence."""
    name, fail = unit
    fail("ValueError: one")
    follow = following(name, "-D", str(box.journal))
    follow.documents(1)
    time.sleep(3)
    before = follow.seconds_of_cpu()
    time.sleep(6)
    assert follow.seconds_of_cpu() - before <= 0.06
