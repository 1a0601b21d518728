"""Attempts in plain text: a banner after a death begins the next one."""

import pytest

from triage.pipeline import Options, diagnose, exit_status
from triage.report import render

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


LOOP = """\
Nov 29 14:01:00 gpu1 systemd[1]: Started sglang.service - SGLang.
Nov 29 14:01:05 gpu1 sglang[100]: [2025-11-29 14:01:05] server_args=ServerArgs(model_path='m', tp_size=1, port=30000)
Nov 29 14:01:09 gpu1 sglang[100]: [2025-11-29 14:01:09 TP0] Scheduler hit an exception: Traceback (most recent call last):
Nov 29 14:01:09 gpu1 sglang[100]:   File "/opt/venv/lib/python3.12/site-packages/sglang/srt/a.py", line 3, in f
Nov 29 14:01:09 gpu1 sglang[100]:     g(x)
Nov 29 14:01:09 gpu1 sglang[100]: ValueError: boom
Nov 29 14:01:10 gpu1 systemd[1]: sglang.service: Main process exited, code=exited, status=1/FAILURE
Nov 29 14:01:10 gpu1 systemd[1]: sglang.service: Failed with result 'exit-code'.
Nov 29 14:01:15 gpu1 systemd[1]: sglang.service: Scheduled restart job, restart counter is at 1.
Nov 29 14:01:15 gpu1 systemd[1]: sglang.service: Found left-over process 4711 (sglang::schedul) in control group while starting unit. Ignoring.
Nov 29 14:01:15 gpu1 systemd[1]: Started sglang.service - SGLang.
Nov 29 14:01:20 gpu1 sglang[200]: [2025-11-29 14:01:20] server_args=ServerArgs(model_path='m', tp_size=1, port=30000)
Nov 29 14:01:30 gpu1 sglang[200]: [2025-11-29 14:01:30] The server is fired up and ready to roll!
Nov 29 14:01:31 gpu1 sglang[200]: INFO:     127.0.0.1:4444 - "POST /generate HTTP/1.1" 200 OK
"""


def test_a_loop_that_came_up_at_last_is_over(tmp_path):
    """Nothing is wrong any more; what failed before is mentioned."""
    log = tmp_path / "loop.log"
    log.write_text(LOOP)
    report = diagnose(logs=[str(log)])
    assert exit_status(report) == 0
    assert report.verdicts[0].summary.startswith("sglang.service is healthy")
    assert report.verdicts[0].summary.endswith("1 attempt before this one failed")
    assert "ValueError: boom on TP0" in " ".join(render(report, "text", width=200).split())


def test_a_left_over_process_can_be_asked_for(tmp_path):
    """What systemd noticed at the start is no failure, but a signature may go by it."""
    pack = tmp_path / "pack/signatures/a"
    pack.mkdir(parents=True)
    (pack / "b.yaml").write_text(
        'format: 1\nid: a/b\ntitle: "T"\ncause: "C."\nmatch: {exception: ValueError, message: "boom"}\n'
        'with: [{match: {message: "Found left-over process"}}]\n'
    )
    log = tmp_path / "x.log"
    log.write_text("".join(line + "\n" for line in [*LOOP.splitlines()[9:11], *LOOP.splitlines()[1:8]]))
    options = Options(packs=[tmp_path / "pack"])
    (incident,) = diagnose(logs=[str(log)], options=options).incidents
    (root,) = [failure for failure in incident.failures if failure.role == "root"]
    assert [diagnosis.signature for diagnosis in root.diagnoses] == ["a/b"]
    log.write_text("".join(line + "\n" for line in LOOP.splitlines()[:8]))
    (incident,) = diagnose(logs=[str(log)], options=options).incidents
    assert not [d for failure in incident.failures for d in failure.diagnoses if d.signature == "a/b"]
