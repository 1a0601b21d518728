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
