"""Installs a pack into the user's own: checked as a whole first, then file by file, and says what changed."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from triage.authoring.unpack import contents
from triage.model import TriageError
from triage.records import dataclass, field, replace
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.library.lint import Issue


@dataclass(slots=True)
class Installed:
    """What came of it. Where an issue is an error nothing was installed.

    `added`, `changed` and `same` are ids of signatures of the pack, `kept` those that were there and that it does not
    have; `fixtures` counts the logs that were written.
    """

    target: Path
    issues: list[Issue] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    fixtures: int = 0

    @property
    def refused(self) -> bool:
        """Say whether the pack has errors, so that nothing of it was installed."""
        return any(issue.severity == "error" for issue in self.issues)


def user_pack() -> Path:
    """Return the folder of the user's own pack; it need not exist. Under sudo it is root's, never the caller's.

    Raises `TriageError` where there is no home.
    """
    from triage.library.packs import standing_packs

    places = standing_packs()
    if len(places) < 2:
        raise TriageError("there is no home folder to install into: set XDG_DATA_HOME")
    return places[-1].parent


def install(source: Path, target: Path) -> Installed:
    """Take an archive or folder and the pack to install into; check it, then write what is new or differs.

    A signature that is replaced stays beside the new one as `.old`. Raises `TriageError` for what is no pack, cannot be
    read, or cannot be written.
    """
    if not source.exists():
        raise TriageError(f"there is no {source}")
    if source.is_dir() and target.exists() and source.resolve() == target.resolve():
        raise TriageError(f"{source} is the pack that would be installed into")
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=".new-", dir=target))
    except OSError as error:
        raise TriageError(f"{target}: {error.strerror or error}") from None
    try:
        return _install(source, staged, target)
    except OSError as error:
        raise TriageError(f"{error.filename or target}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _install(source: Path, staged: Path, target: Path) -> Installed:
    from triage.library.lint import check

    names = []
    for name, data in contents(source):
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        names.append(name)
    if not any(name.startswith("signatures/") for name in names):
        raise TriageError(f"{source}: holds no signatures; a pack has YAML files in signatures/AREA/")
    done = Installed(target, [_of_pack(issue, staged) for issue in check([staged / "signatures"])])
    if done.refused:
        return done
    there = set(_ids(target))
    for name in names:
        _place(staged / name, target, name, done)
    done.kept = sorted(there - {_id(name) for name in names})
    return done


def _place(path: Path, target: Path, name: str, done: Installed) -> None:
    place = target / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.parent.resolve().is_relative_to(target.resolve()):
        raise TriageError(f"{place.parent} leads out of {target}")
    old = place.read_bytes() if place.is_file() and not place.is_symlink() else None
    data = path.read_bytes()
    signature = name.startswith("signatures/")
    if signature:
        (done.added if old is None else done.same if old == data else done.changed).append(_id(name))
    if old == data:
        return
    done.fixtures += not signature
    if signature and old is not None:
        place.replace(place.with_name(f"{place.name}.old"))
    path.replace(place)


def _ids(target: Path) -> list[str]:
    from triage.library.packs import files

    base = target / "signatures"
    return [_id(path.relative_to(target).as_posix()) for path in files(base)] if base.is_dir() else []


def _id(name: str) -> str:
    return name.removeprefix("signatures/").rpartition(".")[0]


def _of_pack(issue: Issue, staged: Path) -> Issue:
    """Return an issue that names its file as the pack does."""
    file = issue.problem.file.replace(f"{staged}{os.sep}", "")
    return type(issue)(
        replace(issue.problem, file=file, message=issue.problem.message.replace(f"{staged}{os.sep}", ""))
    )
