"""Facts that differ between two runs: what was asked for first, what differs from run to run last."""

from __future__ import annotations

from triage.data import knowledge
from triage.lazy import regex
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# What is chosen anew for every start, or says where something lies and not what is done.
_NOISE = regex(
    r"random_seed|(?:.*_)?port|host|dist_init_addr|nccl_port|node_rank|world_size|served_model_name|file_storage_p(?:a)?th"
    r"|.*(?:cache|log|tmp|temp|home|dump|output|record)_?(?:dir|folder|path|file)\w*|download_dir|crash_dump_folder"
    r"|.*_at_least|user|unit|command|host\.(?:node|restarts|name)"
    r"|env\.(?:.*(?:CACHE|TMP|HOME|LOG|DUMP|PATH|DIR|HOSTNAME|PWD|OLDPWD|SHLVL|PORT|INVOCATION_ID|JOURNAL_STREAM|TERM).*|_)",
)
# The other way round: a path that decides what is run.
_SIGNAL = frozenset(
    {"model_path", "tokenizer_path", "env.PATH", "env.LD_LIBRARY_PATH", "env.PYTHONPATH", "env.CUDA_HOME"}
)
# What is measured at a start is never quite the same, and a run that ends early does not come to it.
_MEASURED = 0.05
# A run that tells fewer arguments ended before it printed them: what it does not tell is no change.
_SOME_ARGUMENTS = 3


@dataclass(slots=True)
class Change:
    """A fact that differs; None where a run does not tell it. `kind` says of what it is a fact."""

    name: str
    good: object
    bad: object
    kind: str
    noise: bool = False


_ORDER = ("argument", "release", "environment", "host", "other")


def changes(good: Mapping[str, object], bad: Mapping[str, object]) -> list[Change]:
    """Take the facts of two runs; return those that differ: launch arguments, releases, environment, host, others.

    Within a kind those that both tell stand first; what differs from run to run stands after all.
    """
    tables = knowledge("facts")
    releases, arguments = frozenset(tables["releases"]), frozenset(tables["arguments"])
    silent = min(len(arguments & side.keys()) for side in (good, bad)) < _SOME_ARGUMENTS
    found = []
    for name in dict.fromkeys([*good, *bad]):
        one, other = good.get(name), bad.get(name)
        if one == other or str(one) == str(other):
            continue
        kind = _kind(name, releases, arguments)
        missing = one is None or other is None
        untold = missing and silent and kind == "argument"
        measured = kind == "other" and (missing or _close(one, other))
        noise = untold or (name not in _SIGNAL and (measured or _NOISE.fullmatch(name) is not None))
        found.append(Change(name, one, other, kind, noise))
    found.sort(key=lambda one: (one.noise, _ORDER.index(one.kind), one.good is None or one.bad is None))
    return found


def _kind(name: str, releases: frozenset[str], arguments: frozenset[str]) -> str:
    if name in releases:
        return "release"
    if name.startswith("env."):
        return "environment"
    if name.startswith("host.") or name in ("gpu", "gpu_count", "container", "memory_limit", "available_gpu_mem"):
        return "host"
    return "argument" if name in arguments else "other"


def _close(one: object, other: object) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= _MEASURED * max(abs(one), abs(other))
    return False
