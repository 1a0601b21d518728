"""One sentence for one incident: which service, what became of it, who failed how, and which signature knows it."""

from __future__ import annotations

from triage.data import knowledge
from triage.lazy import regex
from triage.report.names import ranks
from triage.report.text import one_line, start
from triage.report.times import duration
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.model import Diagnosis, Failure, Incident

_MESSAGE = 110
_SAYS = regex(r"\w.*\w")
# What of a line of the OOM killer says which process it was, without the many numbers after it.
_KILLED = regex(r".{0,200}[Kk]illed process \d+ \([^)]*\)")
# systemd puts the unit's name before what it says of it; a sentence has named it already.
_UNIT = regex(r"^[\w@:.\\-]{1,255}\.(?:service|scope|slice): ")


def summary(incident: Incident) -> str:
    """Take an incident; return one sentence that says what became of the service and why, at most a few hundred
    characters long and free of control characters.

    `sglang-pp8.service failed after the KV pool was ready: PP5 raised IndexError: list index out of range
    (sglang/pp-triton-layer0-value-buffer, certain)`
    """
    name = service(incident)
    root = root_of(incident)
    if incident.outcome == "healthy":
        return f"{name} {_well(incident)}{_at_last(incident)}"
    if incident.outcome == "starting" and _unknown(incident):
        return f"{name} shows no failure, nor anything that triage knows of a start"
    if incident.outcome == "starting":
        return f"{name} is starting{_after_comma(reached(incident, root))}, no failure so far"
    if incident.outcome == "degraded":
        opening = f"{name} is up, but degraded"
    else:
        opening = " ".join(filter(None, (f"{name} failed", reached(incident, root))))
    if root is None:
        return f"{opening}: no root found"
    return f"{opening}: {happened(root)}{_known(incident, root)}"


def service(incident: Incident) -> str:
    """Take an incident; return the service's name: its unit, or the file that it was read from."""
    units = list(dict.fromkeys(member.unit for member in incident.members if member.unit))
    hosts = len({member.host for member in incident.members if member.host})
    if units:
        name = units[0] if len(units) == 1 else f"{units[0]} and {len(units) - 1} more"
        return one_line(name) + (f" on {hosts} hosts" if hosts > 1 else "")
    if incident.source in ("", "-"):
        return "the service"
    return one_line(incident.source.rstrip("/").rpartition("/")[2]) or one_line(incident.source) or "the service"


def root_of(incident: Incident) -> Failure | None:
    """Take an incident; return its root failure."""
    return next((found for found in incident.failures if found.role == "root"), None)


def reached(incident: Incident, root: Failure | None) -> str:
    """Take an incident; return when it happened: `while loading weights`, `after the KV pool was ready`, or nothing."""
    phase = incident.phase
    if not phase:
        return ""
    words = knowledge("phase_words").get(phase)
    if words is None:
        return f"in phase {one_line(phase)}"
    return str(words["after" if _ended(incident, phase, root.ranks if root else ()) else "during"])


def phase_name(phase: str) -> str:
    """Take a phase; return what it is called."""
    words = knowledge("phase_words").get(phase)
    return str(words["name"]) if words else one_line(phase)


def _ended(incident: Incident, phase: str, failed: Sequence[str]) -> bool:
    """Say whether the processes of the failed ranks, or else all that were in the phase, had gone through it."""
    seen = [
        (process.rank in failed, found.ended)
        for process in incident.processes
        for found in process.phases
        if found.phase == phase
    ]
    own = [ended for failed_rank, ended in seen if failed_rank]
    return bool(seen) and all(own or (ended for _, ended in seen))


def happened(failure: Failure) -> str:
    """Take a failure; return who did what: `PP5 raised IndexError: list index out of range`."""
    who = ranks(failure.ranks, limit=3)
    if failure.kind == "exception":
        return f"{who} raised {head(failure)}" if who else head(failure)
    if failure.kind == "silence":
        return f"{who or ('a rank' if failure.rule == 'silent-rank' else 'the service')} fell silent: {head(failure)}"
    if failure.kind == "native" and who:
        return f"{who} crashed: {head(failure)}"
    return f"{who}: {head(failure)}" if who else head(failure)


def head(failure: Failure, width: int = _MESSAGE) -> str:
    """Take a failure; return its exception's type and message, or the first line of its text, on one line.

    What is longer than `width` characters loses its end.
    """
    if failure.exception is not None:
        return named(failure.exception.type, failure.exception.message, width)
    return start(one_line(_said(failure)), width) or one_line(failure.rule) or failure.kind


def _said(failure: Failure) -> str:
    if failure.kind == "kernel":
        lines = [*failure.text.split("\n", 50), *(found.text for found in failure.evidence)]
        killed = next(filter(None, map(_KILLED.match, lines)), None)
        return killed[0] if killed else first_line(failure.text)
    line = first_line(failure.text)
    if line.rstrip().endswith(":"):
        # What a panic or an assertion says stands below the place where it happened.
        line += " " + first_line(failure.text.partition(line)[2])
    return _UNIT.sub("", line) if failure.kind == "unit" else line


def named(kind: str, message: str, width: int = _MESSAGE) -> str:
    """Take an exception's type and message; return `IndexError: list index out of range` on one line."""
    short = one_line(kind.rpartition(".")[2] or kind)[:60]
    said = start(one_line(first_line(message)), width)
    if not short:
        return said or "an exception of which the last line is missing"
    return f"{short}: {said}" if said else short


def first_line(text: str) -> str:
    """Take a text; return its first line that says something."""
    for line in text.split("\n", 50):
        if _SAYS.search(line):
            return line[:2_000]
    return text[:2_000].strip()


def reason_of(incident: Incident, root: Failure | None) -> Failure | None:
    """Take an incident and its root failure; return the warning that explains it, if a signature named one."""
    if root is None or root.because is None:
        return None
    return next((found for found in incident.failures if found.id == root.because.failure and found is not root), None)


def diagnoses(incident: Incident, root: Failure | None) -> list[Diagnosis]:
    """Take an incident and its root failure; return its diagnoses, those of the warning that explains it first."""
    if root is None:
        return []
    reason = reason_of(incident, root)
    found = [*(reason.diagnoses if reason else []), *root.diagnoses]
    return list({diagnosis.signature: diagnosis for diagnosis in reversed(found)}.values())[::-1]


def _known(incident: Incident, root: Failure) -> str:
    known = diagnoses(incident, root)
    if not known:
        return " (no signature matches)"
    if known[0].confidence == "possible":
        return ", cause not certain"
    return f" ({one_line(known[0].signature)}, {known[0].confidence})"


def _unknown(incident: Incident) -> bool:
    """Say whether nothing of the log is known: no engine, no unit, no phase, and no line that is of any use."""
    told = any(member.unit for member in incident.members) or any(one.rank or one.phases for one in incident.processes)
    return not (told or incident.phase or incident.failures or "engine" in incident.facts)


def _well(incident: Incident) -> str:
    served = ""
    if incident.ready is not None and incident.ended is not None and incident.ended - incident.ready >= 1:
        served = f" for {duration(incident.ended - incident.ready)}"
    if incident.stopped_by_operator:
        return f"was stopped by the operator after serving{served}" if _up(incident) else "was stopped by the operator"
    return f"is healthy: it served{served}" if _up(incident) else "is healthy: no failure found"


def _at_last(incident: Incident) -> str:
    """What a restart loop left behind."""
    failed = incident.attempts.failed
    return f"; {failed:,} {'attempt' if failed == 1 else 'attempts'} before this one failed" if failed else ""


def _up(incident: Incident) -> bool:
    return incident.ready is not None or incident.phase in ("ready", "serving")


def _after_comma(text: str) -> str:
    return f", {text}" if text else ""
