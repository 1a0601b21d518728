"""`triage install-hook` under a real systemd: what a failed unit leaves in its journal, and that it is left alone."""

import importlib.util
import json
import shutil
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.systemd

HERE = Path(__file__)
ROOT = HERE.parent.parent.parent
DIAGNOSIS = "MESSAGE_ID=ba138b7c315a4231aa2e29100924f290"
_spec = importlib.util.spec_from_file_location("triage_hook_box", HERE.with_name("box.py"))
_box = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_box)


class Hooked:
    """A box with triage in it, and what the journal there has of a unit."""

    def __init__(self, box):
        self.box = box

    def triage(self, *words, check=True):
        return self.box.run(sys.executable, "-m", "triage", *words, check=check)

    def unit(self, name, service, unit="", hook=True):
        self.box.unit(f"{name}.service", f"[Unit]\n{unit}\n[Service]\n{service}\n")
        if hook:
            self.triage("install-hook", name)

    def start(self, name):
        self.box.run("systemctl", "start", "--no-block", name)

    def entries(self, unit):
        """What triage wrote, as `journalctl -u UNIT` shows it."""
        self.box.sync()
        text = self.box.run("journalctl", "-u", unit, "-o", "json", DIAGNOSIS, check=False).stdout
        return [json.loads(line) for line in text.splitlines()]

    def wait(self, unit, count=1, seconds=60):
        """Wait until triage has written so many entries; return them."""
        deadline = time.monotonic() + seconds
        while len(found := self.entries(unit)) < count:
            assert time.monotonic() < deadline, self.box.run("journalctl", "-n", "80", check=False).stdout
            time.sleep(0.5)
        return found

    def settle(self, unit):
        """Wait until no diagnosis of the unit is under way."""
        name = f"triage-diagnose@{unit}.service"
        deadline = time.monotonic() + 60
        while self.show(name, "ActiveState") == "activating":
            assert time.monotonic() < deadline
            time.sleep(0.5)

    def show(self, unit, name):
        return self.box.run("systemctl", "show", "-P", name, unit).stdout.strip()


@pytest.fixture(scope="module")
def hooked(tmp_path_factory):
    """A booted box with triage in it; where it cannot boot the tests fail."""
    with _box.booted(tmp_path_factory.mktemp("hooked"), _box.with_triage(ROOT)) as booted:
        shutil.copy(ROOT / "demo/sglang-pp8.log", booted.root / "opt/pp8.log")
        yield Hooked(booted)


# The service's own lines of the demo, without what journalctl put before them.
PRINTS = "sed -n 's/^[^ ]* [^ ]* python[^:]*: //p' /opt/pp8.log"


def test_a_failed_unit_is_diagnosed_where_people_look(hooked):
    """journalctl -u, its explanation with -x, and systemctl status; fields for programs."""
    hooked.unit("t-hook", f'User=nobody\nExecStart=/bin/sh -c "{PRINTS}; exit 1"')
    hooked.start("t-hook")
    (entry,) = hooked.wait("t-hook")
    assert entry["TRIAGE_SIGNATURE"] == "sglang/pp-triton-layer0-value-buffer"
    assert entry["TRIAGE_FINGERPRINT"].startswith("v1:")
    assert entry["TRIAGE_INVOCATION"]
    assert entry["TRIAGE_FIX"]
    assert entry["PRIORITY"] == "3"
    told = hooked.box.run("journalctl", "-x", "-u", "t-hook").stdout
    assert "Subject: Why t-hook.service failed" in told
    assert "What mends it:" in told
    status = hooked.box.run("systemctl", "status", "t-hook", check=False).stdout
    assert "raised IndexError: list index out of range (sglang/pp-triton-layer0-value-buffer" in status


def test_triage_is_not_in_its_own_way(hooked):
    """What it wrote is no part of what it reads, in the journal and in text."""
    report = json.loads(hooked.triage("journal", "t-hook", "-o", "json", check=False).stdout)
    _only_its_own(report)
    (hooked.box.root / "opt/short.log").write_text(hooked.box.run("journalctl", "-u", "t-hook").stdout)
    text = json.loads(hooked.triage("logs", "/opt/short.log", "-o", "json", check=False).stdout)
    _only_its_own(text)


def _only_its_own(report):
    failures = report["incidents"][-1]["failures"]
    assert [f["exception"]["type"] for f in failures if f["role"] == "root"] == ["IndexError"]
    said = [f["text"] for f in failures] + [e["text"] for f in failures for e in f["evidence"]]
    assert not any("triage" in text or "fix:" in text for text in said)


def test_while_systemd_restarts_it(hooked):
    """OnFailure= is skipped then; ExecStopPost= is not."""
    hooked.unit("t-always", "ExecStart=/bin/sh -c 'echo no; exit 3'\nRestart=always\nRestartSec=300")
    hooked.start("t-always")
    (entry,) = hooked.wait("t-always")
    assert "status=3" in entry["MESSAGE"]
    assert hooked.show("t-always", "SubState") == "auto-restart"
    assert "OnFailure" not in hooked.box.run("journalctl", "-u", "t-always").stdout
    hooked.box.run("systemctl", "stop", "t-always")


def test_what_fails_before_anything_is_run(hooked):
    """ExecStopPost= fails in the same way then; OnFailure= does not."""
    hooked.unit("t-env", "EnvironmentFile=/etc/nowhere\nExecStart=/bin/true")
    hooked.start("t-env")
    (entry,) = hooked.wait("t-env")
    assert entry["TRIAGE_SIGNATURE"] == "systemd/environment-file"


def test_both_ways_at_once_write_one_entry(hooked):
    """A unit that is not restarted triggers both."""
    hooked.unit("t-once", "ExecStart=/bin/sh -c 'exit 7'")
    hooked.start("t-once")
    hooked.wait("t-once")
    hooked.settle("t-once.service")
    assert len(hooked.entries("t-once")) == 1


def test_a_restart_storm_is_written_now_and_then(hooked):
    """And neither slows the unit down nor fills the journal, nor runs twice at once."""
    storm = "ExecStart=/bin/sh -c 'echo no; exit 3'\nRestart=always\nRestartSec=100ms"
    hooked.unit("t-calm", storm, "StartLimitIntervalSec=0", hook=False)
    hooked.unit("t-storm", storm, "StartLimitIntervalSec=0")
    hooked.start("t-storm")
    hooked.wait("t-storm")
    hooked.start("t-calm")
    before = int(hooked.show("t-storm", "NRestarts"))
    time.sleep(20)
    calm = int(hooked.show("t-calm", "NRestarts"))
    restarts = int(hooked.show("t-storm", "NRestarts")) - before
    hooked.box.run("systemctl", "stop", "t-storm", "t-calm")
    assert restarts > calm / 3
    assert len(hooked.entries("t-storm")) <= 3
    runs = hooked.box.run("journalctl", "-u", "triage-diagnose@t-storm.service.service", "-o", "cat").stdout
    assert 1 <= runs.count("Starting ") <= 4
    assert "Start request repeated" not in runs


def test_a_stop_and_an_end_without_failure_start_nothing(hooked):
    """No process of triage at all."""
    hooked.unit("t-clean", "ExecStart=/bin/sh -c 'echo up; exec sleep 600'")
    hooked.start("t-clean")
    time.sleep(0.5)
    hooked.box.run("systemctl", "stop", "t-clean")
    hooked.unit("t-oneshot", "Type=oneshot\nExecStart=/bin/true")
    hooked.box.run("systemctl", "start", "t-oneshot")
    time.sleep(1)
    for name in ("t-clean", "t-oneshot"):
        assert hooked.entries(name) == []
        unit = f"triage-diagnose@{name}.service.service"
        assert hooked.box.run("journalctl", "-u", unit, "-o", "cat", check=False).stdout.count("Starting") == 0


def test_it_never_fails_or_delays_the_unit(hooked):
    """Not even where it cannot be started: the unit's result and time to stop are its own."""
    hooked.unit("t-broken", "ExecStart=/bin/sh -c 'exit 5'\nTimeoutStopSec=20")
    hooked.box.run("systemctl", "mask", "--runtime", "triage-diagnose@t-broken.service.service")
    began = time.monotonic()
    hooked.box.start("t-broken.service")
    assert time.monotonic() - began < 15
    assert hooked.show("t-broken", "Result") == "exit-code"
    assert hooked.show("t-broken", "ExecMainStatus") == "5"


def test_instances_of_a_template_and_names_with_escapes(hooked):
    """One hook for all instances; the name stays as it is."""
    hooked.box.unit("t-a\\x2db@.service", "[Service]\nExecStart=/bin/sh -c 'exit 4'\n")
    hooked.triage("install-hook", "t-a\\x2db@")
    hooked.start("t-a\\x2db@x-1.service")
    (entry,) = hooked.wait("t-a\\x2db@x-1.service")
    assert entry["OBJECT_SYSTEMD_UNIT"] == "t-a\\x2db@x-1.service"


def test_a_unit_of_a_user_manager(hooked):
    """Without root's part: `journalctl --user-unit` shows it. A user's manager needs logind, dbus and PAM."""
    etc = hooked.box.root / "etc"
    for name in ("pam.d", "security"):
        shutil.copytree(Path("/etc") / name, etc / name, dirs_exist_ok=True)
    (etc / "systemd/system/systemd-logind.service").unlink()
    hooked.box.run("systemctl", "daemon-reload")
    hooked.box.run("systemctl", "start", "user@0.service")
    units = hooked.box.root / "root/.config/systemd/user"
    units.mkdir(parents=True)
    (units / "t-mine.service").write_text("[Service]\nExecStart=/bin/sh -c 'exit 3'\nRestart=always\nRestartSec=300\n")

    def mine(*words, check=True):
        return hooked.box.run("env", "XDG_RUNTIME_DIR=/run/user/0", "HOME=/root", *words, check=check)

    mine("systemctl", "--user", "daemon-reload")
    mine(sys.executable, "-m", "triage", "install-hook", "--user", "t-mine")
    mine("systemctl", "--user", "start", "--no-block", "t-mine")
    deadline = time.monotonic() + 60
    shown = ("journalctl", "--user-unit", "t-mine", "-o", "cat", DIAGNOSIS)
    while "t-mine.service failed" not in (told := mine(*shown, check=False).stdout):
        assert time.monotonic() < deadline, told
        time.sleep(0.5)
    mine("systemctl", "--user", "stop", "t-mine")
    mine(sys.executable, "-m", "triage", "remove-hook", "--user", "t-mine")
    assert [path.name for path in units.iterdir()] == ["t-mine.service"]


def test_what_was_written_is_shown_before_and_gone_after(hooked):
    """--dry-run names every file; remove-hook takes them away, with the last hook the shared ones."""
    system = hooked.box.root / "etc/systemd/system"
    hooked.unit("t-gone", "ExecStart=/bin/true", hook=False)
    shown = hooked.triage("install-hook", "t-gone", "--dry-run").stdout
    assert not (system / "t-gone.service.d").exists()
    told = hooked.triage("install-hook", "t-gone").stdout
    written = [line.removeprefix("wrote ") for line in told.splitlines() if line.startswith("wrote ")]
    assert [line.split()[-1] for line in shown.splitlines() if line.startswith("# would write ")] == written
    for path in sorted(system.glob("*.d/50-triage.conf")):
        hooked.triage("remove-hook", path.parent.name.removesuffix(".d"))
        assert not path.parent.exists()
    assert not (system / "triage-diagnose@.service").exists()
    for path in (written[-1], "/run/triage", "/var/cache/triage"):
        assert hooked.box.run("ls", "-d", path, check=False).returncode != 0
    listed = hooked.box.run("journalctl", "--list-catalog", check=False).stdout
    assert DIAGNOSIS.partition("=")[2] not in listed
    assert "has no hook" in hooked.triage("remove-hook", "t-gone", check=False).stderr


def test_a_unit_that_is_not_there_gets_none(hooked):
    """With status 2 and one line."""
    done = hooked.triage("install-hook", "t-nothing-of-the-kind", check=False)
    assert done.returncode == 2
    assert "systemd has no unit t-nothing-of-the-kind.service" in done.stderr
