"""Whose control group a path is: a systemd unit, a container, a Kubernetes pod.

>>> owner("/system.slice/sglang.service")
{'unit': 'sglang.service'}
>>> owner("/kubepods/burstable/pod0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/cri-containerd-9f2c1d4457aa.scope")
{'pod': '0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f', 'container': '9f2c1d4457aa'}
"""

from __future__ import annotations

from triage.lazy import regex

_POD = regex(r"pod(?P<uid>[0-9a-f][0-9a-f_-]{3,40})")
_CONTAINER = regex(
    r"(?:^|/)(?:docker|cri-containerd|crio|libpod|containerd)[-:/](?P<id>[0-9a-f]{6,64})(?:\.scope)?(?:/|$)"
)
_UNIT = regex(r"/(?P<unit>[^/]{1,255}\.service)(?=/|$)")


def owner(path: str) -> dict[str, str]:
    """Take a cgroup path; return `unit`, `container` and `pod` as far as it names them.

    Of nested services the innermost counts: a user's units lie below `user@1000.service`.
    """
    path = path[:1000].strip()
    named: dict[str, str] = {}
    pod = _POD.search(path)
    if pod is not None and "kubepods" in path:
        named["pod"] = pod["uid"].replace("_", "-").strip("-")
    container = _CONTAINER.search(path)
    if container is not None:
        named["container"] = container["id"]
    units = _UNIT.findall(path)
    if units and "pod" not in named:
        named["unit"] = units[-1].replace("\\x2d", "-")
    return named
