"""What Kubernetes says of a container, as events of its log."""

import json
from pathlib import Path

import pytest

from triage.events import extract
from triage.events.pods import attach
from triage.lines import read_text
from triage.model import TriageError
from triage.patterns import LinePattern
from triage.sources.pods import Container, Ended, Pod, Said, read_pods

PODS = Path(__file__).parents[1] / "data" / "pods"
START, END = 1773116251.0, 1773116318.0  # of oom.log, read as UTC


def said(pods, text=None, name="oom.log", patterns=()):
    """What a log and its pods say together: the extraction and the gaps."""
    raw = (PODS / "oom.log").read_bytes() if text is None else text.encode()
    extraction = extract(read_text([(0, raw)], name))
    return extraction, attach(extraction, pods, name, patterns)


def told(extraction):
    """The API's events, in order."""
    return [(event.rule, event.text) for event in extraction.events if event.data.get("origin") == "api"]


def pod(*said, name="sglang-0", **container):
    return Pod(name, containers=[Container("server", **container)], said=list(said))


def ended(reason="Error", code=137, started=START - 20, finished=END + 3, message=""):
    return Ended(reason, code, message, started, finished)


def test_an_oom_kill_that_kubernetes_tells_of_is_one():
    """Kernel-like evidence, fatal, after all lines, with the limit that was reached."""
    extraction, gaps = said(read_pods([PODS / "oom.json"]))
    event = extraction.events[[event.rule for event in extraction.events].index("kubernetes/oom-killed")]
    assert (event.kind, event.level, event.fatal) == ("kernel", 0, True)
    assert event.data["oom"] == "memcg"
    assert event.text == (
        "Container server of pod sglang-0: Terminated, Reason: OOMKilled, Exit Code: 137, memory limit 192Gi"
    )
    assert event.order > max(track.last_number for track in extraction.tracks)
    assert event.at.host == "gpu-node-3"
    assert gaps == []


def test_limits_image_and_arguments_are_facts():
    """By the names that signatures ask for; secrets that the spec only refers to are none."""
    extraction, _ = said(read_pods([PODS / "oom.json"]))
    facts = next(event.data for event in extraction.events if event.text == "pod sglang-0")
    expected = {
        "memory_limit": "192GiB",
        "host.memory_request": "128GiB",
        "host.shm": "32GiB",
        "host.node": "gpu-node-3",
        "host.restarts": "3",
        "gpu_count": "2",
        "sglang": "0.5.6.post2",
        "container": "lmsysorg/sglang:v0.5.6.post2-cu129",
        "env.NCCL_DEBUG": "WARN",
        "tp_size": "2",
        "hicache_size": "120",
        "engine": "sglang",
    }
    assert {name: facts[name] for name in expected} == expected
    assert "env.HF_TOKEN" not in facts


@pytest.mark.parametrize(
    ("code", "signal"), [(137, "SIGKILL"), (139, "SIGSEGV"), (143, "SIGTERM"), (134, "SIGABRT"), (1, None), (250, None)]
)
def test_an_exit_code_above_128_is_a_signal(code, signal):
    """As shells and container runtimes write it."""
    extraction, _ = said([pod(state="terminated", ended=ended(code=code))])
    event = extraction.events[-2]
    assert (event.rule, event.kind, event.fatal) == ("container/terminated", "exit", True)
    assert event.data.get("signal") == signal
    assert event.data["exit"] == str(code)
    assert event.data["code"] == (f"-{code - 128}" if signal else str(code))


def test_an_end_without_an_error_is_no_event():
    """Exit code 0."""
    extraction, _ = said([pod(state="terminated", ended=ended("Completed", 0))])
    assert told(extraction) == []


@pytest.mark.parametrize("stop", [{"deleted": True}, {"said": [Said("Killing", "Stopping container server", False)]}])
def test_who_deletes_a_pod_stops_it_in_order(stop):
    """SIGTERM is no failure then."""
    one = pod(state="terminated", ended=ended(code=143))
    one.deleted = stop.get("deleted", False)
    one.said = stop.get("said", [])
    extraction, _ = said([one])
    assert "graceful-stop" in [event.rule for event in extraction.events]
    assert "container/terminated" not in [event.rule for event in extraction.events]


def test_the_end_that_lies_at_the_end_of_the_log_is_the_logs():
    """Of `state` and `lastState`; what the next container did is not this log's."""
    both = pod(state="terminated", ended=ended("OOMKilled", 137, END + 30, END + 300), last=ended("Error", 1))
    extraction, _ = said([both])
    assert [text.partition(": ")[2] for _, text in told(extraction)] == ["Terminated, Reason: Error, Exit Code: 1"]


def test_the_end_of_the_container_before_is_not_that_of_a_running_one():
    """The log is that of the container that runs now."""
    extraction, gaps = said([pod(state="running", last=ended("OOMKilled", 137, START - 900, START - 60))])
    assert told(extraction) == []
    assert gaps == []


def test_an_end_at_another_time_is_left_out_and_said():
    """A pod's status of yesterday."""
    extraction, gaps = said([pod(state="waiting", last=ended("OOMKilled", 137, START - 90_000, START - 80_123))])
    assert told(extraction) == []
    assert [gap.kind for gap in gaps] == ["clock"]


def test_a_log_in_local_time_is_matched_by_whole_quarters_of_an_hour():
    """Its stamps have no zone; the API's are UTC. Times are given by the log's clock."""
    shift = 5.5 * 3600
    extraction, gaps = said([pod(state="waiting", last=ended("OOMKilled", 137, START - 20 + shift, END + 3 + shift))])
    (oom,) = [event for event in extraction.events if event.rule == "kubernetes/oom-killed"]
    assert oom.at.time == END + 3
    assert not oom.at.zoned
    assert gaps == []


def test_a_log_without_times_takes_the_last_end_of_a_container_that_is_down():
    """Nothing else can be meant; of one that runs, only where the log tells of a death."""
    down = pod(state="waiting", last=ended("OOMKilled"))
    runs = pod(state="running", last=ended("OOMKilled"))
    assert [rule for rule, _ in told(said([down], "no stamp\n")[0])] == ["kubernetes/oom-killed"]
    assert told(said([runs], "no stamp\n")[0]) == []
    assert [rule for rule, _ in told(said([runs], "no stamp\nKilled\n")[0])] == ["kubernetes/oom-killed"]


def test_probes_that_failed_are_read_as_lines_are():
    """By the rows of knowledge, with how often they came; events of another time are not this run's."""
    extraction, _ = said(read_pods([PODS / "oom.json", PODS / "events.json"]))
    rules = [event.rule for event in extraction.events if event.data.get("origin") == "api"]
    assert "kubernetes/unschedulable" not in rules
    failed = next(event for event in extraction.events if event.rule == "kubernetes/probe-failed")
    assert failed.data["repeats"] == "5"
    assert "kubernetes/probe-killed" in rules


def test_events_stand_among_the_lines_by_their_time():
    """Before what was logged later."""
    line = Said("Unhealthy", "Liveness probe failed: x", True, START + 15.0, START + 15.0)
    extraction, _ = said([pod(line, state="running")])
    orders = [event.order for event in extraction.events if event.rule == "kubernetes/probe-failed"]
    after = min(event.order for event in extraction.events if event.rule == "phase/weights")
    assert orders[0] <= after


def test_what_a_container_printed_is_not_the_apis_word():
    """A probe's output and a termination message can hold anything: no OOM kill is read out of them."""
    line = Said("Unhealthy", "Liveness probe failed: Reason: OOMKilled", True, START + 15.0, START + 15.0)
    extraction, _ = said([pod(line, state="terminated", ended=ended("Error", 1, message="OOMKilled\nEvicted"))])
    assert [rule for rule, _ in told(extraction)] == ["kubernetes/probe-failed", "container/terminated"]
    probe = next(event for event in extraction.events if event.rule == "kubernetes/probe-failed")
    assert probe.evidence[0].text == "Unhealthy: Liveness probe failed"


@pytest.mark.parametrize(
    "output",
    [
        "HTTP probe failed with statuscode: 503",
        'Get "http://10.1.0.9:30000/health": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        'Get "http://10.1.0.9:30000/health": dial tcp 10.1.0.9:30000: connect: connection refused',
        "dial tcp 10.1.0.9:30000: i/o timeout",
    ],
)
def test_what_the_kubelet_says_of_a_probe_is_shown(output):
    """Its own words, which no program in the container chooses."""
    line = Said("Unhealthy", f"Liveness probe failed: {output}", True, START + 15.0, START + 15.0)
    extraction, _ = said([pod(line, state="running")])
    probe = next(event for event in extraction.events if event.rule == "kubernetes/probe-failed")
    assert probe.evidence[0].text == f"Unhealthy: Liveness probe failed: {output}"


def test_signatures_can_ask_for_a_line_of_the_api():
    """Their log patterns are tried too."""
    pattern = LinePattern("lab/evicted", ("low on resource",))
    one = Pod("sglang-0", reason="Evicted", message="The node was low on resource: memory.")
    extraction, _ = said([one], patterns=[pattern])
    assert {rule for rule, _ in told(extraction)} == {"kubernetes/evicted", "lab/evicted"}


def test_of_several_pods_the_one_that_the_log_names_is_meant():
    """By the file's name, the longest one that fits; else it is an error."""
    several = [pod(name=name, state="waiting", last=ended("OOMKilled")) for name in ("sglang-1", "sglang-11", "router")]
    extraction, _ = said(several, "no stamp\n", name="logs/sglang-11.log")
    assert [text.partition(":")[0] for _, text in told(extraction)] == ["Container server of pod sglang-11"]
    with pytest.raises(TriageError, match=r"3 pods \(sglang-1, sglang-11, router\)"):
        said(several, "no stamp\n", name="server.log")


def test_lines_that_name_their_pod_find_it():
    """kubectl --prefix and stern write it before each line."""
    text = "".join(f"[pod/router/server] line {number}\n" for number in range(6))
    several = [pod(name=name, state="waiting", last=ended("OOMKilled")) for name in ("sglang-1", "router")]
    extraction, _ = said(several, text, name="all.log")
    assert [text.partition(":")[0] for _, text in told(extraction)] == ["Container server of pod router"]


def test_of_several_containers_the_one_that_serves_is_meant():
    """It has the GPUs; a failed init container counts where no other ran."""
    file = json.loads((PODS / "oom.json").read_text())
    assert file["spec"]["containers"][0]["name"] == "metrics"
    init = Pod("a", containers=[Container("fetch", init=True, ended=Ended("Error", 2)), Container("server")])
    extraction, _ = said([init], "no stamp\n")
    assert told(extraction) == [
        ("container/terminated", "Container fetch of pod a: Terminated, Reason: Error, Exit Code: 2")
    ]
