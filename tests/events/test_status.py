"""What `systemctl status` prints is read where it is pasted."""

from triage.events.extract import extract
from triage.incident.facts import gather
from triage.lines import read_text

BLOCK = """\
× sglang.service - SGLang
     Loaded: loaded (/etc/systemd/system/sglang.service; enabled; preset: enabled)
     Active: failed (Result: exit-code) since Mon 2026-05-25 21:41:40 UTC; 3min 2s ago
   Duration: 1min 12.345s
    Process: 85650 ExecStart=/opt/venv/bin/python -m sglang.launch_server --model-path /m --pp-size 8 (code=exited, status=203/EXEC)
   Main PID: 85650 (code=exited, status=203/EXEC)
        CPU: 8min 12.001s
"""


def events(text: str):
    return extract(read_text([(0, text.encode())], "x.log")).events


def units(text: str) -> list[tuple[str, str | None, dict[str, str]]]:
    return [(event.rule, event.unit, event.data) for event in events(text) if event.kind == "unit"]


def test_result_and_exit_status() -> None:
    """As systemd's own messages say them."""
    found = {rule: (unit, data) for rule, unit, data in units(BLOCK)}
    assert found["systemd/failed"][1]["result"] == "exit-code"
    unit, data = found["systemd/main-exited"]
    assert (unit, data["exit"], data["step"]) == ("sglang.service", "203", "EXEC")


def test_a_signal() -> None:
    """`code=killed` names it."""
    text = BLOCK.replace("code=exited, status=203/EXEC", "code=killed, signal=KILL")
    assert ("systemd/main-exited", "SIGKILL") in [(rule, data.get("signal")) for rule, _, data in units(text)]


def test_the_command_tells_the_arguments() -> None:
    """ExecStart= stands there as it was run."""
    assert gather(events(BLOCK))["pp_size"] == 8


def test_a_unit_that_runs_has_not_failed() -> None:
    """And one that ended well neither."""
    running = BLOCK.replace("failed (Result: exit-code)", "active (running)").replace("203/EXEC", "0/SUCCESS")
    assert units(running) == []


def test_without_the_heading_nothing_speaks_for_systemd() -> None:
    """Nor from inside a journal, where systemd has lines of its own."""
    assert units(BLOCK.split("\n", 1)[1]) == []
    assert units("".join(f"May 25 21:41:38 gpu7 python[85711]: {line}\n" for line in BLOCK.splitlines())) == []


def test_right_under_a_traceback() -> None:
    """It is no part of the exception's message."""
    trace = 'Traceback (most recent call last):\n  File "/app/a.py", line 1, in f\n    g()\nRuntimeError: out of luck\n'
    (failure,) = [event for event in events(trace + BLOCK) if event.exception]
    assert failure.exception.message == "out of luck"
    assert {rule for rule, _, _ in units(trace + BLOCK)} == {"systemd/failed", "systemd/main-exited"}


def test_other_lines_end_the_block() -> None:
    """What follows at the margin is the log again."""
    head, rest = BLOCK.split("\n", 1)
    assert units(f"{head}\n[2026-05-25 21:41:38] x\n{rest}") == []
