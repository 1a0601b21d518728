"""Pods and events as the Kubernetes API writes them, decoded from JSON or YAML.

Fields as in the API reference: core/v1 PodSpec, PodStatus, ContainerStatus, ResourceRequirements, Event, and
events.k8s.io/v1 Event. Values of another type than the API's count as missing.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.sources.pods import Container, Ended, Pod, Said
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST = 5_000
_LONGEST = 4_000
_TIME = regex(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)")
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_STATUSES = ("initContainerStatuses", "containerStatuses")
_SHM = "/dev/shm"  # noqa: S108  a mount point that is asked for by name


def objects(values: Sequence[Any]) -> tuple[list[Pod], list[Said]]:
    """Take decoded documents, of any shape; return the pods and the events in them."""
    pods: list[Pod] = []
    said: list[Said] = []
    for value in _flat(values):
        kind = value.get("kind")
        if kind == "Pod":
            pods.append(_pod(value))
        elif kind == "Event":
            said.append(_event(value))
    return pods, said


def _flat(values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Yield objects, those of lists too (`kind: List`, `PodList`, or a plain list)."""
    for value in values:
        if isinstance(value, list):
            yield from (item for item in value[:_MOST] if isinstance(item, dict))
        elif isinstance(value, dict) and isinstance(value.get("items"), list):
            default = str(value.get("kind", "")).removesuffix("List")
            yield from ({"kind": default, **item} for item in value["items"][:_MOST] if isinstance(item, dict))
        elif isinstance(value, dict):
            yield value


def _pod(value: dict[str, Any]) -> Pod:
    meta, spec, status = _dict(value, "metadata"), _dict(value, "spec"), _dict(value, "status")
    pod = Pod(
        _str(meta, "name"), _str(spec, "nodeName") or None, _str(status, "phase"), _str(status, "reason"),
        _str(status, "message"), bool(meta.get("deletionTimestamp")),
    )  # fmt: skip
    default = _str(_dict(meta, "annotations"), _DEFAULT_CONTAINER)
    memory = {_str(one, "name"): _str(_dict(one, "emptyDir"), "sizeLimit") for one in _dicts(spec, "volumes")}
    states = {_str(one, "name"): one for key in _STATUSES for one in _dicts(status, key)}
    for key in ("initContainers", "containers"):
        for one in _dicts(spec, key):
            container = _container(one, states.pop(_str(one, "name"), {}), memory)
            container.init = key == "initContainers"
            container.default = bool(default) and container.name == default
            pod.containers.append(container)
    pod.containers += [_container({"name": name}, one, {}) for name, one in states.items()]
    return pod


def _container(spec: dict[str, Any], status: dict[str, Any], memory: dict[str, str]) -> Container:
    resources = _dict(spec, "resources")
    state = _dict(status, "state")
    name = next((name for name in ("running", "waiting", "terminated") if isinstance(state.get(name), dict)), "")
    now = _dict(state, name) if name else {}
    last = _dict(status, "lastState").get("terminated")
    restarts = status.get("restartCount")
    mounts = _dicts(spec, "volumeMounts")
    return Container(
        _str(spec, "name"),
        _str(spec, "image") or _str(status, "image"),
        [str(word)[:_LONGEST] for key in ("command", "args") for word in _list(spec, key)],
        {_str(one, "name"): _str(one, "value") for one in _dicts(spec, "env") if isinstance(one.get("value"), str)},
        {str(key): str(found) for key, found in list(_dict(resources, "limits").items())[:50]},
        {str(key): str(found) for key, found in list(_dict(resources, "requests").items())[:50]},
        name,
        _str(now, "reason"),
        _str(now, "message"),
        seconds(_str(now, "startedAt")),
        _ended(now) if name == "terminated" else None,
        _ended(last) if isinstance(last, dict) else None,
        restarts if isinstance(restarts, int) else 0,
        shm=next((memory.get(_str(one, "name"), "") for one in mounts if one.get("mountPath") == _SHM), ""),
    )


def _ended(value: dict[str, Any]) -> Ended:
    code = value.get("exitCode")
    started, finished = seconds(_str(value, "startedAt")), seconds(_str(value, "finishedAt"))
    return Ended(
        _str(value, "reason"), code if isinstance(code, int) else None, _str(value, "message"), started, finished
    )


def _event(value: dict[str, Any]) -> Said:
    about = _dict(value, "involvedObject") or _dict(value, "regarding")
    series = _dict(value, "series")
    first = _str(value, "firstTimestamp") or _str(value, "deprecatedFirstTimestamp") or _str(value, "eventTime")
    last = _str(value, "lastTimestamp") or _str(value, "deprecatedLastTimestamp") or _str(series, "lastObservedTime")
    count = value.get("count") or value.get("deprecatedCount") or series.get("count")
    return Said(
        _str(value, "reason"),
        _str(value, "message") or _str(value, "note"),
        _str(value, "type") != "Normal",
        seconds(first) if seconds(first) is not None else seconds(last),
        seconds(last) if seconds(last) is not None else seconds(first),
        count if isinstance(count, int) and count > 0 else 1,
        _str(about, "kind"),
        _str(about, "name"),
    )


def seconds(text: str) -> float | None:
    """Take a time as the API writes it (RFC 3339, UTC); return seconds since the epoch, None for anything else."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    from datetime import datetime, timezone

    try:
        whole = datetime(*map(int, found.groups()[:6]), tzinfo=timezone.utc)  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    return whole.timestamp() + float(f"0.{found[7] or 0}")


def _dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _list(value: dict[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    return found[:_MOST] if isinstance(found, list) else []


def _dicts(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in _list(value, name) if isinstance(item, dict)]


def _str(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    if found is None or isinstance(found, (dict, list)):
        return ""
    return found.isoformat() if hasattr(found, "isoformat") else str(found)[:_LONGEST]
