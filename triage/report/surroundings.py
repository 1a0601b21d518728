"""The second half of a view: the lines that decided, what came after and before, what is not known, and the details."""

from __future__ import annotations

from triage.report.aftermath import why
from triage.report.items import Item, Section
from triage.report.names import command, frame, ranks
from triage.report.onward import read_on
from triage.report.sentence import head, phase_name, reason_of
from triage.report.text import middle, one_line, visible
from triage.report.times import clock, duration, stamp
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Evidence, Failure, Incident, Position, Process

_LINES, _GAPS = 4, 4


def evidence(incident: Incident, root: Failure | None, local: bool) -> list[Section]:
    """Take an incident and its root failure; return the decisive lines and how to read on from there."""
    if root is None:
        return []
    reason = reason_of(incident, root)
    lines = _decisive(root)
    items = [Item("log", _shown(found.text), where(found.at, local)) for found in lines]
    if len(lines) > 1 and "Traceback (most recent call last)" in lines[0].text:
        # The command to read on leads there, too.
        items[0].spare = True
    if reason:
        items = [Item("log", _shown(found.text), where(found.at, local)) for found in _decisive(reason)[:1]] + items
    if not items:
        items = [Item("log", _shown(root.text or head(root)), where(root.first, local))]
    found = [Section("evidence", items, "lines")]
    go = read_on(incident, root.first)
    if go:
        found.append(Section("read on", [Item("command", command(go))], "lines"))
    return found


def where(at: Position, local: bool) -> str:
    """Take a position; return `14:21:21 PP6 :210`, or what of it is known: time, rank or pid, line or `@offset`."""
    who = one_line(at.rank) if at.rank else f"pid {at.pid}" if at.pid is not None else ""
    place = f":{at.line}" if at.line is not None else "" if at.cursor is not None else f"@{at.offset}"
    return " ".join(filter(None, (clock(at.time, at.zoned, local), who, place)))


def _decisive(failure: Failure) -> list[Evidence]:
    """Return where it began and what it was: of a traceback its head and its exception, of anything else both ends."""
    lines = [line for line in failure.evidence if line.text.strip()]
    if failure.exception is not None and len(lines) > 2:
        name = failure.exception.type.rpartition(".")[2]
        said = [n for n, line in enumerate(lines) if n and name and name in line.text and line.text[:1] != " "]
        last = said[0] if said else len(lines) - 1
        # Some messages begin on the line below the exception's name.
        below = lines[last].text.rstrip().endswith(f"{name}:") and last + 1 < len(lines)
        return [lines[0], lines[last + below]]
    return lines if len(lines) <= _LINES else [*lines[: _LINES // 2], *lines[-_LINES // 2 :]]


def _shown(text: str) -> str:
    lines = [line for line in text.split("\n") if line.strip()]
    more = f"  (+{len(lines) - 1} lines)" if len(lines) > 1 else ""
    return visible(lines[0].strip()) + more if lines else ""


def unsure(incident: Incident) -> list[Section]:
    """Take an incident; return what could not be read and could change the verdict.

    A service that served is not called ill for want of the kernel's lines or of a common clock.
    """
    gaps = [gap for gap in incident.gaps if incident.outcome != "healthy" or gap.kind not in ("no-kernel", "clock")]
    items = [Item("prose", one_line(gap.detail) or gap.kind, lines=2) for gap in gaps[:_GAPS]]
    if len(gaps) > _GAPS:
        items.append(Item("quiet", f"and {len(gaps) - _GAPS} more"))
    return [Section("not seen", items, "more")] if items else []


def every(incident: Incident, local: bool) -> list[Section]:
    """Take an incident; return all its failures, each with its role and why it has it."""
    heads = {found.id: head(found, 60) for found in incident.failures}
    return [Section(one_line(found.id), _failure(found, heads, local), "all") for found in incident.failures]


def _failure(found: Failure, heads: dict[str, str], local: bool) -> list[Item]:
    who = ranks(found.ranks)
    times = f", {found.count:,} times" if found.count > max(len(found.ranks), 1) else ""
    items = [Item("prose", f"{found.role}{f', {who}' if who else ''}{times}: {head(found, 400)}")]
    if found.because is not None:
        other = heads.get(found.because.failure, "")
        follows = f"because of {found.because.failure}{f' ({other})' if other else ''}"
        words = why(found.because.rule) or f"by the rule {found.because.rule}"
        items.append(Item("quiet", one_line(f"{follows}: {words}")))
    items += [Item("quiet", one_line(f"{known.signature} ({known.confidence})")) for known in found.diagnoses[:3]]
    items.append(
        Item("log", _shown(found.evidence[0].text if found.evidence else found.text), where(found.first, local))
    )
    return items


def stack(root: Failure | None) -> list[Section]:
    """Take the root failure; return its whole stack, outermost frame first."""
    frames = (root.exception.frames if root and root.exception else []) or (root.frames if root else [])
    return [Section("stack", [Item("log", frame(found)) for found in frames], "stack")] if frames else []


def processes(incident: Incident, local: bool) -> list[Section]:
    """Take an incident; return how far each of its processes came, its last line and its end."""
    items = []
    for process in incident.processes:
        who = " ".join(filter(None, (one_line(process.rank or ""), f"pid {process.pid}" if process.pid else "")))
        items.append(Item("prose", _process(process), who or "process"))
        if process.last:
            items.append(Item("log", _shown(process.last.text), where(process.last.at, local)))
    return [Section("processes", items, "processes")] if items else []


def _process(process: Process) -> str:
    parts = []
    for found in process.phases:
        took = found.end - found.start if found.start is not None and found.end is not None else 0.0
        parts.append(phase_name(found.phase) + (f" {duration(took)}" if took > 0 else ""))
    text = ", ".join(parts) or "no phase seen"
    return one_line(f"{text}; {process.exit}" if process.exit else text)


def facts(incident: Incident) -> list[Section]:
    """Take an incident; return all that is known of the service, by name."""
    facts = [(name, value) for name, value in incident.facts.items() if value is not None]
    items = [Item("log", middle(one_line(str(value)), 400), one_line(name)) for name, value in facts]
    times = [Item("log", stamp(incident.ready, incident.zoned, False), "ready")] if incident.ready is not None else []
    return [Section("facts", items + times, "facts")] if items or times else []
