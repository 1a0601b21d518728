"""`triage logs` with a pod beside the log, and with several files."""

import json
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
PODS, NODES = DATA / "pods", DATA / "nodes"


def last(said):
    return json.loads(said.out)["incidents"][-1]


def root(incident):
    return next(failure for failure in incident["failures"] if failure["role"] == "root")


def test_a_log_that_simply_ends_is_explained_by_its_pod(triage):
    """OOMKilled; the same log alone says nothing."""
    alone = triage("logs", PODS / "oom.log", "-o", "json")
    assert (alone.status, last(alone)["outcome"]) == (0, "starting")
    said = triage("logs", PODS / "oom.log", "--pod", PODS / "oom.json", "-o", "json")
    incident = last(said)
    assert (said.status, incident["outcome"], incident["phase"]) == (1, "failed", "weights")
    assert root(incident)["diagnoses"][0]["signature"] == "kubernetes/oom-killed"
    assert incident["exit"]["signal"] == "SIGKILL"
    assert incident["facts"]["memory_limit"] == "192GiB"
    assert incident["facts"]["sglang"] == "0.5.6.post2"
    back_off = next(f for f in incident["failures"] if f["rule"] == "kubernetes/back-off")
    assert (back_off["role"], back_off["because"]["failure"]) == ("consequence", root(incident)["id"])


def test_a_description_and_yaml_say_the_same(triage):
    """Whatever form kubectl printed."""
    for name in ("describe.txt", "oom.yaml"):
        said = triage("logs", PODS / "oom.log", "--pod", PODS / name, "-o", "json")
        assert root(last(said))["diagnoses"][0]["signature"] == "kubernetes/oom-killed"


def test_an_exception_before_the_end_stays_the_root(triage, tmp_path):
    """The container's exit code only says that it ended."""
    log = tmp_path / "x.log"
    log.write_text(
        (PODS / "oom.log").read_text()
        + "[2026-03-10 04:19:18 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        + '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/a.py", line 3, in run\n    go()\nKeyError: 1\n'
    )
    pod = tmp_path / "pod.json"
    pod.write_text((PODS / "oom.json").read_text().replace('"OOMKilled"', '"Error"'))
    incident = last(triage("logs", log, "--pod", pod, "-o", "json"))
    assert root(incident)["exception"]["type"] == "KeyError"
    ended = next(f for f in incident["failures"] if f["rule"] == "container/terminated")
    assert ended["role"] == "consequence"


def test_a_probe_that_killed_a_container_is_the_root_where_nothing_else_is(triage, tmp_path):
    """And the exit code 137 follows from it."""
    pod = tmp_path / "pod.json"
    pod.write_text((PODS / "oom.json").read_text().replace('"OOMKilled"', '"Error"'))
    said = triage("logs", PODS / "oom.log", "--pod", pod, "--pod", PODS / "events.json", "-o", "json")
    incident = last(said)
    assert root(incident)["rule"] == "kubernetes/probe-killed"
    roles = {failure["rule"]: failure["role"] for failure in incident["failures"]}
    assert roles["container/terminated"] == "consequence"


def test_the_nodes_of_a_run_get_one_verdict(triage):
    """The rank that failed first, though its clock is ahead."""
    said = triage("logs", NODES / "node0.log", NODES / "node1.log")
    assert said.status == 1
    assert said.out.startswith("✗ node0.log and node1.log failed")
    assert "TP3 raised" in said.flat
    assert "37 s ahead" in said.flat


def test_other_services_get_one_verdict_each(triage):
    """Nothing says that they are of one run."""
    said = triage("logs", NODES / "node0.log", PODS / "oom.log", "-o", "json")
    assert len(json.loads(said.out)["verdicts"]) == 2
    together = triage("logs", "--together", NODES / "node0.log", PODS / "oom.log", "-o", "json")
    assert len(json.loads(together.out)["verdicts"]) == 1


def test_a_rotated_log_is_one_service(triage, tmp_path):
    """Its older half alone would be another."""
    text = (NODES / "node1.log").read_text()
    half = text.index("\n", len(text) // 2) + 1
    (tmp_path / "x.log.1").write_text(text[:half])
    (tmp_path / "x.log").write_text(text[half:])
    said = triage("logs", tmp_path / "x.log", tmp_path / "x.log.1", "-o", "json")
    document = json.loads(said.out)
    assert len(document["incidents"]) == 1
    assert root(document["incidents"][0])["ranks"] == ["TP3"]
    assert root(document["incidents"][0])["first"]["source"] == str(tmp_path / "x.log")


def test_a_pod_file_that_is_none_is_said_in_one_line(triage):
    """With status 2."""
    said = triage("logs", PODS / "oom.log", "--pod", PODS / "oom.log")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "neither a pod nor events" in said.err
