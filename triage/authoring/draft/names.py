"""An id and a title for a failure that has none yet."""

from __future__ import annotations

import re

from triage.authoring.draft.matches import own_frames
from triage.lazy import regex
from triage.report.names import engine_file, short_file
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.authoring.draft.texts import Stable
    from triage.model import Failure, Incident

ID = regex(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*){1,3}")
_KINDS = {"unit": "systemd", "exit": "systemd", "kernel": "kernel"}
_WORDS = (("nccl", "nccl"), ("gloo", "gloo"), ("cuda", "cuda"), ("hip error", "rocm"), ("triton", "triton"))
_PACKAGES = (
    "sglang", "vllm", "torch", "triton", "flashinfer", "deep_gemm", "deep_ep", "xgrammar", "ray", "transformers",
    "huggingface_hub", "mooncake", "aiter", "zmq",
)  # fmt: skip
_AREAS = {"huggingface_hub": "hub", "transformers": "hub", "deep_gemm": "deep-gemm", "deep_ep": "deepep"}
_SLUG = 60


def id_of(failure: Failure, incident: Incident) -> str:
    """Take a root failure and its incident; return an id: the area by whose code failed, the slug by how."""
    return f"{_area(failure, incident)}/{_slug(failure)}"


def title_of(failure: Failure, said: Stable) -> str:
    """Take a root failure and what of its message is stable; return a title of at most 160 characters."""
    exception = failure.exception
    parts = [exception.type.rpartition(".")[2]] if exception is not None else []
    text = said.title if len(said.title) <= 110 else said.title[:109].rpartition(" ")[0] + " .."
    head = ": ".join(filter(None, [*parts, text])) or failure.rule
    frames = own_frames(exception.frames) if exception is not None else []
    where = f" in {frames[-1].function}" if frames else ""
    title = f"{head}{where}"
    # A capture that was cut in the middle is none.
    title = re.sub(r"\{[^}]*$", "..", title[:160])
    return title if title.strip() else failure.kind


def engine_of(failure: Failure, incident: Incident) -> str | None:
    """Take a root failure and its incident; return the engine whose code it is, None where it is nobody's own."""
    runs = incident.facts.get("engine")
    frames = own_frames(failure.exception.frames) if failure.exception is not None else []
    if not frames or not engine_file(frames[-1].file):
        return None
    # A path below `srt` names no package: it is SGLang's.
    package = short_file(frames[-1].file).partition("/")[0]
    engine = "vllm" if package == "vllm" else "sglang"
    return engine if runs in (None, engine) else None


def _area(failure: Failure, incident: Incident) -> str:
    if failure.kind in _KINDS:
        return _KINDS[failure.kind]
    frames = (failure.exception.frames if failure.exception else []) or failure.frames
    if engine := engine_of(failure, incident):
        return engine
    for frame in reversed(frames):
        parts = frame.file.split("/")
        package = next((name for name in _PACKAGES if name in parts), None)
        if package:
            return _AREAS.get(package, package)
    text = (failure.exception.message if failure.exception else failure.text).lower()
    area = next((area for word, area in _WORDS if word in text), None)
    return area or str(incident.facts.get("engine") or "python")


def _slug(failure: Failure) -> str:
    exception = failure.exception
    if exception is not None:
        frames = own_frames(exception.frames)
        words = [exception.type.rpartition(".")[2], *([frames[-1].function.rpartition(".")[2]] if frames else [])]
        if not frames:
            words.append(exception.message)
    else:
        words = [failure.text or failure.rule]
    text = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", " ".join(words)[:200]).lower()).strip("-")
    text = re.sub(r"(?:^|-)\d+(?=-|$)", "", text).strip("-")
    return text if len(text) <= _SLUG else text[:_SLUG].rpartition("-")[0] or text[:_SLUG]
