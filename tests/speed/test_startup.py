"""What a plain diagnosis does not load: each of these takes longer than to read a log of ordinary size."""

import os
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"
HEAVY = {
    "typing", "pathlib", "hashlib", "packaging", "yaml", "regex", "rich", "shutil", "datetime", "threading", "urllib",
    "subprocess", "logging", "inspect", "dataclasses", "rapidfuzz", "hyperscan", "importlib.metadata", "contextlib",
    "ipaddress", "heapq", "signal", "asyncio", "tempfile", "difflib", "triage.library.parse",
}  # fmt: skip
_RUN = """
import sys
sys.path[:0] = {path!r}
before = set(sys.modules)
from triage.cli import main
status = main(["logs", {log!r}, "--format", "json"])
sys.stderr.write(" ".join(sorted(set(sys.modules) - before)))
sys.exit(status)
"""


def test_a_diagnosis_loads_nothing_heavy(tmp_path):
    """The second time, when everything is in the cache; a traceback, its signature and fixes."""
    log = FIXTURES / "sglang/fp4-kv-cache-hardware/mi300.log"
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_DATA_HOME": str(tmp_path / "data")}
    code = _RUN.format(path=sys.path, log=str(log))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, env=env)
    assert done.returncode == 1
    loaded = set(done.stderr.split())
    assert "triage.match" in loaded
    assert loaded & HEAVY == set()
