"""Text that was copied out of a terminal says what it said before the terminal broke its lines."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.lines import read_text
from triage.lines.repair import physical
from triage.lines.unwrap import unwrapped

CASES = Path(__file__).parents[1] / "data" / "cases"
BROKEN = [
    "captured-segfault-rank1",
    "fp8-moe-triton-oor-ada",
    "gloo-connectfullmesh-loopback",
    "init-oom-raise-mem-fraction",
    "nccl-watchdog-600s-slow-weights",
    "router-pd-all-circuits-open-at-cold-start",
    "v0.5.6.post2-layer0-probe-pp8-triton",
]


def broken(text: str, margin: int, end: str = "\n") -> str:
    """Break lines as a multiplexer's copy does."""
    lines = (line[at : at + margin] for line in text.split("\n") for at in range(0, len(line) or 1, margin))
    return end.join(lines)


def joined(text: str) -> list[str]:
    return [line[2].decode() for line in unwrapped(physical([(0, text.encode())]))]


def texts(text: str) -> list[tuple[str, str | None]]:
    return [(line.text.rstrip(), line.rank) for line in read_text([(0, text.encode())], "x.log")]


@pytest.mark.parametrize("margin", [80, 116, 163])
@pytest.mark.parametrize("name", BROKEN)
def test_lines_are_whole_again(name: str, margin: int) -> None:
    """At any margin, but for a line that ends at it by chance and one that goes on as a line begins."""
    text = (CASES / name / "input.log").read_text()
    whole, found = texts(text), texts(broken(text, margin))
    assert len(set(whole) - set(found)) <= len(whole) // 50


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_no_log_is_taken_for_broken(case: Path) -> None:
    """Not one as it was written."""
    for log in case.glob("input.*"):
        lines = log.read_text(errors="replace").split("\n")
        assert len(joined("\n".join(lines))) >= len([line for line in lines if line])


def test_a_table_stays_as_it_is() -> None:
    """All its rows are of one length."""
    table = "\n".join(f"| GPU {number}  {'x' * (70 - number % 3)}{' ' * (number % 3)} |" for number in range(40))
    assert joined(table) == table.split("\n")


def test_one_message_of_eight_ranks_stays_eight_lines() -> None:
    """The longest line of a log is often said by all ranks."""
    lines = [f"[2026-05-25 21:41:38 TP{rank}] {'y' * 60}" for rank in range(8)]
    assert joined("\n".join(lines)) == lines


@pytest.mark.parametrize(
    ("name", "margin"),
    [
        ("cases/aiter-mla-32-heads-tp4", 80),
        ("cases/captured-exception-rank1-nccl-hang", 120),
        ("cases/flashinfer-jit-cuda-home-colon", 120),
        ("cases/v0.5.6.post2-hub-id-offline", 80),
        ("cases/rmsnorm-no-kernel-image-sm120", 80),
        ("unseen/rocm-memory-access-fault", 80),
        ("unseen/triton-server-vllm-backend", 100),
    ],
)
def test_a_log_of_which_each_line_was_cut_off_is_not_joined(name: str, margin: int) -> None:
    """A pager that chops lines leaves many of one length too, but what follows them begins as lines begin."""
    lines = [line[:margin] for line in (CASES.parent / name / "input.log").read_text().split("\n") if line]
    assert joined("\n".join(lines)) == lines


def test_a_rule_across_the_terminal_is_a_line_of_its_own() -> None:
    """A program draws it as wide as the terminal is; what follows is no part of it."""
    text = broken((CASES / BROKEN[1] / "input.log").read_text(), 80)
    rule = "-" * 80
    assert joined(f"{text}\n{rule}\nerrors below\n{rule}\n")[-3:] == [rule, "errors below", rule]


def test_rules_show_no_margin() -> None:
    """The longest lines of a short report are often the rules between its parts."""
    lines = [part for n in "abcdefg" for part in ("-" * 72, f"{n}{n}{n} part of a report", f"its value is {n}")]
    assert joined("\n".join(lines)) == lines


def test_a_first_part_says_where_a_line_is() -> None:
    """Its offset and number are those of the line; its size is that of all parts, carriage returns too."""
    text = broken("\n".join(f"[10:00:{n:02}] {'word ' * n}and/a/path.py" for n in range(10, 40)), 73, "\r\n")
    lines = list(unwrapped(physical([(0, text.encode())])))
    assert len(lines) == 30
    assert [line[0] for line in lines[1:]] == [line[0] + line[3] for line in lines[:-1]]
    assert lines[1][1] is not None
    assert text.encode()[lines[1][0] :].startswith(b"[10:00:11]")


@settings(deadline=None)
@given(st.integers(1, 400), st.sampled_from(BROKEN[:3]))
def test_blocks_do_not_matter(size: int, name: str) -> None:
    """A broken log cut into blocks anywhere is joined in the same way."""
    data = broken((CASES / name / "input.log").read_text()[:6000], 90).encode()
    blocks = [(at, data[at : at + size]) for at in range(0, len(data), size)]
    assert list(unwrapped(physical(blocks))) == list(unwrapped(physical([(0, data)])))
