"""Runs fixtures through the whole pipeline and says of each whether it shows what it must.

`triage.testing` is the way in for packs made elsewhere.
"""

from __future__ import annotations

from triage.library.relations import Form, covers
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from triage.library import Library
    from triage.library.fixtures import Fixture
    from triage.model import Failure, Incident, Report


@dataclass(slots=True)
class Outcome:
    """What one fixture showed: the problems, none where it shows what it must."""

    fixture: Fixture
    problems: list[str] = field(default_factory=list)


def run(found: Sequence[Fixture], packs: Sequence[Path] = (), jobs: int = 1) -> Iterator[Outcome]:
    """Take fixtures and the packs whose signatures are used beside the standing ones; yield their outcomes.

    One process loads the library once; with more than one of `jobs` so many processes share the fixtures. Raises
    `TriageError` where a pack cannot be loaded.
    """
    from triage.library import load

    if jobs <= 1 or len(found) < 2:
        library = load(packs)
        yield from (outcome(one, library) for one in found)
        return
    from concurrent.futures import ProcessPoolExecutor

    load(packs)  # what is wrong with a pack is said here, and the cache is filled before the others ask for it
    size = max(1, min(16, len(found) // (jobs * 4)))
    with ProcessPoolExecutor(jobs, initializer=_load, initargs=(list(packs),)) as pool:
        yield from pool.map(_outcome, found, chunksize=size)


_shared: list[Library] = []


def _load(packs: list[Path]) -> None:
    from triage.library import load

    _shared[:] = [load(packs)]


def _outcome(fixture: Fixture) -> Outcome:
    return outcome(fixture, _shared[0])


def outcome(fixture: Fixture, library: Library) -> Outcome:
    """Take a fixture and the signatures; diagnose it; return what it showed. An error of triage itself is a problem."""
    from triage.model import TriageError
    from triage.pipeline import Options, diagnose

    try:
        report = diagnose([str(fixture.path)], options=Options(library=library))
    except TriageError as error:
        return Outcome(fixture, [str(error)])
    except Exception as error:  # noqa: BLE001 - one log on which triage fails must not hide what the others show
        return Outcome(fixture, [f"triage itself failed: {type(error).__name__}: {error}"])
    return Outcome(fixture, problems(fixture, report, library))


def problems(fixture: Fixture, report: Report, library: Library) -> list[str]:
    """Take a fixture, its report and the signatures; return what is not as it must be."""
    if fixture.proves == "healthy":
        return _not_silent(report)
    signature = library.get(fixture.signature)
    if signature is None:
        near = library.near(fixture.signature, 1)
        return [f"there is no signature {fixture.signature}{f': did you mean {near[0]}?' if near else ''}"]
    if fixture.proves == "confuser":
        return _mistaken(signature.id, report)
    problem = _not_matched(signature.id, report, library)
    return [*([problem] if problem else []), *_crossed(signature.id, report, library)]


def _not_silent(report: Report) -> list[str]:
    """Say of what a healthy log must not show: that the service is down or loses something, or why."""
    wrong = []
    for one in (report.incidents[verdict.incident - 1] for verdict in report.verdicts):
        blamed = [
            failure
            for failure in one.failures
            if failure.role == "root"
            or (failure.diagnoses and failure.level is not None and failure.role not in ("recovered", "teardown"))
        ]
        if blamed or one.outcome in ("failed", "degraded"):
            wrong += [f"{one.outcome}, {_said(failure)}" for failure in blamed] or [one.outcome]
    return wrong


def _mistaken(name: str, report: Report) -> list[str]:
    for failure in (failure for incident in report.incidents for failure in incident.failures):
        for one in failure.diagnoses:
            if one.signature == name:
                what = "; ".join(one.matched)[:300]
                return [f"{name} must not match, but is {one.confidence} of {failure.role} {failure.id}: {what}"]
    return []


def _not_matched(name: str, report: Report, library: Library) -> str:
    """Say what was found where a signature does not lead the root's diagnoses, or those of what the root explains."""
    incidents = [report.incidents[verdict.incident - 1] for verdict in report.verdicts]
    if any(_leads(name, failure, incident, library) for incident in incidents for failure in incident.failures):
        return ""
    return "; ".join(_found(name, incident) for incident in incidents) or "nothing was found in it"


def _leads(name: str, failure: Failure, incident: Incident, library: Library) -> bool:
    place = next((n for n, one in enumerate(failure.diagnoses) if one.signature == name), None)
    if place is None:
        return False
    signature = library.get(name)
    follows = failure.because is not None or any(
        other.because is not None and other.because.failure == failure.id for other in incident.failures
    )
    if failure.role != "root" and not follows and (signature is None or signature.role == "root"):
        return False
    # What stands before it must say itself that it explains this one, as a warning does that is the reason of a root.
    return all(_explains(one.signature, name, library) for one in failure.diagnoses[:place])


def _found(name: str, incident: Incident) -> str:
    roots = [failure for failure in incident.failures if failure.role == "root"]
    found = ", ".join(map(_said, roots)) or "no root"
    elsewhere = [
        f"{name} fits {failure.role} {failure.id}"
        for failure in incident.failures
        if failure.role != "root" and any(one.signature == name for one in failure.diagnoses)
    ]
    return "; ".join([f"{incident.outcome}, {found}", *elsewhere[:1]])


def _said(failure: Failure) -> str:
    from triage.report.sentence import head

    known = ", ".join(f"{one.signature} ({one.confidence})" for one in failure.diagnoses[:3])
    return f"{failure.role} {head(failure, 90)}: {known or 'no signature matches'}"


def _crossed(name: str, report: Report, library: Library) -> list[str]:
    """Return the signatures that are certain of this one's failure too, though nothing says that both are right."""
    crossed: dict[str, str] = {}
    for verdict in report.verdicts:
        for failure in report.incidents[verdict.incident - 1].failures:
            if failure.role != "root" or not any(one.signature == name for one in failure.diagnoses):
                continue
            for one in failure.diagnoses:
                if one.confidence == "certain" and one.signature != name and not _both(name, one.signature, library):
                    crossed[one.signature] = f"{one.signature} is certain of it too, and no edge relates the two"
    return list(crossed.values())


def _both(name: str, other: str, library: Library) -> bool:
    """Say whether two signatures may both be right of a failure: by an edge, a role, or as the general case."""
    one, two = library.get(name), library.get(other)
    if one is None or two is None:
        return False
    if "root" not in (one.role, two.role) or one.role != two.role:
        return True
    if _explains(name, other, library) or _explains(other, name, library):
        return True
    forms = Form.of(one), Form.of(two)
    return covers(*forms) or covers(*reversed(forms))


def _explains(name: str, other: str, library: Library) -> bool:
    signature, explained = library.get(name), library.get(other)
    if signature is None or explained is None:
        return False
    names = {explained.id, *explained.aliases}
    return any(edge.id in names for edge in signature.explains)


def summary(outcomes: Iterable[Outcome]) -> str:
    """Take outcomes; return one line: how many fixtures of which kind, how many fail."""
    counts: dict[str, int] = {"match": 0, "confuser": 0, "healthy": 0}
    failed = 0
    signatures: set[str] = set()
    for one in outcomes:
        counts[one.fixture.proves] += 1
        failed += bool(one.problems)
        if one.fixture.signature:
            signatures.add(one.fixture.signature)
    parts = [f"{counts['match']} fixtures", f"{counts['confuser']} confusers"]
    parts += [f"{counts['healthy']} healthy logs"] if counts["healthy"] else []
    return (
        f"{', '.join(parts)} of {len(signatures)} signatures: {f'{failed} failed' if failed else 'all as they must be'}"
    )
