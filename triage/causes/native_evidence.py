"""A native line that is the origin of a Python exception of the same process is part of that failure, no second one.

Done before signatures are matched, so that one can ask for the assertion and the Python frame together.
"""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Failure, Incident

# Which exceptions take which native lines as their own: rule of the native failure -> what the exception says.
_TAKES = {
    "native/device-assert": regex(
        r"CUDA error|CUBLAS|CUDNN|device-side assert|HIP error|c10::Error|NCCL", re.IGNORECASE
    ),
    "native/nccl-warn": regex(r"NCCL|DistBackendError"),
    "native/compiler": regex(r"CalledProcessError|ninja|nvcc|ptxas|gcc|Inductor|PTXAS|compil|build", re.IGNORECASE),
    "native/c10": regex(r"CUDA error|NCCL|c10|DistBackendError"),
    "native/glog": regex(r"[Mm]ooncake|transfer|[Rr]egister|RDMA|KVTransfer|[Ee]ngine initialization"),
}
# Native lines later than the exception by more lines than this are no origin of it.
_AFTER = 400
_TEXT = 2000


def attach(incident: Incident) -> None:
    """Take an incident with its failures; merge native evidence into the exception that it is the origin of."""
    exceptions = [f for f in incident.failures if f.exception is not None and f.level is not None and f.level < 2]
    gone: set[str] = set()
    for native in incident.failures:
        pattern = _TAKES.get(native.rule)
        if pattern is None or native.exception is not None:
            continue
        owner = _owner(native, exceptions, pattern)
        if owner is not None:
            _merge(owner, native)
            gone.add(native.id)
    if gone:
        incident.failures = [f for f in incident.failures if f.id not in gone]


def _owner(native: Failure, exceptions: list[Failure], pattern: re.Pattern[str]) -> Failure | None:
    """The first exception after the native line that speaks of such a thing, of the same process if one is."""
    fits = []
    for failure in exceptions:
        info = failure.exception
        assert info is not None
        said = " ".join([info.type, info.message[:2000], *(f"{c.type} {c.message[:500]}" for c in info.chain)])
        if pattern.search(said) and int(failure.data.get("last", failure.order)) + _AFTER >= native.order:
            fits.append(failure)
    same = [f for f in fits if f.streams & native.streams or set(f.ranks) & set(native.ranks)]
    later = [f for f in (same or fits) if f.order >= native.order]
    pool = later or same
    return min(pool, key=lambda f: f.order) if pool else None


def _merge(owner: Failure, native: Failure) -> None:
    owner.text = f"{owner.text[: _TEXT // 2]}\n{native.text[: _TEXT // 2]}"[:_TEXT]
    owner.evidence = native.evidence[:6] + owner.evidence
    for name, value in native.data.items():
        owner.data.setdefault(name, value)
