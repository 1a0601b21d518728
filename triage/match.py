"""Holds signatures against the failures of an incident.

Candidates are looked up by exception type and by literals, so that the time does not grow with the library; only they
are evaluated, regexes last. What a signature asks for beyond the failure (other events, facts, the release) then
confirms it, rules it out, or stays unconfirmed.
"""

from __future__ import annotations

from triage.matching.context import Context, near
from triage.model import Diagnosis, NearMiss
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.library.library import Library
    from triage.library.signature import Signature
    from triage.matching.subject import Subject
    from triage.matching.trial import Trial
    from triage.model import Failure, Incident

# Of more failures than this only the strongest are diagnosed; and signatures that are merely near are sought for few.
MAX_DIAGNOSED = 4000
MAX_SOUGHT = 32
MAX_TRIED = 64
MAX_NEAR = 3


def diagnose(incident: Incident, library: Library, *, gaps: bool = True) -> None:
    """Fill `diagnoses` of every failure of an incident, the most specific first.

    A failure that no signature fits gets those that are near, if any, as `possible`. Patterns that took too long are
    added to the incident's gaps unless `gaps` is False.
    """
    context = Context(incident)
    left: list[Failure] = []
    for failure in _strongest(incident.failures):
        subject = context.subject(failure)
        failure.diagnoses = _diagnoses(_candidates(subject, library), subject, context, library)
        if not failure.diagnoses and failure.level is not None:
            left.append(failure)
    context.fuzzy = True
    left.sort(key=lambda one: (one.level or 0.0, one.order))
    for failure in left[:MAX_SOUGHT]:
        subject = context.subject(failure)
        failure.diagnoses = _diagnoses(_near(subject, library), subject, context, library)[:MAX_NEAR]
    _bound(incident, library)
    if gaps:
        incident.gaps.extend(context.gaps)


def _bound(incident: Incident, library: Library) -> None:
    """Note which failures are beyond what a diagnosis explains: further away than its edges to them reach."""
    known = {failure.id: {one.signature for one in failure.diagnoses} for failure in incident.failures}
    for failure in incident.failures:
        for diagnosis in failure.diagnoses:
            signature = library.get(diagnosis.signature) if diagnosis.explains else None
            edges = signature.explains if signature else ()
            if all(edge.within is None and edge.scope == "run" for edge in edges):
                continue
            for other in incident.failures:
                mine = [edge for edge in edges if edge.id in known[other.id]]
                if mine and all(near(failure, other, edge.within, edge.scope) is False for edge in mine):
                    diagnosis.beyond.append(other.id)


def diagnose_one(failure: Failure, incident: Incident, library: Library) -> None:
    """Fill `diagnoses` of a failure that came after the others were diagnosed; what is merely near is not sought."""
    context = Context(incident)
    subject = context.subject(failure)
    failure.diagnoses = _diagnoses(_candidates(subject, library), subject, context, library)


def explain(failure: Failure, incident: Incident, library: Library, limit: int = 5) -> list[NearMiss]:
    """Return signatures that nearly fit a failure of an incident: all of what they ask for holds but one condition."""
    from triage.matching.trial import attempt

    context = Context(incident)
    subject = context.subject(failure)
    misses = []
    for signature in _signatures(
        {*_candidates(subject, library), *_near(subject, library)}, subject, incident, library
    ):
        trial = attempt(signature, subject, context, whole=True)
        failed = _failed(trial)
        if len(failed) == 1 and trial.result.held:
            misses.append(NearMiss(signature.id, signature.title, trial.matched, failed[0], trial.result.score))
    return sorted(misses, key=lambda miss: (-miss.score, miss.signature))[:limit]


def _failed(trial: Trial) -> list[str]:
    """Return what rules a signature out, each as what would be needed instead."""
    failed = []
    if trial.result.state is False:
        failed += [f"would match if there were {phrase}; this failure has none" for phrase in trial.result.missing]
    for one in trial.absent:
        if one.state is False:
            failed += [f"would match {phrase}; but that is there" for phrase in one.missing]
    return failed + [one.needed or one.phrase for one in trial.checks if one.state is False]


def _strongest(failures: list[Failure]) -> list[Failure]:
    if len(failures) <= MAX_DIAGNOSED:
        return failures
    return sorted(failures, key=lambda one: (one.level is None, one.level or 0.0, one.order))[:MAX_DIAGNOSED]


def _candidates(subject: Subject, library: Library) -> set[int]:
    found = library.index.fitting(subject.types, subject.text, subject.files, subject.failure.kind, whole=subject.whole)
    return {*found, *library.index.related(subject.types, subject.files)} if subject.partial else set(found)


def _near(subject: Subject, library: Library) -> set[int]:
    """Return those that may be near: beside the type one condition at least must hold, so a text or a file is there."""
    return set(library.index.near(subject.types, subject.text, subject.files, MAX_TRIED))


def _signatures(numbers: Iterable[int], subject: Subject, incident: Incident, library: Library) -> Iterable[Signature]:
    engine = incident.facts.get("engine") or subject.engine
    for number in sorted(numbers):
        signature = library.entries[number].read()
        if engine is None or signature.engine in (None, "any", engine):
            yield signature


def _diagnoses(numbers: Iterable[int], subject: Subject, context: Context, library: Library) -> list[Diagnosis]:
    """Try signatures on a failure; return the diagnoses, the most specific first."""
    if not numbers:
        return []
    from triage.matching.trial import attempt

    trials = [
        attempt(signature, subject, context) for signature in _signatures(numbers, subject, context.incident, library)
    ]
    fitting = [trial for trial in trials if trial.fits]
    fitting.sort(key=lambda trial: (-trial.score, len(trial.unconfirmed), trial.signature.id))
    return [_diagnosis(trial, context.incident) for trial in fitting]


def _diagnosis(trial: Trial, incident: Incident) -> Diagnosis:
    from triage.fixes.plan import plan
    from triage.library.releases import release_of, verdict
    from triage.library.template import fill

    signature, facts = trial.signature, incident.facts
    release = next(iter(signature.releases.items()), None)
    return Diagnosis(
        signature=signature.id,
        confidence=trial.confidence,
        title=fill(signature.title, trial.situation),
        cause=fill(signature.cause, trial.situation),
        matched=trial.matched,
        unconfirmed=trial.unconfirmed,
        missing=trial.result.missing if trial.result.state is None else [],
        not_when=fill(signature.not_when, trial.situation),
        release=verdict(*release, release_of(facts, release[0]), facts.get("python")) if release else "",
        role=signature.role,
        explains=[one.id for one in signature.explains],
        link=trial.link,
        score=trial.score,
        fixes=plan(signature, trial.situation, incident),
        references=list(signature.references),
    )
