"""Ranks that print at once, over many seeds: the same root, no failure lost, and how many stacks come out exactly."""

import random
from pathlib import Path

import pytest

from triage.testing import Answers, Weave, Woven, changes, interleave
from triage.testing.__main__ import main, table
from triage.testing.shares import measure, stacks_of

DATA = Path(__file__).parents[1] / "data"
CASES = DATA / "cases"


def drawn(seed):
    """How the logs of that seed are mixed."""
    rng = random.Random(seed)
    return Weave(
        run=rng.choice((1, 1, 2, 5, 20)),
        write=rng.choice((None, None, None, 4096, 512)),
        labels=rng.random() < 0.15,
        carrier=rng.choice(("", "", "", "journal", "compose", "cri", "kubectl")),
        colour=rng.choice((0, 0, 0.2)),
        bars=rng.choice((0, 0, 0.1)),
        nccl=rng.choice((0, 0, 0.1)),
        crlf=rng.random() < 0.2,
        lost_head=rng.choice((0, 0, 0, 0.1)),
        lost_tail=rng.choice((0, 0, 0, 0.1)),
    )


@pytest.fixture(scope="session")
def answers(library, scenarios):
    return {name: Answers(logs, library) for name, logs in scenarios.items()}


def problems(seeds, scenarios, answers):
    names = list(scenarios)
    found = []
    for seed in seeds:
        name = names[seed % len(names)]
        weave = drawn(seed)
        found += [
            f"seed {seed}, {name}, {weave}: {text}"
            for text in answers[name].changes(interleave(scenarios[name], seed, weave))
        ]
    return found


def stacks():
    """Real tracebacks of the cases, each once."""
    found = {}
    for log in sorted(CASES.glob("*/input.log"))[::4]:
        found.update({tuple(lines): None for lines in stacks_of(log.read_bytes())})
    return [list(lines) for lines in found if len(lines) < 80]


def test_two_hundred_seeds_keep_root_and_failures(scenarios, answers):
    """Whatever is printed at once, torn, coloured, glued or cut off."""
    assert problems(range(200), scenarios, answers) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(200, 5200, 625))
def test_five_thousand_seeds_keep_root_and_failures(first, scenarios, answers):
    """Shared over the scenarios."""
    assert problems(range(first, first + 625), scenarios, answers) == []


@pytest.mark.slow
def test_share_of_stacks_rebuilt_exactly(capsys):
    """The table, and what it must not fall below."""
    rows = list(table(stacks(), [2, 4, 8], [1, 5, 20], 4))
    with capsys.disabled():
        print("\n" + "\n".join(rows))
    eight = next(row for row in rows if row.startswith("8 ranks, equal"))
    assert int(eight.split("%")[0].split()[-1]) >= 90


def test_equal_stacks_of_eight_ranks_are_rebuilt_line_by_line():
    """A change of writer after every line."""
    share = measure(stacks()[:8], "equal", 8, 1, range(3))
    assert share.exact >= 0.9 * share.stacks


def test_stacks_that_differ_are_mostly_rebuilt_in_runs_of_twenty():
    """Two different tracebacks in each log."""
    share = measure(stacks()[:20], "unrelated", 2, 20, range(8))
    assert share.exact > share.stacks / 2


def test_another_root_is_told(scenarios, library):
    """A log of which the strongest failure is missing from what was promised says something else."""
    logs = scenarios["one rank and its victims"]
    mixed = interleave(logs, 1)
    without = interleave([logs[0], logs[2], logs[2]], 1)
    assert changes(logs, mixed, library) == []
    told = changes(logs, Woven(without.data, mixed.whole), library)
    assert any(text.startswith("lost: OutOfMemoryError") for text in told)
    assert any("another root" in text for text in told)


def test_what_is_torn_is_not_asked_for(scenarios, library):
    """Lines that are not there cannot be reported."""
    logs = scenarios["one rank and its victims"]
    nothing = Woven(b"[2025-11-29 14:00:10 TP0] Load weight begin.\n", [{}, {}, {}])
    assert changes(logs, nothing, library) == []


def test_command_prints_the_table_and_what_mixing_cost(tmp_path, scenarios, capsys):
    """One's own logs, one for each rank."""
    paths = []
    for rank, log in enumerate(scenarios["one rank and its victims"][:2]):
        paths.append(tmp_path / f"rank{rank}.log")
        paths[-1].write_text(log)
    assert main([*map(str, paths), "--seeds", "2", "--ranks", "2", "--runs", "1,20"]) == 0
    said = capsys.readouterr().out
    assert "2 ranks, equal" in said
    assert "4 logs of 2 ranks mixed: no failures lost or roots changed" in said


def test_command_says_which_file_cannot_be_read(tmp_path, capsys):
    """Status 2 and one line."""
    assert main([str(tmp_path / "none.log")]) == 2
    assert "none.log: no such file" in capsys.readouterr().err
