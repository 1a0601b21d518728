"""What surrounds a unit on this host."""

from __future__ import annotations

import pytest

from triage.sources import live
from triage.sources.query import JournalQuery
from triage.sources.systemctl import UnitState


@pytest.fixture
def state(monkeypatch):
    """Return the state that systemd answers with, to be changed."""
    answer = UnitState("sglang.service", "loaded", "failed", "failed", restarts=3)
    monkeypatch.setattr(
        "triage.sources.systemctl.unit_state", lambda unit, *, user=False: answer if unit == answer.unit else None
    )
    return answer


def test_facts_come_from_the_command_line_and_the_environment(state):
    """Launch arguments with the unit's variables filled in, and the variables themselves."""
    state.exec_start = "/usr/bin/python3 -m sglang.launch_server --model-path ${MODEL} --pp-size 8"
    state.environment = {"MODEL": "/models/k2", "NCCL_DEBUG": "WARN"}
    found = live.surroundings(JournalQuery(units=["sglang"]))
    assert found.facts["pp_size"] == 8
    assert found.facts["model_path"] == "/models/k2"
    assert found.facts["env.NCCL_DEBUG"] == "WARN"
    assert found.notes == ["systemctl show sglang.service: failed (failed), restarts 3"]
    assert found.gaps == []


def test_releases_come_from_the_interpreter(state, tmp_path):
    """The dist-info folders beside ExecStart='s Python."""
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "sglang-0.5.6.post2.dist-info").mkdir(parents=True)
    state.exec_start = f"{tmp_path}/bin/python -m sglang.launch_server"
    assert live.surroundings(JournalQuery(units=["sglang.service"])).facts["sglang"] == "0.5.6.post2"


def test_a_file_that_takes_the_output_is_read(state, tmp_path):
    """StandardOutput=file: says where the log is; an empty or missing one can't be read."""
    log = tmp_path / "out.log"
    log.write_text("Traceback\n")
    state.output_files = [str(log), str(tmp_path / "missing.log")]
    found = live.surroundings(JournalQuery(units=["sglang"]))
    assert found.files == [str(log)]
    assert [gap.kind for gap in found.gaps] == ["output-elsewhere", "output-elsewhere"]
    assert "which was read too" in found.gaps[0].detail
    assert "can't be read" in found.gaps[1].detail


def test_a_namespace_is_a_gap_unless_it_is_read(state):
    """LogNamespace=: the flag that reads it, and nothing once it is given."""
    state.log_namespace = "gpu"
    (gap,) = live.surroundings(JournalQuery(units=["sglang"])).gaps
    assert (gap.kind, "add --namespace=+gpu" in gap.detail) == ("namespace", True)
    assert live.surroundings(JournalQuery(units=["sglang"], namespace="+gpu")).gaps == []


@pytest.mark.parametrize(
    "query",
    [
        JournalQuery(units=["sglang"], directory="/j"),
        JournalQuery(units=["sglang"], files=["/j"]),
        JournalQuery(units=["sglang"], machine="box"),
        JournalQuery(units=["sglang*"]),
        JournalQuery(units=["sglang", "other"]),
        JournalQuery(units=["nope"]),
        JournalQuery(matches=["_PID=1"]),
    ],
    ids=["directory", "file", "machine", "pattern", "several", "unknown", "none"],
)
def test_other_journals_say_nothing_of_this_host(state, query):
    """Only one unit of this host's own journal has surroundings here."""
    assert live.surroundings(query) == live.Surroundings()
