"""A log says the same, whatever it was carried in: containers, collectors, terminals, and stacks of these."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from triage.lines import read_text

CASES = Path(__file__).parents[1] / "data" / "cases"
PLAIN = [
    "aiter-mla-32-heads-tp4",
    "captured-interleaved",
    "captured-segfault-rank1",
    "fp8-moe-triton-oor-ada",
    "gloo-connectfullmesh-loopback",
    "nccl-watchdog-600s-slow-weights",
    "ok-nccl-plugin-not-found",
    "router-pd-all-circuits-open-at-cold-start",
    "v0.5.6.post2-layer0-probe-pp8-triton",
]
Wrapper = Callable[[list[str]], Iterator[str]]


def stamp(index: int) -> str:
    return f"2026-01-02T{index // 3600 % 24:02}:{index // 60 % 60:02}:{index % 60:02}.{index:09}Z"


def cri(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{stamp(index)} stdout F {line}"


def cri_in_pieces(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        first, second, last = (line[:10], line[10:25], line[25:]) if len(line) > 30 else ("", "", line)
        for piece in filter(None, (first, second)):
            yield f"{stamp(index)} stderr P {piece}"
        yield f"{stamp(index)} stderr F {last}"


def compose(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"sglang-server-1  | {line}"


def journal_short(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"Jan  2 03:{index // 60 % 60:02}:{index % 60:02} gpu-node-07 sglang[4242]: {line}"


def journal_iso(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"2026-01-02T03:{index // 60 % 60:02}:{index % 60:02}+0100 gpu-node-07 sglang[4242]: {line}"


def docker_json(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield json.dumps({"log": line + "\n", "stream": "stderr", "time": stamp(index)})


def docker_json_of_go(lines: list[str]) -> Iterator[str]:
    for line in docker_json(lines):
        yield line.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def kubectl_prefix(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"[pod/sglang-0/server] {line}"


def kubectl_timestamps(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{stamp(index)} {line}"


def jenkins(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"[{stamp(index)}] {line}"


def stern(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"sglang-7c9f8d5b6-x2x1z server {line}"


def actions(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"gpu-test\tRun the server\t{stamp(index)} {line}"


def ray(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"\x1b[36m(SGLangEngine pid=952, ip=10.0.0.9)\x1b[0m {line}"


def srun(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"3: {line}"


def mpirun(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"[1,3]<stderr>:{line}"


def syslog(lines: list[str]) -> Iterator[str]:
    for line in journal_short(lines):
        yield f"<30>{line}"


def quoted(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"> {line}".rstrip()


def numbered(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines, 1):
        yield f"{index:6}\t{line}"


def grepped(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines, 1):
        mark = ":" if "rror" in line else "-"
        yield f"logs/server.log{mark}{index}{mark}{line}"


def process_manager(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"0|sglang   | {line}"


def scheduler(lines: list[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield f"{stamp(index)} [ERROR] sglang: {line}"


def tabbed(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"\t{line}"


def coloured(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"\x1b[1m\x1b[38;5;208m{line}\x1b[0m\x1b]8;;http://x\x07"


def crlf(lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield line + "\r"


def nothing(lines: list[str]) -> Iterator[str]:
    yield from lines


ALL = [cri, cri_in_pieces, compose, journal_short, journal_iso, docker_json, docker_json_of_go, kubectl_prefix,
       kubectl_timestamps, jenkins, stern, actions, ray, srun, mpirun, syslog, coloured, crlf]  # fmt: skip
STACKS = [
    (compose, cri),
    (journal_short, kubectl_prefix),
    (ray, cri),
    (ray, docker_json),
    (coloured, compose),
    (docker_json, kubectl_timestamps),
    (journal_iso, actions),
    (srun, journal_short),
]
# What no row of the table knows, learned from the log.
FOREIGN = [quoted, numbered, grepped, process_manager, scheduler, tabbed]
# These name a rank of their own for every line.
RANKED = {mpirun}


def read(text: str, size: int | None = None) -> list[tuple[str, str | None, bool]]:
    data = text.encode()
    blocks = [(0, data)] if size is None else [(at, data[at : at + size]) for at in range(0, len(data), size)]
    return [(line.text, line.rank, line.record) for line in read_text(blocks, "log")]


def case(name: str) -> list[str]:
    text = next((CASES / name).glob("input.*")).read_text()
    return [line.rstrip() for line in text.replace("\r", "").rstrip().split("\n")][:400]


@pytest.mark.parametrize("wrapper", ALL, ids=lambda wrapper: wrapper.__name__)
@pytest.mark.parametrize("name", PLAIN)
def test_one_wrapping_changes_nothing(name: str, wrapper: Wrapper) -> None:
    """Text, rank and record heads of every line are those of the plain log."""
    lines = case(name)
    want = read("\n".join(lines) + "\n")
    got = read("\n".join(wrapper(lines)) + "\n")
    if wrapper in RANKED:
        got, want = (
            [(text, None, record) for text, _, record in got],
            [(text, None, record) for text, _, record in want],
        )
    assert got == want


@pytest.mark.parametrize("wrapper", FOREIGN, ids=lambda wrapper: wrapper.__name__)
@pytest.mark.parametrize("name", PLAIN)
def test_a_prefix_that_no_row_knows_changes_nothing(name: str, wrapper: Wrapper) -> None:
    """What stands before the beginnings that a log has of its own is no part of it."""
    lines = case(name)
    want = read("\n".join(lines) + "\n")
    got = read("\n".join(wrapper(lines)) + "\n")
    assert [text for text, _, _ in got] == [text for text, _, _ in want]
    assert [rank for _, rank, _ in got] == [rank for _, rank, _ in want]


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: "-in-".join(wrapper.__name__ for wrapper in stack))
def test_stacked_wrappings_change_nothing(stack: tuple[Wrapper, ...]) -> None:
    """Prefixes are peeled until none is left, in whatever order they stand."""
    lines = case("v0.5.6.post2-layer0-probe-pp8-triton")
    wrapped = lines
    for wrapper in stack:
        wrapped = list(wrapper(wrapped))
    assert read("\n".join(wrapped) + "\n") == read("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    "wrapper", [nothing, cri_in_pieces, journal_short, docker_json], ids=lambda each: each.__name__
)
def test_where_blocks_are_cut_changes_nothing(wrapper: Wrapper) -> None:
    """Blocks that follow each other without a gap may be cut anywhere, in the middle of a line or a character."""
    text = "\n".join(wrapper(case("fp8-moe-triton-oor-ada"))) + "\n"
    want = read(text)
    for size in (1, 7, 100, 4096):
        assert read(text, size) == want


def test_two_logs_in_one_file_are_both_read() -> None:
    """A plain log behind a journal and a JSON log behind both: each line is read as what it is."""
    lines = case("fp8-moe-triton-oor-ada")
    both = [*journal_short(lines), "$ cat server.json", *docker_json(lines), "$ cat server.log", *lines]
    want = read("\n".join(lines))
    got = [line for line in read("\n".join(both)) if not line[0].startswith("$ cat")]
    first = [line for line in want if not line[0].startswith("$ cat")]
    assert got == first * 3


def test_a_banner_before_the_log_does_not_hide_its_format() -> None:
    """What a shell prints before the first JSON line or journal line is text, the rest is still decoded."""
    lines = case("ok-nccl-plugin-not-found")
    banner = ["Last login: Mon", "$ docker logs x", "", "Unable to find image locally"]
    for wrapper in (docker_json, journal_short, cri, compose):
        got = read("\n".join([*banner, *wrapper(lines)]))
        assert got[len(banner) :] == read("\n".join(lines))


def test_random_stacks_of_wrappings_change_nothing() -> None:
    """Up to three wrappings at random, each at most once."""
    chance = random.Random(7)
    lines = case("fp8-moe-triton-oor-ada")
    want = read("\n".join(lines))
    outer = [cri, compose, kubectl_prefix, kubectl_timestamps, journal_short, coloured, crlf, actions, stern]
    for _ in range(12):
        wrapped = lines
        stack = chance.sample(outer, chance.randint(1, 3))
        for wrapper in stack:
            wrapped = list(wrapper(wrapped))
        assert read("\n".join(wrapped)) == want, stack
