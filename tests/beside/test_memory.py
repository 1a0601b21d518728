"""What was told already, and when it is told again."""

import threading
import time

import pytest

from triage.beside import memory
from triage.beside.memory import Memory, alone, keep, looked, pause, recall


def test_the_same_failure_is_written_now_and_then():
    """Three times, then at ten, at a hundred: whatever the storm."""
    told = Memory()
    written = [times for times, worth in (told.count("v1:a", 1, 100.0 + n) for n in range(250)) if worth]
    assert written == [1, 2, 3, 10, 100]


def test_a_jump_over_a_power_of_ten_counts():
    """A look at a unit in a loop may find several runs."""
    told = Memory()
    assert told.count("v1:a", 9, 1.0) == (9, True)
    assert told.count("v1:a", 9, 2.0) == (18, True)
    assert told.count("v1:a", 9, 3.0) == (27, False)


def test_it_is_written_again_after_an_hour():
    """And when the clock was set back: the time since is not known then."""
    told = Memory()
    for n in range(5):
        told.count("v1:a", 1, 1000.0 + n)
    assert told.count("v1:a", 1, 1005.0) == (6, False)
    assert told.count("v1:a", 1, 5000.0) == (7, True)
    assert told.count("v1:a", 1, 10.0) == (8, True)


def test_another_failure_is_written_at_once():
    """It is another thing that broke."""
    told = Memory()
    for n in range(5):
        told.count("v1:a", 1, float(n))
    assert told.count("v1:b", 1, 6.0) == (1, True)


def test_it_stays_small():
    """A unit may fail in ever new ways for months."""
    told = Memory()
    for n in range(1000):
        told.count(f"v1:{n}", 1, float(n))
        told.note([f"invocation {n}"])
    assert (len(told.failures), len(told.invocations)) == (200, 200)
    assert told.knows("invocation 999")
    assert not told.knows(None)


def test_it_is_kept_in_a_file(tmp_path):
    """Also of a unit whose name has a backslash."""
    told = Memory()
    told.count("v1:a", 2, 5.0)
    told.note(["one"])
    looked(told, wrote=True)
    keep(tmp_path, "a\\x2db@1.service", told)
    assert recall(tmp_path, "a\\x2db@1.service") == told
    assert [path.name for path in tmp_path.iterdir()] == ["a\\x2db@1.service.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"failures": 1}', '{"failures": {"a": {}}, "invocations": []}'])
def test_a_damaged_file_is_as_none(tmp_path, text):
    """The hook must work whatever lies there."""
    (tmp_path / "x.service.json").write_text(text)
    assert recall(tmp_path, "x.service") == Memory()


def test_a_unit_in_a_loop_is_looked_at_less_and_less(monkeypatch):
    """And at once again after it was quiet for long."""
    now = [1000.0]
    monkeypatch.setattr(memory.time, "time", lambda: now[0])
    told = Memory()
    assert pause(told) == 0
    waits = []
    for _ in range(8):
        looked(told, wrote=False)
        waits.append(pause(told))
        now[0] += waits[-1]
    assert waits == sorted(waits)
    assert waits[-1] == 120.0
    now[0] += 500
    looked(told, wrote=False)
    assert pause(told) == waits[0]


def test_a_clock_that_was_set_back_makes_nobody_wait(monkeypatch):
    """For days, that is."""
    told = Memory(looked=time.time() + 86400)
    assert pause(told) == 0


def test_one_at_a_time(tmp_path):
    """A second run waits for the first."""
    order = []
    entered = threading.Event()

    def first():
        with alone(tmp_path / "run"):
            entered.set()
            time.sleep(0.2)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(5)
    with alone(tmp_path / "run"):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]
