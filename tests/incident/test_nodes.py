"""Logs of several nodes that are one run."""

from pathlib import Path

import pytest

from triage.incident.clocks import Offset, Scale, offset
from triage.incident.nodes import join
from triage.pipeline import Options, diagnose, services_of
from triage.reading import open_logs, read_log

NODES = Path(__file__).parents[1] / "data" / "nodes"
BOTH = [NODES / "node0.log", NODES / "node1.log"]


def services(*paths):
    return [service for source in open_logs(list(map(str, paths))) for service in services_of(read_log(source, []))]


def written(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def root(incident):
    return next(failure for failure in incident.failures if failure.role == "root")


def test_the_nodes_of_a_run_are_one_incident():
    """The root is the rank of the second node, whose clock is ahead; the first node's peer error follows from it."""
    report = diagnose(list(map(str, BOTH)))
    (incident,) = report.incidents
    assert (len(report.verdicts), incident.outcome) == (1, "failed")
    assert root(incident).ranks == ["TP3"]
    assert root(incident).exception.type == "torch.OutOfMemoryError"
    assert root(incident).first.source == str(BOTH[1])
    peer = next(failure for failure in incident.failures if failure.ranks == ["TP0"])
    assert (peer.role, peer.because.rule) == ("consequence", "peer-closed")


def test_members_are_the_logs_where_no_host_is_known():
    """One for each; ranks of both are processes of the run."""
    (incident,) = diagnose(list(map(str, BOTH))).incidents
    assert [member.host for member in incident.members] == ["node0.log", "node1.log"]
    assert incident.source == "node0.log and node1.log"
    assert incident.sources == list(map(str, BOTH))
    labels = {(process.host, process.rank) for process in incident.processes if process.rank}
    assert labels == {("node0.log", "TP0"), ("node0.log", "TP1"), ("node1.log", "TP2"), ("node1.log", "TP3")}


def test_a_clock_that_is_ahead_is_said_and_its_times_are_put_right():
    """By the moments that both logged."""
    (incident,) = diagnose(list(map(str, BOTH))).incidents
    (gap,) = [gap for gap in incident.gaps if gap.kind == "clock"]
    assert f"the clock of {BOTH[1]} is 37 s ahead of that of {BOTH[0]}, by 2 moments" in gap.detail
    ends = [
        process.phases[0].end
        for process in incident.processes
        if process.rank and process.phases and process.phases[0].phase == "distributed"
    ]
    assert len(ends) == 4
    assert max(ends) == min(ends)


def test_the_order_in_which_logs_are_named_changes_nothing_but_whose_clock_counts():
    """The same root, whichever comes first."""
    (incident,) = diagnose([str(BOTH[1]), str(BOTH[0])]).incidents
    assert root(incident).ranks == ["TP3"]
    (gap,) = [gap for gap in incident.gaps if gap.kind == "clock"]
    assert "37 s behind" in gap.detail


def test_clocks_that_agree_are_no_gap(tmp_path):
    """Nor is a second between them."""
    first = written(tmp_path, "node0.log", BOTH[0].read_text())
    text = BOTH[0].read_text().replace("node_rank=0", "node_rank=1").replace("TP0", "TP2").replace("TP1", "TP3")
    other = written(tmp_path, "node1.log", text)
    (incident,) = diagnose([str(first), str(other)]).incidents
    assert [gap for gap in incident.gaps if gap.kind == "clock"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dist_init_addr='10.0.0.1:20000'", "dist_init_addr='10.0.0.9:20000'"),
        ("dist_init_addr='10.0.0.1:20000'", "dist_init_addr=None"),
        ("node_rank=1", "node_rank=0"),
        ("nnodes=2", "nnodes=4"),
        ("[2026-", "[2025-"),
    ],
)
def test_other_services_stay_apart(tmp_path, old, new):
    """Another address, the same node twice, another number of nodes, another year: one verdict each."""
    text = BOTH[1].read_text()
    if old == "[2026-":
        # Nothing that both would log at the same moment is left to tell the clocks by.
        text = "\n".join(line for line in text.splitlines() if "server_args" in line or "Load weight" in line)
    other = written(tmp_path, "other.log", text.replace(old, new))
    assert len(diagnose([str(BOTH[0]), str(other)]).verdicts) == 2


def test_what_the_user_calls_one_run_is_one(tmp_path):
    """Standard output and standard error of one process, which say nothing of each other."""
    lines = BOTH[0].read_text().splitlines(keepends=True)
    error = written(tmp_path, "err.log", "".join(lines))
    out = written(tmp_path, "out.log", '[2026-11-29 14:16:40] INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 200 OK\n')
    assert len(diagnose([str(error), str(out)]).verdicts) == 2
    report = diagnose([str(error), str(out)], options=Options(together=True))
    assert [incident.source for incident in report.incidents] == ["err.log and out.log"]


def test_a_log_without_times_can_be_joined_and_that_is_said(tmp_path):
    """Whose line came first is not known."""
    bare = written(tmp_path, "bare.log", "Killed\n")
    (incident,) = diagnose([str(BOTH[0]), str(bare)], options=Options(together=True)).incidents
    assert any(gap.kind == "clock" and "has no times" in gap.detail for gap in incident.gaps)


def test_nodes_that_were_started_differently_are_noted(tmp_path):
    """Arguments that each node has for itself are not."""
    other = written(
        tmp_path, "node1.log", BOTH[1].read_text().replace("attention_backend='fa3'", "attention_backend='triton'")
    )
    report = diagnose([str(BOTH[0]), str(other)])
    assert [note for note in report.notes if "differ" in note] == ["the nodes differ in attention_backend: fa3, triton"]


def test_attempts_of_the_nodes_are_paired_by_their_time(tmp_path):
    """Both nodes failed, were restarted and failed again: two attempts, not four."""
    paths = []
    for path in BOTH:
        text = path.read_text()
        paths.append(written(tmp_path, path.name, text + text.replace("2026-11-29 14:", "2026-11-29 16:")))
    report = diagnose(list(map(str, paths)))
    assert [incident.attempts.count for incident in report.incidents] == [1, 2]
    assert [root(incident).ranks for incident in report.incidents] == [["TP3"], ["TP3"]]
    assert report.incidents[-1].attempts.same_fingerprint is True


def test_the_same_failure_ties_clocks_where_no_phase_does():
    """A peer that is lost is lost at once."""
    text = "[2026-05-25 {}:00] ERROR: [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)\n"
    from triage.events import extract
    from triage.incident import split
    from triage.lines import read_text

    one, other = [
        split(extract(read_text([(0, text.format(clock).encode())], "x")))[0][0] for clock in ("10:00", "13:00")
    ]
    assert offset(one, other) == Offset(10_800.0, 1)


def test_another_time_zone_is_told_from_a_wrong_clock():
    """Zones differ by quarters of an hour."""
    assert Offset(3600.5, 2).zone
    assert Offset(-20_699, 1).zone
    assert not Offset(37.0, 3).zone
    assert not Offset(4000.0, 3).zone


def test_lines_of_two_logs_are_ordered_by_time():
    """Between two known moments by their share."""
    scale = Scale([(0, 100.0), (10, 110.0), (11, 200.0)], 20, 0.0)
    assert [scale.lines(time) for time in (50.0, 100.0, 105.0, 110.0, 155.0, 300.0, None)] == [0, 0, 5, 10, 10.5, 20, 0]
    assert [scale.time(number) for number in (0, 5, 11, 40)] == [100.0, 105.0, 200.0, 200.0]
    assert Scale([], 20, 0.0).time(3) is None


def test_a_single_log_is_left_as_it_is():
    """Orders, times and hosts are those that were read."""
    (service,) = services(BOTH[0])
    before = [(event.order, event.at.time, event.at.host) for event in service.attempts[0].events]
    (after,) = join([service])
    assert after is service
    assert [(event.order, event.at.time, event.at.host) for event in after.attempts[0].events] == before
