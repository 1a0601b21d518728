"""Starts that a real systemd makes, watched from inside its container: what `triage watch` says and how it ends."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.systemd

HERE = Path(__file__)
ROOT = HERE.parent.parent.parent


def _module(name):
    spec = importlib.util.spec_from_file_location(f"triage_watched_{name}", HERE.with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_box, _loopback = _module("box"), _module("loopback")


class Inside:
    """A box with triage in it."""

    def __init__(self, box):
        self.box = box
        shutil.copy(HERE.with_name("starts.py"), box.root / "opt/starts.py")

    def unit(self, name, way, service="", unit=""):
        """Install a unit that starts in this way."""
        command = f"/usr/bin/python3 /opt/starts.py {way}" if not way.startswith("/") else way
        self.box.unit(f"{name}.service", f"[Unit]\n{unit}\n[Service]\nExecStart={command}\n{service}\n")

    def watch(self, *words):
        """Run `triage watch ... --format jsonl`; return (exit status, documents)."""
        done = self.box.run(sys.executable, "-m", "triage", "watch", *words, "--format", "jsonl", check=False)
        assert done.stderr == ""
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def stop(self, name):
        self.box.run("systemctl", "kill", "-s", "KILL", f"{name}.service", check=False)
        self.box.run("systemctl", "stop", f"{name}.service", check=False)


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    """A booted box with triage in it; where it cannot boot the tests fail."""
    with _box.booted(tmp_path_factory.mktemp("watched"), _box.with_triage(ROOT)) as booted:
        yield Inside(booted)


def root(documents):
    incident = documents[-1]["report"]["incidents"][-1]
    return next(failure for failure in incident["failures"] if failure["role"] == "root")


def phases(documents):
    return [one["phase"] for one in documents if one["event"] == "phase" and one["edge"] == "begin"]


def test_a_start_that_comes_up(inside):
    """All phases in their order, on eight stages, and the endpoint; the previous run failed with other flags."""
    inside.unit("w-up", "up --port 30000", "Environment=BACKEND=triton")
    inside.unit("w-up", "raise", "Environment=BACKEND=triton")
    assert inside.watch("w-up", "--start")[0] in (1, 3)
    inside.unit("w-up", "up --port 30000", "Environment=BACKEND=flashinfer")
    status, said = inside.watch("w-up", "--start", "--health", "http://127.0.0.1:30000/v1/models")
    inside.stop("w-up")
    assert status == 0
    assert phases(said) == ["args", "distributed", "weights", "kv-pool", "graphs", "warmup"]
    assert [one["state"] for one in said if one["event"] == "health"][-1] == "ok"
    assert said[-1]["event"] == "ready"
    assert "IndexError" in said[-1]["before"]
    assert {"name": "attention_backend", "before": "triton", "now": "flashinfer"}.items() <= said[-1]["changes"][
        0
    ].items()


@pytest.mark.parametrize(
    ("name", "way", "service", "text"),
    [
        ("w-raise", "raise", "", "IndexError"),
        ("w-exit", "exit1", "", "invalid int value"),
        ("w-kill", "kill9", "", "KILL"),
        ("w-exec", "/opt/nowhere/x", "", "/opt/nowhere/x"),
        ("w-timeout", "quiet", "Type=notify\nTimeoutStartSec=2", "start operation timed out"),
        ("w-end", "end", "", "ended before it was ready"),
    ],
)
def test_a_start_that_fails(inside, name, way, service, text):
    """Told as soon as systemd says so, with the root."""
    inside.unit(name, way, service)
    status, said = inside.watch(name, "--start", "--timeout", "60s")
    assert status in (1, 3)
    assert said[-1]["event"] == "failed"
    assert text in root(said)["text"]


def test_eight_stages_that_fail_at_once_are_one_failure(inside):
    """Six ranks raised, the parent killed its tree."""
    inside.unit("w-eight", "raise")
    _, said = inside.watch("w-eight", "--start")
    assert set(root(said)["ranks"]) <= {f"PP{n}" for n in range(2, 8)}
    assert root(said)["exception"]["frames"][-1]["function"] == "value_buffer"


def test_a_start_that_stands_still_names_the_stage_that_is_behind(inside):
    """The unit is active, and one of eight stages says nothing more."""
    inside.unit("w-quiet", "quiet")
    status, said = inside.watch("w-quiet", "--start", "--stall", "3s")
    inside.stop("w-quiet")
    assert (status, said[-1]["event"], root(said)["ranks"]) == (3, "quiet", ["PP5"])


def test_a_stage_that_is_killed_without_a_word_is_missed(inside):
    """Its process is gone, the service goes on, and nobody says so."""
    inside.unit("w-hang", "hang")
    status, said = inside.watch("w-hang", "--start", "--stall", "60s")
    inside.stop("w-hang")
    assert (status, said[-1]["event"], root(said)["ranks"]) == (3, "failed", ["PP5"])
    assert "is gone" in root(said)["text"]


def test_a_restart_loop_is_said(inside):
    """By a watch that comes to it, and at the second turn by one that was there from the first."""
    inside.unit("w-loop", "exit1", "Restart=always\nRestartSec=1", "StartLimitIntervalSec=0")
    status, said = inside.watch("w-loop", "--start", "--restarts", "5")
    assert status in (1, 3)
    assert [one["loop"] for one in said if one["event"] == "failed"] == [False, True]
    _, said = inside.watch("w-loop")
    inside.stop("w-loop")
    assert said[0]["restarts"] > 0
    assert said[-1]["loop"]


def test_a_watch_that_comes_later_sees_the_whole_start(inside):
    """A unit that came up a while ago is ready at once; one that failed just now is diagnosed."""
    inside.unit("w-late", "up")
    inside.box.run("systemctl", "start", "w-late.service")
    inside.box.run("sleep", "3")
    status, said = inside.watch("w-late")
    inside.stop("w-late")
    assert (status, len(phases(said))) == (0, 6)
    inside.unit("w-lately", "exit1")
    inside.box.start("w-lately.service")
    assert inside.watch("w-lately")[1][-1]["event"] == "failed"


def test_a_unit_that_does_not_run_is_waited_for(inside):
    """Until somebody starts it, or the time is over."""
    inside.unit("w-wait", "up")
    status, said = inside.watch("w-wait", "--timeout", "2s")
    assert (status, said[0]["state"], said[-1]["event"]) == (4, "waiting", "out-of-time")


def test_a_unit_that_there_is_not(inside):
    """Status 2, with names that may have been meant."""
    inside.unit("w-there", "up")
    inside.box.start("w-there.service", wait=0)
    done = inside.box.run(sys.executable, "-m", "triage", "watch", "w-thre", check=False)
    inside.stop("w-there")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no unit w-thre.service" in done.stderr


def test_a_watch_from_outside_reads_the_journal_alone(inside):
    """`-D`, as for a container's journal: nobody can be asked, so the journal has to tell."""
    inside.unit("w-out", "exit1")
    inside.box.start("w-out.service")
    command = [sys.executable, "-m", "triage", "watch", "w-out", "-D", str(inside.box.journal), "--format", "jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 3), done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "failed"


def test_another_host_is_watched_over_ssh(inside, tmp_path):
    """A real sshd whose users get the box's systemd: started there, followed there, diagnosed here."""
    inside.unit("w-far", "raise")
    with _loopback.listening(tmp_path) as there:
        into = f"/usr/bin/nsenter -t {inside.box._leader} -m -u -i -n -p -C --"
        for name in ("systemctl", "journalctl"):
            there.command(name, f'exec {into} /usr/bin/{name} "$@"')
        done = subprocess.run(
            [sys.executable, "-m", "triage", "watch", "w-far", "-H", "gpu-07", "--start", "--format", "jsonl"],
            capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "SYSTEMD_SSH": str(there.program)},
        )  # fmt: skip
    assert done.returncode in (1, 3), done.stderr
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[-1]["event"] == "failed"
    assert root(said)["exception"]["type"] == "IndexError"


def test_output_in_a_file_is_followed(inside):
    """StandardOutput=append: the journal has only what systemd says."""
    inside.unit("w-file", "up", "StandardOutput=append:/var/log/w-file.log\nStandardError=inherit")
    (inside.box.root / "var/log/w-file.log").write_text("The server is fired up and ready to roll!\n")
    status, said = inside.watch("w-file", "--start")
    inside.stop("w-file")
    assert (status, len(phases(said))) == (0, 6)
    assert "/var/log/w-file.log" in next(one["text"] for one in said if one["event"] == "note")
