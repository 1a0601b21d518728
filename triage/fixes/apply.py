"""Applies planned edits to installed files and takes them back, exactly, also after an interruption at any point.

Beside a changed file stand its backup (`NAME.triage-backup`) and a journal (`NAME.triage.json`: both sha256, signature,
time). The journal is written first and removed last, so what an interrupted run left can always be told from a file
that someone else has changed since, which is never touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import re
from dataclasses import asdict, dataclass

from triage import __version__
from triage.fixes.edit import Edit, EditPlan, FileChange, patched
from triage.fixes.place import Content, Place, PlaceError, opened
from triage.fixes.pysource import SourceError
from triage.model import TriageError
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Another signature's id is shown in a command to type.
_ID = re.compile(r"[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)+")

State = Literal["untouched", "applied", "interrupted", "half", "changed"]


@dataclass(frozen=True, slots=True)
class Journal:
    """What was done to a file: the sha256 of its bytes before and after, for which signature, when (ISO 8601, UTC)."""

    signature: str
    original: str
    patched: str
    time: str
    tool: str = ""


@dataclass(slots=True)
class Found:
    """What stands in the place of a file that triage may have changed.

    `state`: `untouched` (no journal), `applied`, `interrupted` (a journal, but the file as it was), `half` (cut short
    while it was written), `changed` (neither what it was nor what the edit makes of it).
    """

    state: State
    journal: Journal | None = None
    current: Content | None = None
    backup: Content | None = None


def apply(plan: EditPlan, signature: str) -> list[str]:
    """Make the changes of a plan, all of them or none; return what is worth saying, a line each.

    Raises `TriageError` if a file cannot be changed, or is no longer what was planned on; nothing is changed then.
    """
    done: list[FileChange] = []
    notes: list[str] = []
    edits = [result.edit for result in plan.results]
    try:
        for change in plan.changes:
            notes += _apply(change, plan.target, signature, _of(edits, change.file))
            done.append(change)
    except (TriageError, OSError):
        for change in reversed(done):
            revert(change.file, plan.target, signature, edits)
        raise
    return notes


def revert(file: str, target: Path, signature: str, edits: Sequence[Edit]) -> str:
    """Put a file back as it was before the signature's edits; return what was done, in one sentence.

    Raises `TriageError` if the file was changed since, or its backup is not what the journal says.
    """
    with _held(file, target) as place:
        found = look(place, _of(edits, file))
        if found.state == "untouched":
            return f"{place.path}: not changed by triage, nothing to undo"
        assert found.journal
        if found.journal.signature != signature:
            other = found.journal.signature
            raise TriageError(f"{place.path} was changed for {other}: `triage patch {other} --revert` undoes that")
        if found.state == "changed":
            raise TriageError(_changed(place))
        if found.state == "interrupted":
            _clear(place)
            return f"{place.path}: the file was not changed; what an interrupted run had left is removed"
        _restore(place, found)
        left = place.drop_bytecode()
        _clear(place)
        return f"{place.path}: as it was before{_stale(left)}"


def mend(file: str, target: Path, edits: Sequence[Edit]) -> str | None:
    """Take back what an interrupted run left of a file, so that edits can be planned; return what was done, or None.

    Raises `TriageError` if the file cannot be written.
    """
    with _held(file, target) as place:
        found = look(place, _of(edits, file))
        if found.state not in ("half", "interrupted"):
            return None
        if found.state == "half":
            _restore(place, found)
        _clear(place)
        return f"{place.path}: what an interrupted run had left is taken back"


def state(file: str, target: Path, edits: Sequence[Edit]) -> Found:
    """Say whether triage has changed a file, and whether that is still so. Changes nothing."""
    try:
        with opened(target, file) as place:
            return look(place, _of(edits, file))
    except PlaceError:
        return Found("untouched")


def look(place: Place, edits: Sequence[Edit]) -> Found:
    """Read a file with its journal and backup; return how they fit together."""
    current, backup, raw = (_content(place, name) for name in (place.name, _backup(place), _journal(place)))
    if raw is None:
        return Found("untouched", None, current, backup)
    journal = _parsed(raw, place)
    if current is None:
        return Found("changed", journal, None, backup)
    sha = _sha(current)
    if sha == journal.patched:
        return Found("applied", journal, current, backup)
    if sha == journal.original:
        return Found("interrupted", journal, current, backup)
    if backup and _sha(backup) == journal.original and _is_part(current.raw, backup.raw, journal, edits):
        return Found("half", journal, current, backup)
    return Found("changed", journal, current, backup)


def _apply(change: FileChange, target: Path, signature: str, edits: Sequence[Edit]) -> list[str]:
    with _held(change.file, target) as place:
        found = look(place, edits)
        if found.state in ("applied", "changed"):
            assert found.journal
            if found.state == "changed":
                raise TriageError(_changed(place))
            other = found.journal.signature
            raise TriageError(f"{place.path} is already changed for {other}; `triage patch {other} --revert` undoes it")
        if found.state == "untouched" and found.backup:
            backup = place.path.with_name(_backup(place))
            raise TriageError(f"{backup} is there without a journal: see what it is, remove it, then apply again")
        current = found.current
        if current is None or current.raw != change.before:
            raise TriageError(f"{place.path} is no longer what was looked at: run the check again")
        try:
            _write_journal(place, signature, change)
            place.write(_backup(place), current.raw, current)
            place.write(place.name, change.after, current, instead_of=current.raw)
        except (OSError, PlaceError, TriageError) as error:
            with contextlib.suppress(OSError):
                _clear(place)
            if isinstance(error, OSError):
                raise TriageError(f"{place.path} cannot be changed: {error.strerror}; nothing was done") from error
            raise
        left = place.drop_bytecode()
        backup = place.path.with_name(_backup(place))
        return [f"changed {place.path}{_stale(left)}", f"backup  {backup}"]


@contextlib.contextmanager
def _held(file: str, target: Path) -> Iterator[Place]:
    """Open a file's place for changes, alone."""
    try:
        with opened(target, file) as place:
            try:
                fcntl.flock(place.folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TriageError(f"another triage is changing {place.path.parent}: try again") from error
            except OSError:
                # No locks on this file system; the files themselves still show what happened.
                pass
            yield place
    except PlaceError as error:
        raise TriageError(str(error)) from error


def _restore(place: Place, found: Found) -> None:
    backup = place.path.with_name(_backup(place))
    if not found.journal or not found.backup:
        raise TriageError(f"{backup} is missing: {place.path} cannot be put back; reinstall the package")
    if _sha(found.backup) != found.journal.original:
        raise TriageError(f"{backup} is not what was saved: {place.path} is left as it is; reinstall the package")
    try:
        place.rename(_backup(place), place.name)
    except OSError as error:
        raise TriageError(f"{place.path} cannot be put back: {error.strerror}") from error


def _clear(place: Place) -> None:
    """Remove backup, unfinished file and, last, the journal."""
    for name in (_backup(place), place.part, _journal(place)):
        place.remove(name)


def _content(place: Place, name: str) -> Content | None:
    try:
        return place.read(name)
    except FileNotFoundError:
        return None


def _write_journal(place: Place, signature: str, change: FileChange) -> None:
    import datetime as dt

    journal = Journal(
        signature=signature,
        original=hashlib.sha256(change.before).hexdigest(),
        patched=hashlib.sha256(change.after).hexdigest(),
        time=dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        tool=f"triage {__version__}",
    )
    place.write(_journal(place), json.dumps(asdict(journal), indent=1).encode() + b"\n")


def _parsed(content: Content, place: Place) -> Journal:
    try:
        fields = json.loads(content.raw)
        journal = Journal(**fields)
        if all(isinstance(value, str) for value in fields.values()) and _ID.fullmatch(journal.signature):
            return journal
    except (ValueError, TypeError, RecursionError):
        pass
    file = place.path.with_name(_journal(place))
    raise TriageError(f"{file} is no journal of triage: see what it is and what {_backup(place)} beside it holds")


def _is_part(current: bytes, original: bytes, journal: Journal, edits: Sequence[Edit]) -> bool:
    """Say whether a file holds the beginning of what was to be written, as a machine that stopped leaves it."""
    try:
        whole = patched(edits, original)
    except (ValueError, SourceError):
        return False
    # Blocks that were allocated and never written read as zeros.
    return hashlib.sha256(whole).hexdigest() == journal.patched and whole.startswith(current.rstrip(b"\0"))


def _changed(place: Place) -> str:
    backup, journal = _backup(place), _journal(place)
    return (
        f"{place.path} was changed since triage patched it (an upgrade?), and is left as it is; "
        f"its old backup is {backup} beside it: remove that and {journal} to have done with it"
    )


def _stale(left: list[str]) -> str:
    return f" (could not remove {', '.join(left)}: remove it before the next start)" if left else ""


def _of(edits: Sequence[Edit], file: str) -> list[Edit]:
    return [edit for edit in edits if edit.file == file]


def _sha(content: Content) -> str:
    return hashlib.sha256(content.raw).hexdigest()


def _backup(place: Place) -> str:
    return f"{place.name}.triage-backup"


def _journal(place: Place) -> str:
    return f"{place.name}.triage.json"
