"""`python -m benchmarks` runs from end to end; what it measures on tiny inputs says nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "benchmarks" / "__main__.py").is_file(), reason="the benchmarks are in a checkout only")
def test_all_rows_are_measured(tmp_path):
    """A table and a profile are written, that name neither this host nor its folders."""
    table = tmp_path / "RESULTS.md"
    words = ["--tiny", "--pairs", "1", "--quiet", "--data", str(tmp_path / "data"), "--output", str(table)]
    done = subprocess.run([sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = table.read_text()
    for row in ("plain log, some signatures", "standard input", "triage --version", "a log of tracebacks only"):
        assert f"| {row} |" in text
    profile = (tmp_path / "profile.txt").read_text()
    assert "function calls" in profile
    for page in (text, profile):
        assert os.uname().nodename not in page.replace("|", " ").split()
        assert str(tmp_path) not in page


def test_a_seed_gives_the_same_log(tmp_path, monkeypatch):
    """Of about the size that was asked for."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import logs

    one, other = tmp_path / "one.log", tmp_path / "other.log"
    logs.write(one, 200_000, 7, logs.Mix(runs=2))
    logs.write(other, 200_000, 7, logs.Mix(runs=2))
    assert one.read_bytes() == other.read_bytes()
    assert 200_000 <= one.stat().st_size < 300_000
    assert one.read_text().count("Traceback (most recent call last):") == 16


def test_written_signatures_are_sound(tmp_path, monkeypatch):
    """And those that are switched off are gone."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import signatures
    from triage.library import load

    signatures.write(tmp_path / "pack", 20, 3)
    ids = [entry.id for entry in load(standing=False).entries]
    signatures.switch_off(tmp_path / "pack", ids)
    library = load([tmp_path / "pack"], standing=False)
    assert not library.problems
    assert [entry.id for entry in library.entries] == [f"bench/s{number:04}" for number in range(20)]
    assert len(library.line_patterns()) == 6
