"""A signature as text: what `triage explain` prints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triage.report.text import visible, wrap

if TYPE_CHECKING:
    from triage.library.signature import Signature

_WIDTH = 88
_KEYS = ("file", "function", "replace", "with", "set", "remove", "raise", "lower", "to")


def describe(signature: Signature) -> str:
    """Take a signature; return what it means, when it holds and what mends it, as plain text of 88 columns."""
    record = signature.record
    lines = [signature.id, *wrap(signature.title, _WIDTH), ""]
    for name, text in (("Why", signature.cause), ("Not to be confused", signature.not_when)):
        if text:
            lines += [name, *_indented(text), ""]
    lines += ["Matches", *_tree(record.get("match", {}), 2)]
    for name, key in (
        ("Together with", "with"),
        ("Without", "without"),
        ("Only when", "when"),
        ("Explains", "explains"),
    ):
        if record.get(key):
            lines += ["", name, *_tree(record[key], 2)]
    if signature.releases:
        lines += ["", "Releases that have the defect"]
        lines += [f"  {package} {', '.join(ranges)}" for package, ranges in signature.releases.items()]
    if signature.role != "root":
        lines += ["", f"Role: {signature.role}, never the reason by itself"]
    if signature.fixes:
        lines += ["", "Fixes, least change first"]
        for number, fix in enumerate(signature.fixes, 1):
            lines += _fix(number, fix.kind, fix.title, fix.detail, fix.keys, fix.risk)
            if fix.kind == "edit":
                lines.append(f"     $ triage patch {signature.id} --check --unit UNIT")
    if signature.references:
        lines += ["", "References", *(f"  {url}" for url in signature.references)]
    return visible("\n".join(lines)) + "\n"


def _fix(number: int, kind: str, title: str | None, detail: str | None, keys: dict[str, Any], risk: Any) -> list[str]:
    risks = f" (risk: {', '.join(risk)})" if risk else ""
    head = f"{title or kind}{risks}"
    lines = [
        f"  {number}. {first}" if index == 0 else f"     {first}" for index, first in enumerate(wrap(head, _WIDTH - 5))
    ]
    if detail:
        lines += [f"     {line}" for line in wrap(" ".join(detail.split()), _WIDTH - 5)]
    lines += [f"     {key}: {_flat(keys[key])}" for key in _KEYS if key in keys]
    return lines


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in wrap(" ".join(text.split()), _WIDTH - 2)]


def _tree(value: Any, depth: int) -> list[str]:
    pad = " " * depth
    if isinstance(value, dict):
        lines = []
        for key, inner in value.items():
            if isinstance(inner, dict) or (isinstance(inner, list) and any(isinstance(one, dict) for one in inner)):
                lines += [f"{pad}{key}:", *_tree(inner, depth + 2)]
            elif isinstance(inner, list) and len(inner) > 1:
                lines += [f"{pad}{key}:", *(f"{pad}  {_flat(one)}" for one in inner)]
            else:
                lines.append(f"{pad}{key}: {_flat(inner)}")
        return lines
    if isinstance(value, list):
        lines = []
        for one in value:
            inner = _tree(one, depth + 2)
            lines += [f"{pad}- {inner[0].lstrip()}", *inner[1:]] if inner else []
        return lines
    return [f"{pad}{_flat(value)}"]


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
