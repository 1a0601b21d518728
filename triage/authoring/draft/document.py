"""The YAML of a draft: in the order and the way in which signatures are written, every text in quotes."""

from __future__ import annotations

import json

from triage.library.checks.texts import UNWRITTEN
from triage.typed import Any

Record = dict[str, Any]

CAUSE = (
    f"{UNWRITTEN} why it happens, what decides it, and what not to believe. Who reads it knows the error line already."
)


def asks(failed: str, when: dict[str, object], seen: str) -> list[Record]:
    """Take what failed in a few words, the conditions on facts and what is known of the run; return fixes that ask."""
    fixes: list[Record] = []
    for name, value in when.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            fixes.append({"title": f"Does it go away without {flag}?", "risk": ["restart"]})
        elif isinstance(value, str) and value.startswith(">"):
            fixes.append({"title": f"Does it go away with {flag}=1?", "risk": ["restart", "speed"]})
        else:
            fixes.append({"title": f"Does it go away with another {flag}?", "risk": ["restart", "speed"]})
    detail = f"Seen with {seen}. Change one thing at a time." if seen else "Change one thing at a time."
    fixes.append({"title": "Compare with a run that works: what differs?", "detail": detail, "risk": ["none"]})
    fixes.append({"title": f"Look for it in the project's issues: {failed}", "risk": ["none"]})
    return [{"kind": "ask", **fix} for fix in fixes]


def text_of(record: Record, schema: str, *, seen: str = "") -> str:
    """Take a draft's record, the path of the JSON Schema from it and the release it was seen with; return its YAML."""
    lines = [
        f"# yaml-language-server: $schema={schema}",
        "format: 1",
        f"id: {record['id']}",
        _pair("title", record["title"]),
    ]
    if record.get("engine"):
        lines.append(f"engine: {record['engine']}")
    lines += ["match:", *(f"  {line}" for line in _mapping(record["match"]))]
    if record.get("when"):
        lines.append(f"when: {_flow(record['when'])}")
    if record.get("releases"):
        lines.append(f"# Seen with {seen} only: where the defect begins and ends is for you to measure.")
        lines.append(f"releases: {_flow(record['releases'])}")
    lines.append(_pair("cause", record["cause"]))
    lines += ["fixes:", *(f"  - {_flow(fix)}" for fix in record["fixes"])]
    lines.append('# references: ["https://.."]')
    return "\n".join(lines) + "\n"


def _mapping(value: Record) -> list[str]:
    lines: list[str] = []
    for key, inner in value.items():
        if isinstance(inner, list):
            lines += [f"{key}:", *(f"  - {_flow(one)}" for one in inner)]
        else:
            lines.append(f"{key}: {_word(key, inner)}")
    return lines


def _pair(key: str, text: str) -> str:
    return f"{key}: {_quoted(text)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_word(key, inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return _quoted(str(value))


def _word(key: str, value: Any) -> str:
    """Return a value; words of the format's own need no quotes."""
    if key in ("kind", "exception"):
        return str(value)
    if key == "risk":
        return str(value[0]) if len(value) == 1 else "[" + ", ".join(value) + "]"
    return _flow(value)


def _quoted(text: str) -> str:
    """Return a text as YAML in double quotes: JSON's, with what YAML does not take as it is escaped."""
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escape(ord(char)) for char in shown)


def _escape(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
