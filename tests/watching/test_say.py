"""What is told of a watch, as lines, as documents and on a terminal."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPLAYING = [sys.executable, str(Path(__file__).with_name("replaying.py"))]
OK = ["sglang-units-a", "sglang-ok.service", "0"]
PP8 = ["sglang-units-a", "sglang-pp8.service", "0"]


def watch(*words):
    return subprocess.run([*REPLAYING, *words], capture_output=True, timeout=60, check=False)


def test_one_line_for_each_phase():
    """Without a terminal: when it began since the start, and which part of a start it usually takes."""
    done = watch(*OK, "1")
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    begun = [line for line in lines if "usually" in line]
    assert [
        sum(name in line for line in begun) for name in ("arguments", "distributed", "weights", "KV pool", "warm-up")
    ] == [1] * 5
    assert "ready after" in done.stdout.decode()


def test_the_diagnosis_follows_on_a_failure():
    """The same report as `triage journal`'s, and its exit status."""
    done = watch(*PP8, "1")
    assert done.returncode == 1
    assert b"sglang/pp-triton-layer0-value-buffer" in done.stdout
    assert b"\x1b" not in done.stdout


def test_documents_are_one_a_line_and_the_last_one_is_the_verdict():
    """ASCII only, each with its event; the verdict holds the report of `triage journal -o json`."""
    done = watch(*PP8, "1", "--format", "jsonl")
    documents = [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]
    assert documents[0]["event"] == "watch"
    assert all(one["unit"] == "sglang-pp8.service" for one in documents)
    last = documents[-1]
    assert (last["event"], last["status"], last["final"]) == ("failed", 1, True)
    assert last["report"]["incidents"][0]["outcome"] == "failed"
    assert {rank["rank"] for rank in last["ranks"]} == {f"PP{n}" for n in range(8)}
    assert [one["percent"] for one in documents if one["event"] == "progress"][-1:] == [100]
    assert {"phase": "weights", "edge": "begin"}.items() <= next(
        one for one in documents if one.get("phase") == "weights"
    ).items()


def test_a_quiet_service_ends_with_what_was_said_last():
    """The log stops in the middle of the start."""
    done = watch(*OK, "0.5", "--stall", "1s")
    assert done.returncode in (1, 3)
    assert b"quiet for" in done.stdout


def test_out_of_time():
    """Status 4."""
    assert watch(*OK, "0.5", "--timeout", "1s").returncode == 4


@pytest.mark.parametrize("words", [["--timeout", "soon"], ["--stall", "-1s"], ["--health", "x"], ["--restarts", "-1"]])
def test_what_makes_no_sense_is_refused(words):
    """Status 2 and one line on standard error."""
    done = watch(*OK, "1", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1


def test_an_interrupted_watch_ends_with_130():
    """Ctrl-C without a terminal: no traceback."""
    running = subprocess.Popen([*REPLAYING, *OK, "0.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, b"")


def test_a_reader_that_goes_away_is_no_ready_unit():
    """0 would say that the unit is up."""
    running = subprocess.Popen([*REPLAYING, *OK, "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.close()
    assert running.wait(60) == 141
    assert running.stderr.read() == b""
    running.stderr.close()


def test_text_of_the_log_is_escaped_and_masked(library, replaying, capsys):
    """Control characters, and tokens, wherever a line is quoted."""
    from triage.model import Entry
    from triage.watching.documents import Documents
    from triage.watching.say import Lines, Style
    from triage.watching.watch import Settings, Watch

    own = {"_SYSTEMD_UNIT": "x.service", "_SYSTEMD_INVOCATION_ID": "a" * 32, "_PID": "7", "_TRANSPORT": "stdout"}
    text = "loading \x1b]0;owned\x07 with hf_abcdefghijklmnopqrstuvwxyzABCDEFGH\x00\u202e"
    for teller in (Lines, Documents):
        made = replaying.Replay([Entry({**own, "MESSAGE": text}, int(time.time() * 1e6), "", 0)])
        told = teller(sys.stdout, Style())
        import triage.watching.watch as module

        before = module.find_origin
        module.find_origin = lambda *_, **__: replaying.Origin(0, running=True, notes=[f"note {text}"])
        try:
            there = Watch(made, "x.service", library, Settings(stall=0.5, timeout=2.0), told)
            told.ended(there, there.run())
        finally:
            module.find_origin = before
        said = capsys.readouterr().out
        assert "loading" in said
        assert "hf_abcdefghijklmnop" not in said
        assert not [char for char in said if not char.isprintable() and char != "\n"]


# On a terminal


def test_a_terminal_shows_the_phases_and_keeps_what_is_drawn(terminal):
    """The cursor is hidden while it draws, and shown again at the end."""
    text, status = terminal(*REPLAYING, *OK, "1", rows=30, columns=100).end()
    assert status == 0
    assert b"distributed init" in text
    assert text.rindex(b"\x1b[?25h") > text.rindex(b"\x1b[?25l")
    assert b"ready after" in text


def test_ctrl_c_leaves_the_terminal_as_it_was(terminal):
    """Status 130, the cursor is back, no traceback."""
    there = terminal(*REPLAYING, *OK, "0.5")
    there.wait_for(b"weights")
    there.type(b"\x03")
    text, status = there.end()
    assert status == 130
    assert text.rindex(b"\x1b[?25h") > text.rindex(b"\x1b[?25l")
    assert b"Traceback" not in text


def test_a_narrow_window_cuts_lines_instead_of_wrapping_them(terminal):
    """Drawn again at every size: a line that wrapped would be left behind by the next drawing."""
    import re

    there = terminal(*REPLAYING, *OK, "0.5", rows=30, columns=100)
    there.wait_for(b"weights")
    there.resize(30, 40)
    # What was drawn before comes first, how much of it depends on the machine.
    for _ in range(20):
        there.text = b""
        there.wait_for(b"weights")
        drawn = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", there.text).decode()
        widest = max(len(line) for line in re.split(r"[\r\n]+", drawn))
        if widest <= 40:
            break
    assert widest <= 40
    there.type(b"\x03")
    assert there.end()[1] == 130
