"""Interleaved tracebacks are dealt out alike whatever seed Python's hashes have."""

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path

from triage.events.interleave_search import _mark

FIXTURES = Path(__file__).parents[2] / "fixtures"
CODE = "import sys; from triage.cli import main; main(['logs', sys.argv[1], '--format', 'json'])"


def test_a_damaged_log_gets_the_same_answer_each_time(tmp_path):
    """One line in fifty is lost, so that there are many ways to deal out the others."""
    chance = random.Random(6)
    lines = (FIXTURES / "flashinfer" / "gdn-unaligned-gate" / "interleaved.log").read_bytes().split(b"\n")
    log = tmp_path / "damaged.log"
    log.write_bytes(b"\n".join(line for line in lines if chance.random() > 0.02))
    answers = {
        subprocess.run(
            [sys.executable, "-c", CODE, str(log)],
            env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, check=False,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(answers) == 1
    assert b'"failures"' in answers.pop()


def test_marks_of_different_states_and_stories_add_up_differently():
    """Two tracebacks that change their states with each other are other readings than before."""
    chance = random.Random(1)
    stories = [hash((chance.random(), "x")) for _ in range(200)]
    sums = [
        _mark(first, one) + _mark(second, other)
        for one, other in itertools.pairwise(stories)
        for first, second in ((57, 58), (58, 57), (0, 1), (1, 0))
    ]
    assert len(set(sums)) == len(sums)
