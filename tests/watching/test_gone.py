"""Processes of ranks that are no longer there."""

import shutil

from triage.model import Line
from triage.watching.gone import Pulse

UNIT = "x.service"


def process(proc, pid, state="S", unit=UNIT):
    folder = proc / str(pid)
    folder.mkdir()
    (folder / "cgroup").write_text(f"0::/system.slice/{unit}\n")
    (folder / "stat").write_text(f"{pid} (sglang::) (x) {state} 1 1\n")


def line(pid, rank):
    return Line("x", "s", 0, pid=pid, rank=rank)


def test_a_process_that_was_there_and_is_no_more_is_gone(tmp_path):
    """Surely so when it is gone at the second look too."""
    pulse = Pulse(UNIT, local=True, proc=tmp_path)
    for pid in (11, 12):
        process(tmp_path, pid)
        pulse.saw(line(pid, f"PP{pid}"))
    assert pulse.gone() == {}
    shutil.rmtree(tmp_path / "12")
    assert (pulse.gone(), pulse.surely) == ({12: "PP12"}, False)
    assert (pulse.gone(), pulse.surely) == ({12: "PP12"}, True)


def test_a_zombie_is_gone(tmp_path):
    """Its parent has not asked for it yet."""
    pulse = Pulse(UNIT, local=True, proc=tmp_path)
    process(tmp_path, 11)
    pulse.saw(line(11, "PP1"))
    (tmp_path / "11/stat").write_text("11 (x) Z 1\n")
    assert pulse.gone() == {11: "PP1"}


def test_numbers_of_another_host_mean_nothing(tmp_path):
    """A process that was never seen in the unit's cgroup here."""
    pulse = Pulse(UNIT, local=True, proc=tmp_path)
    process(tmp_path, 11, unit="other.service")
    pulse.saw(line(11, "PP1"))
    pulse.saw(line(12, "PP2"))
    shutil.rmtree(tmp_path / "11")
    assert pulse.gone() == {}


def test_processes_without_a_rank_come_and_go(tmp_path):
    """Helpers, compilers, the launcher's shell."""
    pulse = Pulse(UNIT, local=True, proc=tmp_path)
    process(tmp_path, 11)
    pulse.saw(line(11, None))
    shutil.rmtree(tmp_path / "11")
    assert pulse.gone() == {}
