"""A comparison as text and as JSON. Text of the logs is masked, and shown with nothing hidden in it."""

from __future__ import annotations

from triage.report.items import Block, Item, Section, View
from triage.report.masking import Masker, secret_name
from triage.report.names import ranks
from triage.report.sentence import happened, phase_name, summary
from triage.report.text import one_line, start, visible
from triage.report.times import clock, duration, iso
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triage.compare.facts import Change
    from triage.compare.kinds import Kind
    from triage.compare.phases import Reached, Step
    from triage.compare.runs import Comparison
    from triage.model import Failure, Incident

    Mask = Callable[[str], str]

SCHEMA_VERSION = 1
_FACTS, _NOISE, _FAILURES, _KINDS, _KINDS_JSON = 24, 8, 6, 12, 200
_VALUE, _TEXT = 60, 400
_MOMENT = 0.05
_SEVERITIES = {2: "critical", 3: "error", 4: "warning"}
# Whose text comes from the logs, wholly or in part.
UNTRUSTED = [
    "$.good", "$.bad", "$.facts[*].good", "$.facts[*].bad", "$.failures[*].text", "$.shared[*].text", "$.kinds[*].text",
]  # fmt: skip


def masker(*, mask: bool) -> Mask:
    """Return what masks the texts of one comparison: equal secrets get equal placeholders."""
    return Masker().text if mask else str


def view(found: Comparison, mask: Mask) -> View:
    """Take a comparison and what masks its texts; return its view, which the terminal's layout sets."""
    block = Block(found.bad.outcome, mask(one_line(summary(found.bad))))
    good = Section("good", [Item("prose", mask(one_line(summary(found.good))))], "good")
    block.sections = [section for section in (good, *_sections(found, mask)) if section.items]
    tool = found.report.tool
    return View([block], one_line(f"triage {tool.version}, {tool.signatures:,} signatures"))


def _sections(found: Comparison, mask: Mask) -> Iterator[Section]:
    yield Section("changed", list(_changed([one for one in found.facts if not one.noise], mask, _FACTS)), "facts")
    yield Section("also", list(_noise([one for one in found.facts if one.noise], mask)), "facts")
    yield Section("phases", list(_phases(found.steps)), "phases")
    yield Section("failed", list(_failures(found, mask)), "failures")
    yield Section("lines", list(_kinds(found.kinds, mask)), "lines")
    if found.ranks:
        yield Section("ranks", [Item("prose", f"{ranks(found.ranks)} logged in the good run only")], "ranks")
    gaps = [gap for gap in found.bad.gaps if gap.detail]
    yield Section("not seen", [Item("prose", mask(one_line(gap.detail)), lines=2) for gap in gaps[:4]], "gaps")


def _changed(changes: list[Change], mask: Mask, most: int) -> Iterator[Item]:
    for one in changes[:most]:
        yield Item(
            "log", f"{_value(one.name, one.good, mask)} -> {_value(one.name, one.bad, mask)}", one_line(one.name)
        )
    if len(changes) > most:
        yield Item("quiet", f"and {len(changes) - most} more")


def _noise(changes: list[Change], mask: Mask) -> Iterator[Item]:
    if changes:
        names = ", ".join(mask(one_line(one.name)) for one in changes[:_NOISE])
        more = f" and {len(changes) - _NOISE} more" if len(changes) > _NOISE else ""
        yield Item("quiet", f"{names}{more}: different in every run, or said by one of them only")


def _value(name: str, value: object, mask: Mask) -> str:
    if value is None:
        return "(not said)"
    text = "<secret>" if secret_name(name) and not isinstance(value, bool) else mask(one_line(str(value)))
    return start(text, _VALUE)


def _phases(steps: list[Step]) -> Iterator[Item]:
    if steps:
        yield Item("quiet", f"{'good run':<24} bad run", "phase")
    for step in steps:
        yield Item("log", _step(step), one_line(phase_name(step.phase)))


def _step(step: Step) -> str:
    return f"{_reached(step.good):<24} {_reached(step.bad)}".rstrip()


def _reached(one: Reached | None) -> str:
    if one is None:
        return "not reached"
    at = f"+{duration(one.start)}" if one.start is not None else "reached"
    took = f", took {duration(one.took)}" if one.took is not None and one.took >= _MOMENT else ""
    open_ = one.processes - one.ended
    return at + took + (f", {one.ended} of {one.processes} ended" if open_ and one.end is not None else "")


def _failures(found: Comparison, mask: Mask) -> Iterator[Item]:
    for failure in found.failures[:_FAILURES]:
        yield Item("log", mask(_said(failure)), failure.role)
    if len(found.failures) > _FAILURES:
        yield Item("quiet", f"and {len(found.failures) - _FAILURES} more, see --format json")
    for failure in found.shared[:2]:
        yield Item("quiet", f"the good run has this too: {mask(_said(failure))}")


def _said(failure: Failure) -> str:
    known = f" ({failure.diagnoses[0].signature}, {failure.diagnoses[0].confidence})" if failure.diagnoses else ""
    return one_line(f"{happened(failure)}{known}")


def _kinds(kinds: list[Kind], mask: Mask) -> Iterator[Item]:
    for kind in kinds[:_KINDS]:
        line = kind.line
        who = line.rank or (f"pid {line.pid}" if line.pid is not None else "")
        at = " ".join(filter(None, (f"{kind.count}x", clock(line.time, line.zoned, local=True), one_line(who))))
        yield Item("log", mask(visible(line.text[:_TEXT].strip())), at)
    if len(kinds) > _KINDS:
        yield Item("quiet", f"and {len(kinds) - _KINDS:,} more kinds of message that only the bad run has")


def document(found: Comparison, mask: Mask) -> dict[str, Any]:
    """Take a comparison and what masks its texts; return it for programs. Times are seconds, or ISO 8601."""
    tool = found.report.tool
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "triage", "version": tool.version, "signatures": tool.signatures, "digest": tool.digest},
        "good": _incident(found.good, mask),
        "bad": _incident(found.bad, mask),
        "facts": [
            {"name": one.name, "good": _plain(one, one.good, mask), "bad": _plain(one, one.bad, mask), "kind": one.kind,
             "noise": one.noise}
            for one in found.facts
        ],
        "phases": [{"phase": s.phase, "good": _phase(s.good), "bad": _phase(s.bad)} for s in found.steps],
        "failures": [_failure(one, mask) for one in found.failures[:_KINDS_JSON]],
        "shared": [_failure(one, mask) for one in found.shared[:_KINDS_JSON]],
        "kinds": [_kind(one, mask) for one in found.kinds[:_KINDS_JSON]],
        "kinds_left_out": max(len(found.kinds) - _KINDS_JSON, 0),
        "ranks": found.ranks,
        "gaps": [{"kind": gap.kind, "detail": mask(gap.detail)} for gap in found.bad.gaps],
        "untrusted": UNTRUSTED,
    }  # fmt: skip


def _incident(found: Incident, mask: Mask) -> dict[str, Any]:
    return {
        "source": found.source,
        "outcome": found.outcome,
        "phase": found.phase,
        "summary": mask(summary(found)),
        "started": iso(found.started, found.zoned),
        "ended": iso(found.ended, found.zoned),
    }


def _plain(change: Change, value: object, mask: Mask) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return "<secret>" if secret_name(change.name) else mask(str(value))[:_TEXT]


def _phase(one: Reached | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"start": one.start, "end": one.end, "took": one.took, "processes": one.processes, "ended": one.ended}


def _failure(one: Failure, mask: Mask) -> dict[str, Any]:
    return {
        "fingerprint": one.fingerprint,
        "role": one.role,
        "ranks": one.ranks,
        "count": one.count,
        "text": mask(one.text[:_TEXT]),
        "signatures": [{"signature": d.signature, "confidence": d.confidence} for d in one.diagnoses],
    }


def _kind(one: Kind, mask: Mask) -> dict[str, Any]:
    line = one.line
    return {
        "count": one.count,
        "severity": _SEVERITIES.get(one.severity, "critical" if one.severity < 2 else "info"),
        "text": mask(line.text[:_TEXT]),
        "time": iso(line.time, line.zoned),
        "rank": line.rank,
        "offset": line.offset,
        "line": line.line,
    }
