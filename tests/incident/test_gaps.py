"""What is missing of a run, and could change what is said of it."""

import json
from pathlib import Path

import pytest

from triage.pipeline import diagnose

ARGUMENTS = (
    "[2026-05-25 21:41:30] server_args=ServerArgs(model_path='/m', tp_size={tp}, pp_size={pp}, dp_size=1, ep_size=1, "
    "nnodes={nodes}, node_rank=0, dist_init_addr='10.0.0.1:1')\n"
)
HEAD = "Traceback (most recent call last):\n"
FRAME = '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/a.py", line 3, in run\n    go()\n'
NODES = Path(__file__).parents[1] / "data" / "nodes"


def gaps(tmp_path, text, kind):
    """Diagnose a text; return the details of its gaps of one kind."""
    log = tmp_path / "x.log"
    log.write_text(text)
    incident = diagnose([str(log)]).incidents[-1]
    return [gap.detail for gap in incident.gaps if gap.kind == kind]


def labelled(labels, text):
    return "".join(f"[2026-05-25 21:41:38 {label}] {text}\n" for label in labels)


BARRIER = (
    "[2026-05-25 21:51:38 {}] Scheduler hit an exception: "
    + HEAD
    + FRAME
    + "RuntimeError: [Rank 0] Ranks 3 failed to pass "
    "monitoredBarrier in 300000 ms\n"
)


@pytest.mark.parametrize(
    ("tp", "pp", "labels", "missing"),
    [
        (4, 1, ["TP0", "TP1", "TP2"], ["no line from TP3"]),
        (1, 4, ["PP0", "PP2", "PP3"], ["no line from PP1"]),
        (8, 1, ["TP1"], ["no line from TP0, TP2-7"]),
        (2, 2, ["PP0 TP0", "PP0 TP1", "PP1 TP0", "PP1 TP1"], []),
        (4, 1, ["TP0", "TP1", "TP2", "TP3"], []),
    ],
)
def test_ranks_that_never_logged_are_named_where_the_root_is_a_wait(tmp_path, tp, pp, labels, missing):
    """They may be what the others waited for."""
    text = ARGUMENTS.format(tp=tp, pp=pp, nodes=1) + labelled(labels, "Load weight begin. avail mem=1 GB")
    assert gaps(tmp_path, text + BARRIER.format(labels[0]), "missing-rank") == missing


def test_ranks_that_never_logged_are_not_missed_where_the_root_is_known(tmp_path):
    """They were ended before they could log."""
    text = ARGUMENTS.format(tp=8, pp=1, nodes=1) + labelled(["TP0"], "Load weight begin. avail mem=1 GB")
    text += "[2026-05-25 21:41:39 TP0] Scheduler hit an exception: " + HEAD + FRAME + "KeyError: 'a'\n"
    assert gaps(tmp_path, text, "missing-rank") == []


def test_labels_that_a_release_does_not_print_are_not_missed(tmp_path):
    """A dimension of which no line has a number says nothing."""
    text = ARGUMENTS.format(tp=4, pp=1, nodes=1) + BARRIER.format("PP0")
    assert gaps(tmp_path, text, "missing-rank") == []


def test_the_other_nodes_of_a_run_are_missed(tmp_path):
    """Their ranks can't have logged here."""
    text = ARGUMENTS.format(tp=4, pp=1, nodes=2) + labelled(["TP0", "TP1"], "Load weight begin. avail mem=1 GB")
    text += BARRIER.format("TP0")
    assert gaps(tmp_path, text, "missing-rank") == ["the run has 2 nodes, and only node 0 logged here"]


def test_no_node_is_missed_where_all_logged():
    """Both logs were read."""
    incident = diagnose([str(NODES / "node0.log"), str(NODES / "node1.log")]).incidents[-1]
    assert [gap for gap in incident.gaps if gap.kind == "missing-rank"] == []


def test_a_log_that_begins_inside_a_traceback_is_truncated(tmp_path):
    """What stands before its first frame is not known."""
    text = FRAME + "KeyError: 'a'\n[2026-05-25 21:41:38] Received sigquit from a child process. It usually means so.\n"
    assert gaps(tmp_path, text, "truncated") == ["the log begins inside a traceback: the lines before it are missing"]


def test_a_log_that_ends_inside_a_traceback_is_truncated(tmp_path):
    """What was raised is not known."""
    text = ARGUMENTS.format(tp=1, pp=1, nodes=1)
    text += "[2026-05-25 21:41:39] Scheduler hit an exception: " + HEAD + FRAME
    assert gaps(tmp_path, text, "truncated") == ["the log ends inside a traceback: what was raised is missing"]


def test_a_whole_traceback_is_no_gap(tmp_path):
    """With the start of the service or without."""
    text = "[2026-05-25 21:41:39] Scheduler hit an exception: " + HEAD + FRAME + "KeyError: 'a'\n"
    assert gaps(tmp_path, text, "truncated") == []
    assert gaps(tmp_path, ARGUMENTS.format(tp=1, pp=1, nodes=1) + text, "truncated") == []


def test_a_clock_that_was_set_back_is_said(tmp_path):
    """Within one stream, by more than a minute."""
    text = "[2026-05-25 21:41:39] one\n[2026-05-25 21:38:39] two\nKilled\n"
    assert gaps(tmp_path, text, "clock") == [
        "the clock was set back by 180 s: times before and after that can't be compared"
    ]
    assert gaps(tmp_path, text.replace("21:38:39", "21:41:09"), "clock") == []


def entry(message, time, **fields):
    said = {"__REALTIME_TIMESTAMP": str(1_795_961_719_000_000 + time * 1_000_000), "MESSAGE": message}
    return json.dumps(
        {"_SYSTEMD_UNIT": "sglang.service", "_PID": "42", "__CURSOR": f"s=1;i={time:x}", **said, **fields}
    )


def manager(message, time, **fields):
    return entry(
        message, time, _SYSTEMD_UNIT="init.scope", _PID="1", UNIT="sglang.service", _TRANSPORT="journal", **fields
    )


def test_messages_that_journalctl_left_out_are_counted(tmp_path):
    """null in `-o json` without --all; the hint is the option."""
    text = "\n".join([entry("one", 0), entry(None, 1), entry(None, 2), entry("Killed", 3)])
    (detail,) = gaps(tmp_path, text + "\n", "unreadable")
    assert detail.startswith("journalctl left out 2 messages")
    assert detail.endswith("--all")


def suppressed(time):
    """journald's own word of what it dropped."""
    return entry(
        "Suppressed 1250 messages from sglang.service",
        time,
        _SYSTEMD_UNIT="systemd-journald.service",
        _PID="7",
        _COMM="systemd-journal",
        OBJECT_SYSTEMD_UNIT="sglang.service",
        MESSAGE_ID="a596d6fe7bfa4994828e72309e95d61e",
        N_DROPPED="1250",
        _TRANSPORT="driver",
    )


def test_messages_that_journald_dropped_count_within_the_run_only(tmp_path):
    """What it tells with the first line of a run is of the run before."""
    run = [entry("one", 10), entry("two", 40), entry("Killed", 60)]
    inside = "\n".join([run[0], suppressed(30), *run[1:]])
    before = "\n".join([suppressed(9), *run])
    long_after = "\n".join([*run, suppressed(900)])
    assert gaps(tmp_path, inside + "\n", "suppressed") == ["journald dropped 1250 messages (rate limit)"]
    assert gaps(tmp_path, before + "\n", "suppressed") == []
    assert gaps(tmp_path, long_after + "\n", "suppressed") == []
