"""A file of signatures -> checked plain data and problems with their place."""

from __future__ import annotations

from triage.library.nodes import Node, Scalar
from triage.library.problems import Problem
from triage.library.shapes import Findings
from triage.library.source import MAX_BYTES, SourceError, documents
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from triage.library.signature import Record

# Asked for many more bytes than a file has, Python takes ten times as long to read it.
_USUAL = 16 * 1024


@dataclass(slots=True)
class Parsed:
    """One signature of a file: its plain data and the line of every field (`fixes[1].set`: 23)."""

    record: Record
    lines: dict[str, int] = field(default_factory=dict)


def parse_file(path: str | Path) -> tuple[list[Parsed], list[Problem]]:
    """Take a YAML file; return its sound signatures and what is wrong with the others. Never raises."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - hot
            raw = file.read(_USUAL)
            if len(raw) == _USUAL:
                raw += file.read(MAX_BYTES + 1 - _USUAL)
    except OSError as error:
        return [], [Problem(str(path), 0, "", f"cannot be read: {error.strerror or error}")]
    return parse(raw, str(path))


def parse(raw: bytes, file: str) -> tuple[list[Parsed], list[Problem]]:
    """Take the bytes of a YAML file and its name; return the same as `parse_file`."""
    try:
        roots = documents(raw)
    except SourceError as error:
        return [], [Problem(file, error.line, "", error.message, error.hint, error.column)]
    if not roots:
        return [], [Problem(file, 0, "", "is empty")]
    good: list[Parsed] = []
    problems: list[Problem] = []
    for root in roots:
        found = Findings(file)
        record = _signature(root, found)
        if found.problems:
            problems.extend(found.problems)
        else:
            good.append(Parsed(record, found.lines))
    return good, problems


def _signature(root: Node, found: Findings) -> Record:
    from triage.library.grammar import FORMAT, REQUIRED, SIGNATURE

    entries = getattr(root, "entries", [])
    written = next((value for key, value in entries if isinstance(key, Scalar) and key.text == "format"), None)
    if isinstance(written, Scalar) and written.text.isdecimal() and int(written.text) != FORMAT:
        hint = "a newer triage may read it" if int(written.text) > FORMAT else ""
        found.add(written, "format", f"this triage reads format {FORMAT}, not {written.text}", hint)
        return {}
    record: Record = SIGNATURE.read(root, "", found) or {}
    if not record.get("disabled"):
        for key in REQUIRED:
            if key not in record and record:
                found.add(root, "", f"{key!r} is missing")
    return record
