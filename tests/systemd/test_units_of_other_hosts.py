"""`triage journal -H` through a real sshd on loopback, to the journal and the systemd of a container."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.systemd

_spec = importlib.util.spec_from_file_location("triage_loopback", Path(__file__).with_name("loopback.py"))
_loopback = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_loopback)

PP8 = Path(__file__).with_name("pp8.py")
PATIENCE = 60.0


@pytest.fixture
def sshd(tmp_path, box):
    """sshd whose journalctl and systemctl are those of the container."""
    with _loopback.listening(tmp_path) as server:
        server.command("journalctl", f'exec /usr/bin/journalctl --directory={box.journal} "$@"')
        enter = f"nsenter -t {box._leader} -m -u -i -n -p -C --"
        server.command("systemctl", f'exec {enter} /usr/bin/systemctl "$@"')
        yield server


@pytest.fixture
def triage(sshd):
    """Run `triage journal ...` with the ssh that knows the server."""

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "triage", "journal", *words], capture_output=True, text=True, timeout=120,
            env={**os.environ, "SYSTEMD_SSH": str(sshd.program)}, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run


@pytest.fixture
def unit(box):
    """A pipeline of eight that fails."""
    shutil.copy(PP8, box.root / "opt/pp8.py")
    environment = "Environment=SGLANG_SAYS='a b'"
    box.unit("t-far.service", f"[Service]\n{environment}\nExecStart=/usr/bin/python3 /opt/pp8.py\n")
    box.run("systemctl", "reset-failed", "t-far.service", check=False)
    box.start("t-far.service")
    return "t-far"


def _text(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it ended just now


def root_of(report):
    return next(f for f in report["incidents"][-1]["failures"] if f["role"] == "root")


def test_a_unit_of_another_host_is_diagnosed(triage, unit):
    """What systemd says of it there, its output and its environment; nothing is left running."""
    done = triage(unit, "-H", "loopback", "-o", "json")
    assert done.returncode in (1, 3), done.stderr
    report = json.loads(done.stdout)
    assert root_of(report)["exception"]["type"] == "IndexError"
    assert report["incidents"][-1]["facts"]["env.SGLANG_SAYS"] == "a b"
    assert report["incidents"][-1]["exit"]["signal"] == "SIGKILL"
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"triage-ssh-" in _text(path)]


def test_the_same_as_on_the_host_itself(triage, journal, unit):
    """Kernel lines, manager lines and output: the same failures in the same roles."""
    far = json.loads(triage(unit, "-H", "loopback", "-o", "json").stdout)["incidents"][-1]
    _, near = journal(unit)
    near = near["incidents"][-1]
    assert [(f["fingerprint"], f["role"], f["ranks"]) for f in far["failures"]] == [
        (f["fingerprint"], f["role"], f["ranks"]) for f in near["failures"]
    ]
    assert far["outcome"] == near["outcome"]


def test_several_hosts(triage, unit):
    """Each by its own connection."""
    report = json.loads(triage(unit, "-H", "gpu-1", "-H", "gpu-2", "-o", "json").stdout)
    assert {incident["source"] for incident in report["incidents"]} == {"journal ssh://gpu-1", "journal ssh://gpu-2"}
    assert len(report["verdicts"]) == 2


def test_an_unknown_host_key_is_refused(triage, sshd, unit):
    """It is never asked for and never taken over, even where the user's configuration would."""
    (sshd.folder / "known_hosts").write_text("")
    config = sshd.folder / "config"
    config.write_text("Host *\n  StrictHostKeyChecking accept-new\n" + config.read_text())
    done = triage(unit, "-H", "loopback")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "its host key is not known here: run `ssh loopback true` once" in done.stderr
    assert (sshd.folder / "known_hosts").read_text() == ""


def test_a_changed_host_key_is_refused(triage, sshd, unit):
    """And said to be one."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", sshd.folder / "other"], check=True)
    words = (sshd.folder / "other.pub").read_text().split()
    (sshd.folder / "known_hosts").write_text(f"loopback {words[0]} {words[1]}\n")
    assert "its host key is not the one that is known here" in triage(unit, "-H", "loopback").stderr


def test_a_key_that_is_not_let_in(triage, sshd, unit):
    """No password is asked for."""
    (sshd.folder / "authorized_keys").write_text("")
    done = triage(unit, "-H", "loopback")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "it lets nobody in with the keys at hand" in done.stderr


def test_a_server_that_is_down(triage, sshd, unit):
    """One line."""
    sshd.down()
    assert "loopback: it refuses connections" in triage(unit, "-H", "loopback").stderr


def test_a_host_without_systemd(triage, sshd, unit):
    """One line."""
    sshd.down()
    bare = sshd.folder / "bare"
    bare.mkdir()
    (bare / "env").symlink_to("/usr/bin/env")
    sshd.up(str(bare))
    assert "loopback: there is no journalctl there" in triage(unit, "-H", "loopback").stderr


def test_a_unit_that_is_not_there(triage, unit):
    """The host is named, and what may have been meant."""
    done = triage("t-fat", "-H", "loopback")
    assert done.returncode == 2
    assert done.stderr.startswith("triage: loopback: no unit t-fat.service in this journal; did you mean t-far.service")


def test_a_lost_connection_is_said_and_resumed(sshd, box, unit, tmp_path):
    """sshd and its sessions are killed while a unit is followed: what failed meanwhile is told once it is back."""
    out, err = tmp_path / "out.jsonl", tmp_path / "err.txt"
    follow = subprocess.Popen(
        [sys.executable, "-m", "triage", "journal", unit, "-H", "loopback", "-f", "-o", "jsonl"],
        stdin=subprocess.DEVNULL, stdout=out.open("w"), stderr=err.open("w"),
        env={**os.environ, "SYSTEMD_SSH": str(sshd.program)},
    )  # fmt: skip

    def until(what):
        deadline = time.monotonic() + PATIENCE
        while not what():
            assert time.monotonic() < deadline, err.read_text()
            assert follow.poll() is None, err.read_text()
            time.sleep(0.1)

    try:
        until(lambda: len(out.read_text().splitlines()) == 1)
        sshd.down()
        until(lambda: "goes on behind the last entry" in err.read_text())
        box.unit("t-far.service", "[Service]\nExecStart=/bin/sh -c 'echo \"ValueError: meanwhile\" >&2; exit 9'\n")
        box.run("systemctl", "reset-failed", "t-far.service", check=False)
        box.start("t-far.service")
        sshd.up()
        until(lambda: len(out.read_text().splitlines()) == 2)
    finally:
        follow.terminate()
        follow.wait(20)
    assert "loopback: there again after" in err.read_text()
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert root_of(first)["exception"]["type"] == "IndexError"
    assert root_of(second)["exception"]["type"] == "ValueError"
    assert second["incidents"][-1]["exit"]["code"] == 9
