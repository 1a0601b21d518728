"""What Kubernetes says of a pod beside its log: `kubectl get pod -o json|yaml`, events, `kubectl describe pod`.

Nothing in a file is trusted: it is bounded in size and depth, and what has another shape than the API's is passed over.
"""

from __future__ import annotations

import re
from pathlib import Path

from triage.model import TriageError
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

_JSON_BYTES = 64 << 20
_YAML_BYTES = 8 << 20
_DEEPEST = 60
_MOST = 5_000


@dataclass(slots=True)
class Ended:
    """How a container ended (ContainerStateTerminated); times are seconds since the epoch."""

    reason: str = ""
    code: int | None = None
    message: str = ""
    started: float | None = None
    finished: float | None = None


@dataclass(slots=True)
class Container:
    """A container: what it is to run and may use, in which state it is, and how it ended the time before.

    `state` is `running`, `waiting`, `terminated` or empty; `ended` is of the state, `last` of the container before.
    """

    name: str
    image: str = ""
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    limits: dict[str, str] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    state: str = ""
    reason: str = ""
    message: str = ""
    started: float | None = None
    ended: Ended | None = None
    last: Ended | None = None
    restarts: int = 0
    init: bool = False
    default: bool = False
    shm: str = ""


@dataclass(slots=True)
class Said:
    """An event of the cluster; `first` and `last` are seconds since the epoch, None where only an age was printed."""

    reason: str
    message: str
    warning: bool = True
    first: float | None = None
    last: float | None = None
    count: int = 1
    kind: str = "Pod"
    name: str = ""


@dataclass(slots=True)
class Pod:
    """A pod, as far as what was handed in tells of it. `source` is the file that does."""

    name: str
    node: str | None = None
    phase: str = ""
    reason: str = ""
    message: str = ""
    deleted: bool = False
    containers: list[Container] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    source: str = ""


def read_pods(paths: Sequence[str | os.PathLike[str]]) -> list[Pod]:
    """Take files; return the pods that they tell of, with their events.

    Raises `TriageError` for a file that can't be read or holds nothing of a pod.
    """
    pods: dict[str, Pod] = {}
    events: list[Said] = []
    for path in paths:
        found, said = _parse(str(path), _text(Path(path)))
        for pod in found[:_MOST]:
            pod.source = str(path)
            known = pods.setdefault(pod.name, pod)
            if known is not pod:
                _add(known, pod)
        events += said[:_MOST]
        if not found and not said:
            raise TriageError(
                f"{path} holds neither a pod nor events: give `kubectl get pod NAME -o json`, "
                "`kubectl get events -o json` or `kubectl describe pod NAME`"
            )
    _assign(pods, events, str(paths[0]) if paths else "")
    return list(pods.values())


def _add(known: Pod, pod: Pod) -> None:
    """The same pod out of two files: what one tells and the other does not."""
    known.said += pod.said
    known.node = known.node or pod.node
    known.deleted = known.deleted or pod.deleted
    names = {container.name for container in known.containers}
    known.containers += [container for container in pod.containers if container.name not in names]


def _assign(pods: dict[str, Pod], events: Iterable[Said], source: str) -> None:
    """Give events to their pods, those of a node to all pods on it; events alone make the pods that they name."""
    for said in events:
        if said.kind == "Node":
            owners = [pod for pod in pods.values() if pod.node == said.name]
        elif said.name in pods or said.kind == "Pod":
            owners = [pods.setdefault(said.name, Pod(said.name, source=source))]
        else:
            continue
        for pod in owners:
            pod.said.append(said)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(_JSON_BYTES + 1)
    except OSError as error:
        raise TriageError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if len(raw) > _JSON_BYTES:
        raise TriageError(f"{path} is longer than {_JSON_BYTES >> 20} MiB: give one pod (kubectl get pod NAME -o json)")
    return raw.decode("utf-8", "replace").lstrip("\ufeff")


def _parse(name: str, text: str) -> tuple[list[Pod], list[Said]]:
    from triage.sources import pod_text
    from triage.sources.pod_objects import objects

    if re.match(r"\s*(?:\{|\[\s*[\[{\]])", text):
        return objects([_json(name, text)])
    if pod_text.is_table(text):
        return [], pod_text.table(text)
    if pod_text.is_description(text):
        return pod_text.descriptions(text), []
    if re.search(r"^(?:- )?\s*(?:apiVersion|kind):", text, re.MULTILINE):
        return objects(_yaml(name, text))
    return [], []


def _json(name: str, text: str) -> Any:
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise TriageError(f"{name} is no whole JSON document: {error}") from None


def _yaml(name: str, text: str) -> list[Any]:
    import yaml

    if len(text) > _YAML_BYTES:
        raise TriageError(f"{name} is longer than {_YAML_BYTES >> 20} MiB of YAML: use -o json")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent):
                raise TriageError(f"{name} holds YAML aliases, which kubectl never writes")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise TriageError(f"{name} is nested deeper than {_DEEPEST}")
        return list(yaml.load_all(text, Loader=loader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise TriageError(f"{name} is no YAML: {' '.join(str(error).split())[:200]}") from None
