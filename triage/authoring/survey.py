"""How much of a folder of logs the signatures explain, and what the rest has in common."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from triage.model import TriageError
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triage.library import Library
    from triage.model import Failure, Incident

MAX_LOGS = 100_000


@dataclass(slots=True)
class Cluster:
    """Root failures of one fingerprint that no signature fits: how many, what they say, one log that has it."""

    fingerprint: str
    says: str
    example: str
    count: int = 1


@dataclass(slots=True)
class Survey:
    """What became of the runs in a folder of logs.

    `outcomes` counts runs, `confidence` root failures by their best diagnosis (`unknown` without one, `no root` where
    none was found), `unreadable` says which files could not be read and why.
    """

    logs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    confidence: Counter[str] = field(default_factory=Counter)
    signatures: Counter[str] = field(default_factory=Counter)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """How many runs failed or were degraded."""
        return sum(self.confidence.values())

    @property
    def explained(self) -> float:
        """Which share of them a signature explains, certain or likely: 0 to 1."""
        return (self.confidence["certain"] + self.confidence["likely"]) / self.failed if self.failed else 0.0

    def unexplained(self) -> list[Cluster]:
        """Return what no signature fits, the most frequent first."""
        return sorted(self.clusters.values(), key=lambda one: (-one.count, one.example))


def survey(folder: Path, library: Library, told: Callable[[str], None] = lambda _: None) -> Survey:
    """Take a folder of logs (compressed or not) and signatures; diagnose each; return what was found.

    `told` is called with each file's name before it is read. Links and hidden files are passed over. Raises
    `TriageError` where the folder is none or holds no file.
    """
    if not folder.is_dir():
        raise TriageError(f"{folder} is no folder: --logs takes a folder of logs")
    found = Survey()
    for path in logs(folder):
        found.logs += 1
        name = path.relative_to(folder).as_posix()
        told(name)
        try:
            _add(found, path, name, library)
        except TriageError as error:
            found.unreadable.append(f"{name}: {str(error).removeprefix(f'{path}: ')}")
    if not found.logs:
        raise TriageError(f"{folder} holds no logs")
    return found


def logs(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder in order of their names, 100,000 at most."""
    count = 0
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(above, name)
            if name.startswith(".") or name.endswith((".yaml", ".yml", ".md")) or path.is_symlink():
                continue
            count += 1
            if count > MAX_LOGS:
                return
            if path.is_file():
                yield path


def _add(found: Survey, path: Path, name: str, library: Library) -> None:
    from triage.pipeline import Options, diagnose

    report = diagnose([str(path)], options=Options(library=library))
    for verdict in report.verdicts:
        incident = report.incidents[verdict.incident - 1]
        found.outcomes[incident.outcome] += 1
        if incident.outcome in ("failed", "degraded"):
            _count(found, incident, name)


def _count(found: Survey, incident: Incident, name: str) -> None:
    root = next((failure for failure in incident.failures if failure.role == "root"), None)
    if root is None:
        found.confidence["no root"] += 1
        return
    if root.diagnoses:
        found.confidence[root.diagnoses[0].confidence] += 1
        found.signatures[root.diagnoses[0].signature] += 1
        if root.diagnoses[0].confidence != "possible":
            return
    else:
        found.confidence["unknown"] += 1
    known = found.clusters.get(root.fingerprint)
    if known is None:
        found.clusters[root.fingerprint] = Cluster(root.fingerprint, _says(root), name)
    else:
        known.count += 1


def _says(root: Failure) -> str:
    from triage.report.masking import mask
    from triage.report.sentence import head

    near = f" (possibly {root.diagnoses[0].signature})" if root.diagnoses else ""
    return mask(head(root)) + near
