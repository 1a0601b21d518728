"""What a plain diagnosis does not load: each of these takes longer than to read a log of ordinary size."""

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
HEAVY = {
    "typing", "pathlib", "hashlib", "packaging", "yaml", "regex", "rich", "shutil", "datetime", "threading", "urllib",
    "subprocess", "logging", "inspect", "dataclasses", "rapidfuzz", "hyperscan", "importlib.metadata", "contextlib",
    "ipaddress", "heapq", "signal", "asyncio", "tempfile", "difflib", "argparse", "gettext", "importlib",
    "triage.library.parse",
}  # fmt: skip
_RUN = """
import sys
sys.path[:0] = {path!r}
before = set(sys.modules)
from triage.cli import main
status = main(["logs", {log!r}, "--format", "json", *{more!r}])
sys.stderr.write(" ".join(sorted(set(sys.modules) - before)))
sys.exit(status)
"""


def test_a_diagnosis_loads_nothing_heavy(tmp_path):
    """The second time, when everything is in the cache; a traceback, its signature and fixes."""
    log = FIXTURES / "sglang/fp4-kv-cache-hardware/mi300.log"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}
    code = _RUN.format(path=sys.path, log=str(log), more=[])
    for _ in range(2):
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 1
    loaded = set(done.stderr.split())
    assert "triage.match" in loaded
    assert loaded & HEAVY == set()


def test_own_signatures_are_read_for_the_first_time_without_pyyaml(tmp_path):
    """Where the cache has all but a pack of the user's own, written in simple YAML."""
    log = FIXTURES / "sglang/fp4-kv-cache-hardware/mi300.log"
    pack = tmp_path / "own.yaml"
    pack.write_text(
        'format: 1\nid: own/one\ntitle: "One"\nmatch:\n  exception: RuntimeError\n  message: "not said here"\ncause: "None."\n'
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}
    for more in ([], ["--signatures", str(pack)]):
        code = _RUN.format(path=sys.path, log=str(log), more=more)
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 1
    loaded = set(done.stderr.split())
    assert "triage.library.parse" in loaded
    assert loaded & HEAVY == {"triage.library.parse"}
