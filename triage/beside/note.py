"""The journal entry that says why a unit failed: its fields, and when it is worth writing again."""

from __future__ import annotations

import shlex
import textwrap

from triage import __version__
from triage.model import Report, Tool, Verdict
from triage.report.text import one_line
from triage.sources import DIAGNOSIS
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.beside.memory import Memory
    from triage.model import Diagnosis, Failure, Fix, Incident

_ERROR = "3"  # syslog's severity
_LONGEST = 300
_FIXES = 3
_WIDTH = 100


def newest_failed(report: Report, unit: str, memory: Memory) -> tuple[Incident | None, int]:
    """Take a report, a unit and what was told before; return its last run that failed and was not told.

    With how many runs failed like that since they were last told, itself included. None where there is nothing new. Of
    a unit whose output goes to a file, the file's own last run says more than what systemd has of it.
    """
    new = [
        incident
        for incident in report.incidents
        if incident.outcome in ("failed", "degraded")
        and any(member.unit == unit for member in incident.members)
        and not memory.knows(_invocation(incident))
    ]
    if not new:
        return None, 0
    last = next((each for each in reversed(report.incidents) if _says_more(each)), new[-1])
    same = sum(fingerprint(incident) == fingerprint(last) for incident in new)
    return last, max(same, 1)


def _says_more(incident: Incident) -> bool:
    """Whether this is a run as a file has it, that failed with an exception."""
    root = _root(incident)
    from_file = not any(member.unit for member in incident.members)
    return from_file and incident.outcome in ("failed", "degraded") and root is not None and root.exception is not None


def invocations(report: Report) -> list[str]:
    """Take a report; return the invocations of its runs that have failed, so that they are told once."""
    found = [_invocation(incident) for incident in report.incidents if incident.outcome in ("failed", "degraded")]
    return [name for name in found if name]


def fingerprint(incident: Incident) -> str:
    """Take an incident; return the fingerprint of its root, the outcome where no root was found."""
    root = _root(incident)
    return root.fingerprint if root is not None else incident.outcome


def fields(incident: Incident, unit: str, times: int, *, user: bool = False) -> list[tuple[str, str]]:
    """Take a failed run, its unit's full name, and how often the unit failed like that; return the entry's fields.

    Secrets are masked. `journalctl -u UNIT` and `systemctl status UNIT` show the entry for its OBJECT_ field, which
    only root may set for a unit of the system (systemd.journal-fields(7)).
    """
    from triage.report import summary
    from triage.report.prepare import prepared

    report = Report(Tool(__version__), [Verdict(1, None, summary(incident))], [incident])
    masked = prepared(report, mask=True, share=False)
    incident = masked.incidents[0]
    root = _root(incident)
    known = root.diagnoses[0] if root is not None and root.diagnoses else None
    text = masked.verdicts[0].summary
    if times > 1:
        text = f"{text}, seen {times} times"
    found = [
        ("MESSAGE", "\n".join([text, *(f"fix: {_short(fix)}" for fix in _fixes(known)[:1])])),
        ("MESSAGE_ID", DIAGNOSIS),
        ("PRIORITY", _ERROR),
        ("SYSLOG_IDENTIFIER", "triage"),
        ("OBJECT_SYSTEMD_USER_UNIT" if user else "OBJECT_SYSTEMD_UNIT", unit),
        ("TRIAGE_UNIT", unit),
        ("TRIAGE_INVOCATION", _invocation(incident) or ""),
        ("TRIAGE_OUTCOME", incident.outcome),
        ("TRIAGE_FINGERPRINT", fingerprint(incident)),
        ("TRIAGE_TIMES", str(times)),
        ("TRIAGE_VERSION", __version__),
        ("TRIAGE_RANK", ", ".join(root.ranks) if root is not None else ""),
        *_known(known),
        ("TRIAGE_TEXT", _text(text, unit, fingerprint(incident), known)),
    ]
    return [(name, value) for name, value in found if value]


def _known(known: Diagnosis | None) -> list[tuple[str, str]]:
    if known is None:
        return []
    return [
        ("TRIAGE_SIGNATURE", known.signature),
        ("TRIAGE_CONFIDENCE", known.confidence),
        ("TRIAGE_TITLE", one_line(known.title)),
        ("TRIAGE_CAUSE", one_line(known.cause)),
        *(("TRIAGE_FIX", _long(fix)) for fix in _fixes(known)),
        *(("DOCUMENTATION", address) for address in known.references[:_FIXES]),
    ]


def _text(summary: str, unit: str, mark: str, known: Diagnosis | None) -> str:
    """Return what the message catalogue shows of the entry."""
    fixes = [f"{number}. {_long(fix)}" for number, fix in enumerate(_fixes(known), 1)]
    known_as = f"Signature {known.signature} ({known.confidence})" if known is not None else "No signature fits"
    parts = [
        summary,
        one_line(known.cause) if known is not None else "",
        "\n".join(["What mends it:", *fixes]) if fixes else "",
        f"{known_as}, fingerprint {mark}.\nThe whole diagnosis: triage journal {unit}",
    ]
    return "\n\n".join(_wrapped(part) for part in parts if part)


def _wrapped(text: str) -> str:
    lines = [textwrap.fill(line, _WIDTH, break_long_words=False, break_on_hyphens=False) for line in text.split("\n")]
    return "\n".join(lines)


def _fixes(known: Diagnosis | None) -> list[Fix]:
    return known.fixes[:_FIXES] if known is not None else []


def _short(fix: Fix) -> str:
    """What fits on the line that `systemctl status` shows."""
    return one_line(f"{fix.title}{_command(fix)}")[:_LONGEST]


def _long(fix: Fix) -> str:
    return one_line(f"{fix.title}{_command(fix) or (f': {fix.detail}' if fix.detail else '')}")


def _command(fix: Fix) -> str:
    return f": {shlex.join(fix.command)}" if fix.command else ""


def _root(incident: Incident) -> Failure | None:
    return next((failure for failure in incident.failures if failure.role == "root"), None)


def _invocation(incident: Incident) -> str | None:
    return next((member.invocation for member in incident.members if member.invocation), None)
