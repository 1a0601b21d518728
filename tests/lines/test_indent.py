"""Tracebacks without indentation are read as those that have it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.lines.indent import indented
from triage.lines.repair import physical

CASES = Path(__file__).parents[1] / "data" / "cases"
LOST = ["captured-triton-shared-memory", "captured-cublas-alloc", "gdn-flashinfer-gate-pointer-unaligned"]


def texts(log: str) -> list[str]:
    return [line[2].decode() for line in indented(physical([(0, log.encode())]))]


@pytest.mark.parametrize("name", LOST)
def test_frames_and_their_source_lines_are_indented(name: str) -> None:
    """As they were."""
    lines = (CASES / name / "input.log").read_text().rstrip().split("\n")
    frames = [line for line in lines if line.startswith("  File ")]
    found = texts("\n".join(line.lstrip() for line in lines))
    assert [line for line in found if line.startswith("  File ")] == frames
    assert [line.strip() for line in found] == [line.strip() for line in lines]
    assert not any(line.startswith(" ") and "Error: " in line and "raise" not in line for line in found)


@pytest.mark.parametrize("name", LOST)
def test_frames_are_indented_where_source_lines_kept_their_blanks(name: str) -> None:
    """Some forms take the blanks before `File` only."""
    log = (CASES / name / "input.log").read_text().rstrip()
    lost = "\n".join(line.lstrip() if line.startswith('  File "') else line for line in log.split("\n"))
    assert texts(lost) == log.split("\n")


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_logs_with_indentation_stay_as_they_are(case: Path) -> None:
    """One frame behind blanks shows that it is not lost."""
    for log in case.glob("input.*"):
        data = log.read_bytes()
        assert list(indented(physical([(0, data)]))) == list(physical([(0, data)]))


@given(
    st.lists(
        st.sampled_from(['File "x.py", line 3, in f', "x", "^^^", "KeyError: 1", "", "[10:00:00 TP0] y"]), max_size=30
    )
)
def test_nothing_else_changes(lines: list[str]) -> None:
    """Only blanks are put before lines."""
    assert [line.lstrip(" ") for line in texts("\n".join(lines))] == "\n".join(lines).split("\n")[
        : len(texts("\n".join(lines)))
    ]
