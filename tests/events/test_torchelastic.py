"""torchrun's account of the ranks that failed."""

from pathlib import Path

import pytest

from triage.events.torchelastic import TorchElastic
from triage.lines import read_text
from triage.model import Line

DATA = Path(__file__).parents[1] / "data" / "native"


def events_of(name):
    """Every line is offered to both readers, as the extractor does with a message's and with single lines."""
    reader = TorchElastic()
    events = []
    for number, line in enumerate(read_text([(0, (DATA / name).read_bytes())], name)):
        line.number = number
        single = reader.single(line)
        if single is not None:
            events.append(single)
        else:
            reader.feed_message(line)
        events += reader.drain()
    return events + list(reader.close())


def test_the_log_line_and_the_table_are_one_event():
    """The line comes first and names the local rank, the table adds rank and signal."""
    first, second = events_of("sigkill-rank1.log")
    assert (first.kind, first.rule, first.level, first.fatal) == ("exit", "torchelastic/failure", 1.0, True)
    wanted = {"rank": "1", "local_rank": "1", "code": "-9", "signal": "SIGKILL", "pid": "597", "root": "1"}
    assert wanted.items() <= first.data.items()
    assert first.ranks == ["rank1"]
    assert "Signal 9 (SIGKILL) received by PID 597" in first.text
    assert (second.ranks, second.role, second.data["signal"]) == (["rank0"], "teardown", "SIGTERM")
    assert "root" not in second.data


@pytest.mark.parametrize(
    ("name", "level", "code"),
    [("segfault-rank1.log", 1.2, "-11"), ("collective-mismatch.log", 1.2, "-6"), ("exit-1-rank1.log", 1.4, "1")],
)
def test_the_level_follows_the_exit_code(name, level, code):
    """Others say more of a crash; a plain exit says least."""
    event = events_of(name)[0]
    assert (event.level, event.data["code"], event.ranks) == (level, code, ["rank1"])


def test_a_table_without_the_log_line_will_do():
    """The log line may be lost."""
    reader = TorchElastic()
    for line in read_text([(0, (DATA / "sigkill-rank1.log").read_bytes())], "x"):
        reader.feed_message(line)
    roots = [event for event in reader.close() if event.data.get("root")]
    assert [event.ranks for event in roots] == [["rank1"]]


def test_a_table_that_is_cut_off_counts_as_far_as_it_goes():
    """The code is enough."""
    reader = TorchElastic()
    texts = [
        "Root Cause (first observed failure):",
        "[0]:",
        "  rank      : 3 (local_rank: 1)",
        "  exitcode  : -7 (pid: 8)",
    ]
    for number, text in enumerate(texts):
        reader.feed_message(Line(text=text, stream="s", offset=number))
    (event,) = reader.close()
    assert (event.ranks, event.data["signal"], event.level) == (["rank3"], "SIGBUS", 1.2)


def test_tables_of_two_nodes_do_not_mix():
    """Each node's torchrun writes its own stream."""
    reader = TorchElastic()
    for text in (
        "Root Cause (first observed failure):",
        "[0]:",
        "  exitcode  : {} (pid: 8)",
        "  rank      : {} (local_rank: 0)",
    ):
        for node in (1, 2):
            reader.feed_message(Line(text=text.format(node), stream=f"s{node}", offset=0, host=f"h{node}"))
    assert sorted(event.data["rank"] for event in reader.close()) == ["1", "2"]


def test_other_messages_are_only_observed():
    """A message that looks a little like a table gives nothing."""
    reader = TorchElastic()
    for text in ("Failures:", "[1]:", "  exitcode  : unknown", "----", "rank: 3", "[2] boom", "===="):
        reader.feed_message(Line(text=text, stream="s", offset=0))
    assert list(reader.close()) == []
    assert not reader.feed(Line(text="failed (exitcode: x)", stream="s", offset=0))
