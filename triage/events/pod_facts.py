"""Facts of a run out of its pod: what the container was told to run, with which image, memory and GPUs."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.sources.pods import Container, Pod

_GPUS = regex(r".*(?:gpu|/mig-|Ascend)", re.IGNORECASE)
_ENGINE = regex(r"sglang|vllm|sgl-|dynamo|inference|model", re.IGNORECASE)
_TAG = regex(r"(?:.*/)?(?P<name>sglang|vllm|vllm-openai):v?(?P<release>\d+\.\d+[\w.+]*)(?:-.*)?(?:@.*)?")
_POWERS = ("Ki", "Mi", "Gi", "Ti")


def main_container(pod: Pod) -> Container | None:
    """Take a pod; return the container that serves: the default one, one with a GPU, or named or run like an engine.

    Where none has run yet because an init container failed, it is that one; None where none is known.
    """
    own = [container for container in pod.containers if not container.init]
    failed = [one for one in pod.containers if one.init and one.ended is not None and one.ended.code]
    if failed and not any(one.state == "running" or one.ended or one.last for one in own):
        return failed[0]
    return max(own, key=_serves, default=None)


def _serves(container: Container) -> tuple[bool, bool, bool]:
    named = " ".join([container.name, container.image, *container.command[:20]])
    return container.default, any(map(_GPUS.match, container.limits)), _ENGINE.search(named) is not None


def facts_of(pod: Pod, container: Container) -> Iterator[tuple[str, str]]:
    """Take a pod and its container; yield facts by name: launch arguments, environment, image, limits, the node."""
    from triage.sources.launch import facts_from_command

    for name, value in facts_from_command(container.command, container.environment).items():
        yield name, str(value)
    for name, value in container.environment.items():
        yield f"env.{name}", value
    if container.image:
        yield "container", container.image
        found = _TAG.fullmatch(container.image)
        if found is not None:
            yield found["name"].partition("-")[0], found["release"]
    yield "memory_limit", _bytes(container.limits.get("memory", ""))
    yield "host.memory_request", _bytes(container.requests.get("memory", ""))
    yield "host.shm", _bytes(container.shm)
    yield "host.cpu_limit", container.limits.get("cpu", "")
    yield "host.restarts", str(container.restarts) if container.restarts else ""
    yield "host.node", pod.node or ""
    gpus = next((value for name, value in container.limits.items() if _GPUS.match(name)), "")
    yield "gpu_count", gpus if gpus.isdecimal() else ""


def _bytes(text: str) -> str:
    """Kubernetes' `64Gi` as `64GiB`; a number of bytes in GiB."""
    if text[-2:] in _POWERS:
        return f"{text}B"
    if text.isdecimal() and len(text) < 20:
        return f"{int(text) / 2**30:.1f}GiB".replace(".0GiB", "GiB")
    return f"{text}B" if text[-1:] in ("K", "M", "G", "T") else text
