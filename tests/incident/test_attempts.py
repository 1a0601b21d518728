"""Attempts in plain text: a banner after a death begins the next one."""

import pytest

from triage.pipeline import diagnose

BANNER = "INFO 06-05 14:36:55 [api_server.py:1287] vLLM API server version 0.9.0"
DEATHS = {
    "an exception that nobody caught": [
        "Traceback (most recent call last):",
        '  File "/usr/local/bin/vllm", line 8, in <module>',
        "    out = call(x)",
        "ValueError: no room",
    ],
    "a container's end": ["vllm-1 exited with code 1"],
    "the engine's announcement": ["ERROR 06-05 14:36:59 [core.py:500] EngineCore failed to start."],
    "the shell's word": ["./run.sh: line 3: 77 Segmentation fault      (core dumped) vllm serve /m"],
}


def attempts(tmp_path, *lines):
    log = tmp_path / "x.log"
    log.write_text("\n".join(lines) + "\n")
    return diagnose(logs=[str(log)]).incidents


@pytest.mark.parametrize("death", DEATHS.values(), ids=list(DEATHS))
def test_a_banner_after_a_death_begins_an_attempt(tmp_path, death):
    """Each way to die counts."""
    found = attempts(tmp_path, BANNER, *death, BANNER, "INFO:     Application startup complete.")
    assert [incident.outcome for incident in found] == ["failed", "healthy"]


def test_a_banner_without_a_death_is_a_child_or_another_node(tmp_path):
    """So is one after an exception that was caught."""
    caught = [
        "Traceback (most recent call last):",
        '  File "/x/vllm/platforms/__init__.py", line 8, in detect',
        "    out = call(x)",
        "ImportError: no such plugin",
    ]
    assert len(attempts(tmp_path, BANNER, *caught, BANNER)) == 1


def test_lines_that_came_after_the_units_end_belong_to_its_run():
    """journald, when it reads them, no longer knows the invocation: they begin no run of their own."""
    from triage.events import extract
    from triage.incident import split
    from triage.lines import read_entries
    from triage.model import Entry

    manager = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": "x.service", "INVOCATION_ID": "a" * 32}
    started = {**manager, "MESSAGE_ID": "39f53479d3a045ac8e11786248231fbf", "MESSAGE": "Started x.service."}
    failed = {
        **manager,
        "MESSAGE_ID": "d9b373ed55a64feb8242e02dbe79a49c",
        "MESSAGE": "x.service: Failed with result 'exit-code'.",
        "UNIT_RESULT": "exit-code",
    }
    own = {"_SYSTEMD_UNIT": "x.service", "_PID": "7", "_TRANSPORT": "stdout", "MESSAGE": "giving up"}
    entries = [Entry(fields, 10**15 + n, None, n) for n, fields in enumerate([started, failed, own])]
    ((attempt,),) = split(extract(read_entries(entries, "journal")))
    assert (attempt.invocation, [track.pid for track in attempt.tracks]) == ("a" * 32, [7])
