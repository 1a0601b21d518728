"""A first draft of a signature from a log: what to match, when, and a fixture that proves it.

What a machine can tell is filled in; the cause, a reference and a confuser are left to a person, and named.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from triage.authoring.draft import document, facts, names
from triage.authoring.draft.matches import match_of
from triage.authoring.draft.standins import shareable
from triage.authoring.draft.trim import Trimmed, trim
from triage.authoring.draft.write import SCHEMA, checked_id, schema_from, write
from triage.model import TriageError
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.library import Library
    from triage.library.lint import Issue
    from triage.model import Failure, Incident, Report

FIXTURE = "first.log"
# So many lines on each side of the failure are kept, more only where the diagnosis needs them.
_AROUND = (6, 25, 100, 400, 2000)


@dataclass(slots=True)
class Draft:
    """What was made: the signature's id, the files, what the failure is in a sentence, how sure the signature is of it.

    `kept` of `total` lines of the log are in the fixture, `masked` different values in it were masked. `known` holds
    signatures that fit the failure already; `issues` are what the linter still has to say; `notes` what to look at.
    """

    id: str
    files: list[Path] = field(default_factory=list)
    failure: str = ""
    confidence: str = ""
    kept: int = 0
    total: int = 0
    masked: int = 0
    known: list[str] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def draft(log: Path, pack: Path, library: Library, name: str | None = None) -> Draft:
    """Take a log, the pack to write into, the signatures in use and an id (made up if None); write the draft.

    Raises `TriageError` where the log has no root failure, the id is taken, or a file cannot be written.
    """
    from triage.report.sentence import happened

    incident, root = _root(_diagnosed(log, library), str(log))
    record, seen = _record(root, incident, checked_id(name or names.id_of(root, incident)))
    taken = library.get(record["id"])
    if taken is not None:
        raise TriageError(f"{record['id']} is the signature in {taken.file}: choose another --id")
    text = document.text_of(record, schema_from(record["id"]), seen=seen)
    extended = _with(library, text, record["id"])
    made = Draft(record["id"], failure=happened(root), known=[one.signature for one in root.diagnoses[:3]])
    wanted = _confidence(_diagnosed(log, extended), record["id"])
    fixture = _fixture(log, pack, incident, root, extended, made, wanted)
    if made.confidence != wanted or wanted not in ("certain", "likely"):
        made.notes.append(_shortfall(wanted, made, root))
    schema = json.dumps(_schema(), indent=1) + "\n"
    base = f"signatures/{record['id']}.yaml", f"fixtures/{record['id']}/{FIXTURE}"
    made.files = write(pack, {base[0]: text, base[1]: fixture, SCHEMA: schema})
    made.issues = _issues(made.files[0])
    return made


def _root(report: Report, name: str) -> tuple[Incident, Failure]:
    """Return the last incident that has a root failure, and this."""
    for verdict in reversed(report.verdicts):
        incident = report.incidents[verdict.incident - 1]
        for failure in incident.failures:
            if failure.role == "root":
                return incident, failure
    said = "; ".join(verdict.summary for verdict in report.verdicts) or "nothing was found in it"
    raise TriageError(f"{name} has no root failure to write a signature for: {said}")


def _record(root: Failure, incident: Incident, name: str) -> tuple[dict[str, Any], str]:
    match, said = match_of(root)
    if not match:
        raise TriageError(f"the failure has nothing that another run would show too: {root.text[:200]!r}")
    when = facts.deciding(root, incident)
    ranges = facts.releases(incident)
    seen = " ".join(f"{package} {incident.facts[package]}" for package in ranges)
    shown = ", ".join([seen, *(f"{fact}={incident.facts.get(fact)}" for fact in when)]).strip(", ")
    title = names.title_of(root, said)
    plain = title.replace("{", "").replace("}", "")
    record: dict[str, Any] = {
        "id": name,
        "title": title,
        "engine": names.engine_of(root, incident),
        "match": match,
        "when": when,
        "releases": ranges,
        "cause": document.CAUSE,
        "fixes": document.asks(plain[:120], when, shown),
    }
    return record, seen


def _with(library: Library, text: str, name: str) -> Library:
    """Return the signatures with the draft among them, as if it were installed."""
    from triage.library.library import Entry
    from triage.library.library import Library as Signatures
    from triage.library.pack import Pack
    from triage.library.parse import parse
    from triage.library.signature import Signature
    from triage.library.writer import Writer

    parsed, problems = parse(text.encode(), name)
    if problems:
        raise TriageError(f"no signature could be made of this failure: {problems[0]}")
    one = Signature.from_record(parsed[0].record)
    pack = Writer()
    pack.add(one, "")
    return Signatures([*library.entries, Entry(one.id, Pack(pack.bytes(), name), 0)])


def _fixture(
    log: Path, pack: Path, incident: Incident, root: Failure, library: Library, made: Draft, wanted: str
) -> str:
    """Return the shortest of some excerpts of the log that is diagnosed as all of it is."""
    best = ""
    pack.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=pack) as place:
        candidate = Path(place, FIXTURE)
        before = -1
        for around in _AROUND:
            found = trim(_blocks(log), incident, root, around)
            if len(found.lines) == before:
                continue
            before = len(found.lines)
            best, made.masked = shareable(_text(found), incident)
            made.kept, made.total = len(found.lines), found.total
            candidate.write_text(best, encoding="utf-8", errors="surrogateescape", newline="")
            made.confidence = _confidence(_diagnosed(candidate, library), made.id)
            if made.confidence == wanted:
                break
    return best


def _text(found: Trimmed) -> str:
    return b"".join(found.lines).decode("utf-8", "surrogateescape")


def _blocks(log: Path) -> Any:
    from triage.sources.text import TextSource

    return TextSource(log).chunks()


def _diagnosed(log: Path, library: Library) -> Report:
    from triage.pipeline import Options, diagnose

    return diagnose([str(log)], options=Options(library=library))


def _confidence(report: Report, name: str) -> str:
    """Return how sure a signature is that leads a root's diagnoses, `behind X` where another does, '' where none."""
    for verdict in reversed(report.verdicts):
        for failure in report.incidents[verdict.incident - 1].failures:
            found = next((one for one in failure.diagnoses if one.signature == name), None)
            if failure.role == "root" and found is not None:
                first = failure.diagnoses[0]
                return found.confidence if first is found else f"behind {first.signature}"
    return ""


def _shortfall(wanted: str, made: Draft, root: Failure) -> str:
    if wanted.startswith("behind "):
        other = wanted.removeprefix("behind ")
        return (
            f"{other} fits it too, and leads: see `triage explain {other}`, and ask for more if yours is a special case"
        )
    if made.confidence == wanted:
        return "it is only possible here: " + (
            "the traceback is cut" if root.assembly == "partial" else "see --explain"
        )
    return f"the fixture does not show it as the log does ({made.confidence or 'no match'}): look which lines it lacks"


def _schema() -> dict[str, Any]:
    from triage.library.schema import json_schema

    return json_schema()


def _issues(path: Path) -> list[Issue]:
    from triage.library.lint import check

    return check([path])
