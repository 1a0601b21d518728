"""Prefixes: every row of knowledge by its samples, and the votes that keep text from being taken for one."""

from datetime import datetime, timezone

import pytest

from triage.lines import read_text
from triage.lines.build import Builder
from triage.lines.learn import learnable
from triage.lines.rows import Row, clock, rows
from triage.lines.saying import unit_in
from triage.model import Line

SAMPLES = [pytest.param(row, *sample, id=f"{row.id}-{n}") for row in rows() for n, sample in enumerate(row.samples)]
JUNE_2026 = datetime(2026, 6, 15, tzinfo=timezone.utc).timestamp()


def read(*lines: str) -> list[Line]:
    return list(read_text([(0, ("\n".join(lines) + "\n").encode())], "log"))


@pytest.mark.parametrize(("row", "line", "said"), SAMPLES)
def test_samples_of_knowledge(row: Row, line: str, said: dict[str, object]) -> None:
    """Each sample of `prefixes.yaml` comes out as the row says, once the row is voted in."""
    builder = Builder("", clock())
    builder.clock.anchor = JUNE_2026
    builder.learned.everything = True
    builder.learned.rows |= learnable()
    builder.refresh()
    out: list[Line] = []
    builder.text((1, 1, line.encode(), len(line) + 1, False), out)
    (got,) = out
    want = dict(said)
    if want.get("time"):
        assert got.time == pytest.approx(
            datetime.fromisoformat(str(want.pop("time")).replace("Z", "+00:00")).timestamp()
        )
    assert {name: getattr(got, name) for name in want} == want


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_first_characters_admit_the_samples(row: Row) -> None:
    """The quick test of the first characters rejects nothing that the row's own regex takes."""
    hits = 0
    for line, _ in row.samples:
        for at in range(len(line)):
            if row.match(line, at):
                hits += 1
                assert row.may_begin(line[at : at + 4])
    assert hits


def test_text_that_looks_like_a_journal_line_is_no_host() -> None:
    """In a CI log `<time> Attempted locations:` is text: a host is learned from lines with a process id."""
    lines = ["Resolving action", "Attempted locations:", "- one", "Traceback (most recent call last):", "ValueError: x"]
    got = read(*(f"2025-09-10T12:00:0{n % 10}.1234567Z {line}" for n, line in enumerate(lines * 8)))
    assert [line.text for line in got] == lines * 8
    assert {line.host for line in got} == {None}


def test_a_sentence_with_a_bar_is_no_compose_prefix() -> None:
    """One `word | text` among other lines stays text."""
    got = read("[2026-05-25 21:41:38] up", "Mode | prefill", "[2026-05-25 21:41:39] on", "Size | 3", "x", "y")
    assert [line.text for line in got] == ["up", "Mode | prefill", "on", "Size | 3", "x", "y"]


def test_a_single_journal_line_is_read() -> None:
    """Where all lines agree, even one is enough."""
    (line,) = read("Nov 29 14:40:57 gpu-node-07 systemd[1]: sglang.service: Failed with result 'signal'.")
    assert (line.host, line.pid, line.origin, line.unit) == ("gpu-node-07", 1, "manager", "sglang.service")


def test_a_line_knows_what_carried_it() -> None:
    """Which command would print more of the log depends on what printed this part of it."""
    (journal,) = read("May 25 21:41:38 host python[85711]: IndexError: list index out of range")
    assert (journal.carrier, journal.stamp, journal.time) == ("journal-short", "May 25 21:41:38", None)
    (dated,) = read("May 25 21:41:38 host python[85711]: [2026-05-25 21:41:38 TP1] x")
    assert dated.time is not None
    assert [
        line.carrier for line in read("[pod/sglang-0/server] [2026-05-25 21:41:38] x", "[pod/sglang-0/server] y")
    ] == [
        "kubectl-prefix",
        "kubectl-prefix",
    ]
    assert [(line.carrier, line.stamp) for line in read("[2026-05-25 21:41:38] x", "y")] == [("", ""), ("", "")]


def test_a_journal_without_hosts() -> None:
    """`journalctl --no-hostname` leaves the host out."""
    got = read(*(f"Nov 29 14:40:5{n} sglang[{n}]: x" for n in range(5)), "Nov 29 14:40:56 kernel: NVRM: Xid")
    assert [line.pid for line in got] == [0, 1, 2, 3, 4, None]
    assert got[-1].origin == "kernel"


def test_what_a_service_prints_does_not_speak_for_systemd() -> None:
    """A journal line inside a journal line, docker's JSON or the kubelet's log is the service's text."""
    forged = "Nov 29 14:40:57 gpu-node-07 systemd[1]: sglang.service: Failed with result 'oom-kill'."
    for wrapped in (
        "Nov 29 14:40:58 gpu-node-07 sglang[7]: {}",
        "2026-11-29T14:40:58.000000001Z stderr F {}",
        "sglang-1  | {}",
    ):
        for line in read(*[wrapped.format(forged)] * 5):
            assert line.origin == "service"
            assert line.unit is None


def test_a_few_forged_lines_in_a_plain_log_do_not_speak_for_the_kernel() -> None:
    """Lines shaped like dmesg count only as a block of their own."""
    plain = [f"[2026-05-25 21:41:{n:02}] Decode batch" for n in range(30)]
    for at in (3, 9, 20):
        plain.insert(at, "[ 3383.868624] Out of memory: Killed process 77 (python)")
    assert {line.origin for line in read(*plain)} == {"service"}
    block = read(*plain[:5], *(f"[ 3383.86862{n}] NVRM: Xid (PCI:0000:3b:00): 79" for n in range(6)))
    assert [line.origin for line in block[-6:]] == ["kernel"] * 6


def test_hosts_of_other_nodes_are_streams_of_their_own() -> None:
    """Two nodes whose processes share a pid do not share a stream."""
    got = read(
        *(f"Aug 11 22:01:13 spark-{'ab'[n % 2]} sglang[31]: [2026-08-11 22:01:13 TP{n % 2}] x" for n in range(8))
    )
    assert {line.host for line in got} == {"spark-a", "spark-b"}
    assert len({line.stream for line in got}) == 2


def test_record_heads_are_no_part_of_the_stream() -> None:
    """A bare traceback follows its head in the same stream, whatever rank the head names."""
    got = read("[2026-05-25 21:41:38 PP3] Scheduler hit", '  File "x.py", line 1, in f', "[2026-05-25 21:41:38] parent")
    assert len({line.stream for line in got}) == 1
    assert [line.record for line in got] == [True, False, True]


def test_labels_on_every_line_are_part_of_the_stream() -> None:
    """`[rank0]:`, `(Worker pid=..)` and vLLM's prefix stand on continuation lines too and tell writers apart."""
    got = read(
        "[rank0]: Traceback (most recent call last):",
        "[rank1]: Traceback (most recent call last):",
        '[rank0]:   File "x.py", line 1, in f',
        "(Worker_TP1 pid=7) ERROR 11-22 04:37:14 [a.py:1] boom",
        "(Worker_TP2 pid=8) ERROR 11-22 04:37:14 [a.py:1] boom",
    )
    assert got[0].stream == got[2].stream
    assert len({line.stream for line in got}) == 4
    assert not any(line.record for line in got)


def test_a_stamp_inside_a_message_is_left_alone() -> None:
    """After a record head nothing but record heads is peeled."""
    (line,) = read("[2026-05-25 21:41:38 TP0] 3: sglang-1  | Nov 29 14:40:57 h systemd[1]: x")
    assert line.text == "3: sglang-1  | Nov 29 14:40:57 h systemd[1]: x"


def test_ray_says_how_often_a_line_was_repeated_at_its_end() -> None:
    """Ray's `[repeated Nx across cluster]` is Ray's, not the worker's text."""
    (line,) = read("(SGLangEngine pid=952) boom [repeated 7x across cluster] (Ray deduplicates logs by default.)")
    assert line.text == "boom"


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("sglang.service: Main process exited, code=killed, status=9/KILL", "sglang.service"),
        ("Started sglang@qwen.service - SGLang.", "sglang@qwen.service"),
        ("Failed to start sglang.service - SGLang.", "sglang.service"),
        ("Stopping sglang.service...", "sglang.service"),
        ("Started SGLang dp8 server.", None),
        ("Reached target multi-user.target - Multi-User System.", "multi-user.target"),
    ],
)
def test_unit_that_a_line_of_systemd_is_about(text: str, unit: str | None) -> None:
    """Newer systemd names the unit, older ones its description only."""
    assert unit_in(text) == unit


def test_pieces_of_a_line_are_joined() -> None:
    """The kubelet cuts long lines into P pieces; they end with the F piece of the same stream."""
    got = read(
        "2026-01-02T00:00:01.000000000Z stderr P [2026-01-02 00:00:01 TP1] Sched",
        "2026-01-02T00:00:01.000000001Z stdout F between",
        "2026-01-02T00:00:01.000000002Z stderr F uler hit",
        "2026-01-02T00:00:02.000000000Z stderr P never ended",
    )
    assert [(line.text, line.rank, line.offset) for line in got] == [
        ("between", None, 72),
        ("Scheduler hit", "TP1", 0),
        ("never ended", None, 169),
    ]
