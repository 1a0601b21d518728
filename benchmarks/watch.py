"""`python -m benchmarks.watch`: how soon a watch tells a failure, and what it costs while nothing happens.

In a real systemd, in a container (root and systemd-nspawn), with triage in it. Printed, never asserted: how busy the
machine is counts too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYSTEMD = ROOT / "tests/systemd"
_spec = importlib.util.spec_from_file_location("triage_benchmark_box", SYSTEMD / "box.py")
_box = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_box)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="failures of each kind")
    parser.add_argument("--idle", type=float, default=30.0, help="seconds without an event")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, _box.booted(Path(folder), _box.with_triage(ROOT)) as box:
        shutil.copy(SYSTEMD / "starts.py", box.root / "opt/starts.py")
        for way in ("exit1", "raise", "quiet"):
            box.unit(f"b-{way}.service", f"[Service]\nExecStart=/usr/bin/python3 /opt/starts.py {way}\n")
        watch(box, "b-exit1").communicate()  # fills the caches
        for way, what in (("exit1", "a command that exits"), ("raise", "eight stages, six tracebacks")):
            found = [latency(box, f"b-{way}") for _ in range(args.rounds)]
            print(f"failure told, {what}: median {statistics.median(found):.2f} s, most {max(found):.2f} s")
        print(f"nothing happens for {args.idle:.0f} s: {idle(box, args.idle):.2f} % of one core")


def watch(box, unit):
    leader = str(box._leader)  # noqa: SLF001  a process in the box that goes on while others are looked at
    inside = ["nsenter", "-t", leader, "-m", "-u", "-i", "-n", "-p", "-C", "--"]
    command = [*inside, sys.executable, "-m", "triage", "watch", unit, "--start"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def latency(box, unit):
    """Seconds from systemd's word that the unit's main process is gone to the last byte of the diagnosis."""
    running = watch(box, unit)
    told = 0.0
    while block := os.read(running.stdout.fileno(), 65536):
        told = time.time() if block.strip() else told
    running.wait()
    words = ["journalctl", "-o", "short-unix", "--no-pager", "-n", "20", "UNIT=" + unit + ".service"]
    lines = [line for line in box.run(*words).stdout.splitlines() if "Main process exited" in line]
    return told - float(lines[-1].split()[0])


def idle(box, seconds):
    """Per cent of one core that a watch and all it started use while the unit says nothing."""
    running = watch(box, "b-quiet")
    time.sleep(6)
    before = spent(running.pid)
    time.sleep(seconds)
    after = spent(running.pid)
    box.run("systemctl", "kill", "-s", "KILL", "b-quiet.service", check=False)
    running.communicate()
    return 100 * (after - before) / seconds


def spent(pid):
    """Seconds of processor time of a process and its descendants, those that ended included."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    own = sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(spent(int(child)) for child in children)


if __name__ == "__main__":
    main()
