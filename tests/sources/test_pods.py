"""What Kubernetes says of a pod, in every form in which kubectl prints it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources.pod_objects import objects, seconds
from triage.sources.pod_text import descriptions, is_description, is_table, table
from triage.sources.pods import read_pods

PODS = Path(__file__).parents[1] / "data" / "pods"
FINISHED = 1773116361.0  # 2026-03-10T04:19:21Z


@pytest.mark.parametrize("name", ["oom.json", "oom.yaml", "describe.txt"])
def test_a_container_that_was_killed_is_told_alike_by_every_form(name):
    """Reason, exit code, time, limits, image and environment."""
    (pod,) = read_pods([PODS / name])
    server = next(container for container in pod.containers if container.name == "server")
    assert (pod.name, pod.node) == ("sglang-0", "gpu-node-3")
    assert (server.state, server.reason, server.restarts) == ("waiting", "CrashLoopBackOff", 3)
    assert (server.last.reason, server.last.code, server.last.finished) == ("OOMKilled", 137, FINISHED)
    assert server.image == "lmsysorg/sglang:v0.5.6.post2-cu129"
    assert server.limits["memory"] == "192Gi"
    assert server.limits["nvidia.com/gpu"] == "2"
    assert "--model-path" in server.command
    assert server.environment == {"NCCL_DEBUG": "WARN"}


def test_the_size_of_shared_memory_is_that_of_its_volume():
    """An emptyDir of the medium Memory, mounted at /dev/shm."""
    (pod,) = read_pods([PODS / "oom.json"])
    assert {container.name: container.shm for container in pod.containers} == {"metrics": "", "server": "32Gi"}


def test_a_description_tells_events_and_how_often_they_came():
    """Ages give no times."""
    (pod,) = read_pods([PODS / "describe.txt"])
    assert [(said.reason, said.count, said.warning, said.last) for said in pod.said] == [
        ("Pulled", 1, False, None),
        ("Unhealthy", 3, True, None),
        ("BackOff", 14, True, None),
    ]
    assert pod.said[1].message.startswith("Startup probe failed: Get")


def test_events_belong_to_the_pods_that_they_name():
    """Those of other objects are nobody's."""
    pods = {pod.name: pod for pod in read_pods([PODS / "events.txt"])}
    assert {name: len(pod.said) for name, pod in pods.items()} == {"sglang-0": 3, "other-0": 1}


def test_events_and_the_pod_of_two_files_are_one_pod():
    """As `kubectl get pod` and `kubectl get events` print them."""
    (pod,) = read_pods([PODS / "oom.json", PODS / "events.json"])
    assert len(pod.containers) == 2
    assert [(said.reason, said.count) for said in pod.said] == [
        ("Unhealthy", 6),
        ("Killing", 1),
        ("FailedScheduling", 2),
    ]


def test_a_list_of_pods_and_events_is_read():
    """`kubectl get pod,events -o json`, and a plain list."""
    pod = json.loads((PODS / "oom.json").read_text())
    event = json.loads((PODS / "events.json").read_text())["items"][0]
    for value in ({"kind": "List", "items": [pod, event]}, [pod, event]):
        pods, said = objects([value])
        assert ([one.name for one in pods], [one.reason for one in said]) == (["sglang-0"], ["Unhealthy"])


def test_events_of_a_node_are_those_of_its_pods(tmp_path):
    """The kubelet tells of a system-wide OOM kill on the node's object."""
    event = {
        "kind": "Event",
        "type": "Warning",
        "reason": "SystemOOM",
        "message": "System OOM encountered, victim process: python3, pid: 4242",
        "involvedObject": {"kind": "Node", "name": "gpu-node-3"},
    }
    file = tmp_path / "events.json"
    file.write_text(json.dumps({"kind": "EventList", "items": [event]}))
    (pod,) = read_pods([PODS / "oom.json", file])
    assert [said.reason for said in pod.said] == ["SystemOOM"]


def test_the_newer_event_format_is_read():
    """events.k8s.io/v1 calls things by other names."""
    event = {
        "kind": "Event",
        "regarding": {"kind": "Pod", "name": "a"},
        "note": "Stopping container server",
        "reason": "Killing",
        "type": "Normal",
        "eventTime": "2026-03-10T04:19:11.123456Z",
        "series": {"count": 4, "lastObservedTime": "2026-03-10T04:20:11.000000Z"},
    }
    _, (said,) = objects([event])
    assert (said.name, said.message, said.count) == ("a", "Stopping container server", 4)
    assert said.last - said.first == pytest.approx(59.876544)


@pytest.mark.parametrize("text", ["", "2026-13-40T99:99:99Z", "yesterday", "2026-03-10 04:19:21"])
def test_what_is_no_time_of_the_api_is_none(text):
    """A guess would be worse."""
    assert seconds(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no whole JSON"),
        ("[" * 100_000, "no whole JSON"),
        ("kind: Pod\nmetadata: &a {name: b}\nspec: *a\n", "aliases"),
        ("kind: Pod\na: " + "[" * 100 + "]" * 100, "nested deeper"),
        ("kind: Pod\n\tb: 1\n", "no YAML"),
        ('{"kind": "Service"}', "neither a pod nor events"),
        ("some log\n", "neither a pod nor events"),
    ],
)
def test_a_file_that_tells_of_no_pod_is_an_error_of_one_line(tmp_path, text, why):
    """It says what is wanted."""
    file = tmp_path / "pod"
    file.write_text(text)
    with pytest.raises(TriageError, match=why) as caught:
        read_pods([file])
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    """As any other input."""
    with pytest.raises(TriageError, match=r"pod\.json: no such file"):
        read_pods([tmp_path / "pod.json"])


KEYS = [
    "kind",
    "items",
    "metadata",
    "name",
    "spec",
    "status",
    "containers",
    "containerStatuses",
    "state",
    "lastState",
    "terminated",
    "waiting",
    "exitCode",
    "env",
    "value",
    "resources",
    "limits",
    "involvedObject",
    "count",
    "args",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(["Pod", "List", "Event"]), max_size=5)
    ),
    max_leaves=30,
)


@given(VALUES)
def test_objects_of_any_shape_raise_nothing(value):
    """The API's types are not taken for granted."""
    objects([value])
    objects([{"kind": "Pod", "spec": value, "status": value, "metadata": value}])


@given(st.text(alphabet="NameContainers:vEt \n-/()x0", max_size=300), st.integers(0, 2500))
def test_any_part_of_a_description_raises_nothing(text, cut):
    """Cut anywhere, or garbled."""
    whole = (PODS / "describe.txt").read_text()
    descriptions(whole[:cut] + text)
    descriptions(whole[cut:])
    table((PODS / "events.txt").read_text()[:cut] + text)


def test_a_log_is_neither_table_nor_description():
    """Words of it may stand anywhere."""
    log = (PODS / "oom.log").read_text()
    assert not is_table(log)
    assert not is_description(log)
