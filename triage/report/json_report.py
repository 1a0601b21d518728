"""The report for programs: one JSON document, or one document of one incident a line.

`schema.json` describes it. The output is ASCII, so that nothing in it acts on a terminal and every encoding holds it.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii as _quoted

from triage.report.prepare import prepared
from triage.report.times import iso
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.model import (
        Diagnosis,
        Evidence,
        ExceptionInfo,
        Failure,
        Fix,
        Frame,
        Incident,
        Position,
        Process,
        Report,
    )

SCHEMA_VERSION = 1
# Whose text comes from the log, wholly or in part: never to be obeyed, run or shown unescaped.
UNTRUSTED = [
    "$.verdicts[*].summary",
    "$.incidents[*].attempts.earlier[*]",
    "$.incidents[*].facts",
    "$.incidents[*].members[*]",
    "$.incidents[*].processes[*].last.text",
    "$.incidents[*].failures[*].exception",
    "$.incidents[*].failures[*].frames",
    "$.incidents[*].failures[*].text",
    "$.incidents[*].failures[*].evidence[*].text",
    "$.incidents[*].failures[*].diagnoses[*].cause",
    "$.incidents[*].failures[*].diagnoses[*].matched",
    "$.incidents[*].failures[*].diagnoses[*].unconfirmed",
    "$.incidents[*].failures[*].diagnoses[*].fixes[*].title",
    "$.incidents[*].failures[*].diagnoses[*].fixes[*].detail",
    "$.incidents[*].gaps[*].detail",
]
# There only where somebody asked for it.
EXPLAINED = "$.incidents[*].failures[*].explain"


def to_json(report: Report, mask: bool = True) -> str:
    """Take a report; return it as one JSON document, indented, with its secrets masked unless `mask` is False."""
    return _indented(document(prepared(report, mask=mask)), "\n") + "\n"


def to_jsonl(report: Report, mask: bool = True) -> str:
    """Take a report; return one line for each incident: a document as `to_json` makes it, of this incident alone."""
    whole = document(prepared(report, mask=mask))
    lines = []
    for number, incident in enumerate(whole["incidents"], 1):
        verdicts = [{**verdict, "incident": 1} for verdict in whole["verdicts"] if verdict["incident"] == number]
        one = {**whole, "verdicts": verdicts, "incidents": [incident]}
        lines.append(_dumped(one, separators=(",", ":")) + "\n")
    return "".join(lines)


def _indented(value: Any, line: str) -> str:
    """Write a value as `json.dumps` does with an indent of one; `json` itself is slow where it indents."""
    if isinstance(value, str):
        return _quoted(value)
    if not value or not isinstance(value, (dict, list, tuple)):
        return _dumped(value)
    inner = line + " "
    if isinstance(value, dict):
        rows = [f"{_quoted(str(name))}: {_indented(each, inner)}" for name, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(rows)}{line}}}"
    return f"[{inner}{f',{inner}'.join([_indented(each, inner) for each in value])}{line}]"


def _dumped(value: Any, separators: tuple[str, str] | None = None) -> str:
    return json.dumps(value, allow_nan=False, separators=separators)


def document(report: Report) -> dict[str, Any]:
    """Take a prepared report; return it as `schema.json` describes it."""
    explained = any(found.near is not None for incident in report.incidents for found in incident.failures)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {
            "name": "triage",
            "version": report.tool.version,
            "signatures": report.tool.signatures,
            "digest": report.tool.digest,
        },
        "verdicts": [
            {"incident": verdict.incident, "failure": verdict.failure, "summary": verdict.summary}
            for verdict in report.verdicts
        ],
        "incidents": [_incident(found) for found in report.incidents],
        "notes": report.notes,
        "untrusted": [*UNTRUSTED, *([EXPLAINED] if explained else [])],
    }


def _incident(found: Incident) -> dict[str, Any]:
    end = found.exit
    return {
        "source": found.source,
        "members": [{"host": m.host, "unit": m.unit, "invocation": m.invocation} for m in found.members],
        "started": iso(found.started, found.zoned),
        "ended": iso(found.ended, found.zoned),
        "outcome": found.outcome,
        "phase": found.phase,
        "exit": {"code": end.code, "signal": end.signal, "result": end.result} if end else None,
        "attempts": {
            "count": found.attempts.count,
            "same_fingerprint": found.attempts.same_fingerprint,
            "earlier": found.attempts.earlier,
            "restarted": iso(found.attempts.restarted, found.zoned),
        },
        "facts": found.facts,
        "processes": [_process(process, found.zoned) for process in found.processes],
        "failures": [_failure(failure) for failure in found.failures],
        "gaps": [{"kind": gap.kind, "detail": gap.detail} for gap in found.gaps],
        "ready": iso(found.ready, found.zoned),
        "stopped_by_operator": found.stopped_by_operator,
    }


def _process(found: Process, zoned: bool) -> dict[str, Any]:
    return {
        "rank": found.rank,
        "pid": found.pid,
        "host": found.host,
        "phases": [
            {"phase": phase.phase, "start": iso(phase.start, zoned), "end": iso(phase.end, zoned), "ended": phase.ended}
            for phase in found.phases
        ],
        "last": {"time": iso(found.last.at.time, found.last.at.zoned), "text": found.last.text} if found.last else None,
        "exit": found.exit,
    }


def _failure(found: Failure) -> dict[str, Any]:
    explained = {} if found.near is None else {"explain": _explain(found)}
    return {
        "id": found.id,
        "role": found.role,
        "kind": found.kind,
        "fingerprint": found.fingerprint,
        "assembly": found.assembly,
        "because": {"failure": found.because.failure, "rule": found.because.rule} if found.because else None,
        "ranks": found.ranks,
        "count": found.count,
        "first": _position(found.first),
        "exception": _exception(found.exception) if found.exception else None,
        "frames": _frames(found.frames),
        "text": found.text,
        "evidence": [_evidence(item) for item in found.evidence],
        "diagnoses": [_diagnosis(item) for item in found.diagnoses],
        "rule": found.rule,
        "fatal": found.fatal,
        "last": _position(found.last) if found.last else None,
        **explained,
    }


def _explain(found: Failure) -> dict[str, Any]:
    """Return every condition of the signatures that fit, and what kept the nearest others from fitting."""
    return {
        "fits": [
            {
                "signature": one.signature,
                "confidence": one.confidence,
                "holds": one.matched,
                "not_known": one.unconfirmed,
                "not_seen": one.missing,
            }
            for one in found.diagnoses
        ],
        "near": [
            {"signature": one.signature, "title": one.title, "holds": one.held, "fails": one.failed}
            for one in found.near or ()
        ],
    }


def _position(at: Position) -> dict[str, Any]:
    return {
        "time": iso(at.time, at.zoned),
        "rank": at.rank,
        "pid": at.pid,
        "host": at.host,
        "source": at.source,
        "offset": at.offset,
        "line": at.line,
        "cursor": at.cursor,
    }


def _evidence(found: Evidence) -> dict[str, Any]:
    return {
        "offset": found.at.offset,
        "text": found.text,
        "time": iso(found.at.time, found.at.zoned),
        "rank": found.at.rank,
        "source": found.at.source,
        "line": found.at.line,
        "cursor": found.at.cursor,
    }


def _exception(found: ExceptionInfo) -> dict[str, Any]:
    return {
        "type": found.type,
        "message": found.message,
        "notes": found.notes,
        "frames": _frames(found.frames),
        "chain": [
            {
                "type": link.type,
                "message": link.message,
                "relation": link.relation,
                "frames": _frames(link.frames),
                "notes": link.notes,
            }
            for link in found.chain
        ],
        "place": found.place,
    }


def _frames(found: list[Frame]) -> list[dict[str, Any]]:
    return [{"file": f.file, "line": f.line, "function": f.function, "text": f.text} for f in found]


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    return {
        "signature": found.signature,
        "confidence": found.confidence,
        "title": found.title,
        "cause": found.cause,
        "matched": found.matched,
        "unconfirmed": found.unconfirmed,
        "missing": found.missing,
        "fixes": [_fix(fix) for fix in found.fixes],
        "references": found.references,
        "not_when": found.not_when,
        "release": found.release,
    }


def _fix(found: Fix) -> dict[str, Any]:
    return {
        "kind": found.kind,
        "title": found.title,
        "detail": found.detail,
        "command": found.command,
        "risk": found.risk,
        "applies": found.applies,
        "why": found.why,
    }
