"""One signature held against one failure, with everything it asks for: match, other events, facts, release."""

from __future__ import annotations

from triage.library import worth
from triage.library.conditions import Checked, Situation, check
from triage.library.releases import contains, in_words, release_of, verdict
from triage.matching.evaluate import evaluate
from triage.matching.result import Result, every
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triage.library.signature import Signature
    from triage.matching.context import Context
    from triage.matching.subject import Subject
    from triage.model import Confidence, Failure, Incident

# A signature that only guesses stands behind all that do not.
_GUESS = 0.01


@dataclass(slots=True)
class Trial(Record):
    """What came of it: `result` of the match and of `with:`, `absent` of `without:`, `checks` of facts and releases."""

    signature: Signature
    result: Result
    absent: list[Result]
    checks: list[Checked]
    link: int
    situation: Situation

    @property
    def fits(self) -> bool:
        """Say whether it may be called a diagnosis: nothing rules it out, and something beside a type was seen."""
        if self.result.state is False or False in [
            *(one.state for one in self.absent),
            *(one.state for one in self.checks),
        ]:
            return False
        return bool(self.result.state) or self.result.held > 0

    @property
    def confidence(self) -> Confidence:
        """How sure a diagnosis is, by what was observed and confirmed; never declared by the signature itself."""
        if self.result.state is None:
            return "possible"
        conditions = self.result.held + sum(bool(one.state) for one in self.checks)
        return "likely" if self.unconfirmed or conditions < 2 else "certain"

    @property
    def matched(self) -> list[str]:
        """What was seen, as phrases."""
        seen = [*self.result.matched, *(one.phrase for one in self.checks if one.state)]
        return list(dict.fromkeys([*seen, *(phrase for one in self.absent for phrase in one.matched)]))

    @property
    def unconfirmed(self) -> list[str]:
        """What could be neither confirmed nor ruled out, as phrases."""
        unsure = [one.phrase for one in self.checks if one.state is None]
        return unsure + [phrase for one in self.absent if one.state is None for phrase in one.missing]

    @property
    def score(self) -> float:
        """How specific it is: what matched, by how telling it is; confirmed facts count more than unconfirmed ones."""
        facts = sum({True: worth.FACT, None: worth.UNKNOWN_FACT, False: 0.0}[one.state] for one in self.checks)
        total = self.result.score + facts + sum(one.score for one in self.absent)
        return round(total if self.result.state else total * _GUESS, 4)


def attempt(signature: Signature, subject: Subject, context: Context, *, whole: bool = False) -> Trial:
    """Hold a signature against a failure; `whole` checks all there is even where the match itself does not hold."""
    incident, failure = context.incident, subject.failure
    result, link = evaluate(signature.match, subject, context, whole=whole)
    situation = Situation(incident.facts, _captures(failure, result), failure.ranks, phase_of(failure, incident))
    trial = Trial(signature, result, [], [], link, situation)
    if result.state is False and not whole:
        return trial
    if signature.with_:
        from triage.matching.others import elsewhere

        trial.result = every([result, *elsewhere(signature, subject, context)])
        situation.captures = _captures(failure, trial.result)
        if trial.result.state is False and not whole:
            return trial
    if signature.without:
        from triage.matching.others import nowhere

        trial.absent = nowhere(signature, subject, context)
    trial.checks = check(signature.when, situation) + check_releases(signature.releases, incident.facts)
    return trial


def check_releases(releases: Mapping[str, tuple[str, ...]], facts: Mapping[str, object]) -> list[Checked]:
    """Return whether each package's release lies in the range that is named for it."""
    checked = []
    for package, ranges in releases.items():
        version = release_of(facts, package)
        state = contains(ranges, version)
        span = " or ".join(ranges)
        if version is None:
            checked.append(Checked(None, f"{package} release not in the log (wanted: {span})"))
        elif state is None:
            checked.append(Checked(None, f"{package} {in_words(version)} too near to {span} to tell"))
        else:
            checked.append(Checked(state, f"{package} {in_words(version)} ({span})", verdict(package, ranges, version)))
    return checked


def phase_of(failure: Failure, incident: Incident) -> str | None:
    """Return the phase in which the failing process was, else the one that the run as a whole had reached."""
    at = failure.first
    for process in incident.processes:
        mine = (at.pid is not None and process.pid == at.pid) or (at.rank is not None and process.rank == at.rank)
        if not mine:
            continue
        reached = [one for one in process.phases if at.time is None or one.start is None or one.start <= at.time]
        if reached:
            return reached[-1].phase
    return incident.phase


def _captures(failure: Failure, result: Result) -> dict[str, str]:
    return {**failure.data, **result.captures}
