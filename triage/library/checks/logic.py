"""Checks of conditions: what can never hold, and what can never lead."""

from __future__ import annotations

from triage.data import knowledge
from triage.library import where
from triage.library.lint import Checked, Issue, Validator
from triage.library.relations import Form, contradiction, shadows
from triage.library.samples import meet, satisfiable
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triage.library.conditions import When


class NeverMatches(Issue):
    """Conditions that cannot hold together: the signature can never match."""

    instead = "conditions that one log can fulfil; what may be one or the other belongs into `any:` or a list"


class NeverApplies(Issue):
    """A fix whose conditions cannot hold where its signature matches is never offered as one that applies."""

    instead = "conditions that hold for some of the releases and facts of the signature, or no such fix"


class Conditions(Validator):
    """Finds conditions that contradict themselves or each other."""

    def check(self, one: Checked) -> Iterator[Issue]:
        signature = one.signature
        if said := contradiction(Form.of(signature)):
            yield NeverMatches(one.problem("match", said))
        for at, said in _impossible(signature.when, signature.engine):
            yield NeverMatches(one.problem(f"when.{at}", said))
        for package, ranges in signature.releases.items():
            for number, text in enumerate(ranges):
                if not meet([text]):
                    at = f"releases.{package}[{number}]"
                    yield NeverMatches(one.problem(at, f"no release of {package} is {text}"))
        for number, fix in enumerate(signature.fixes):
            for at, said in _impossible(fix.when, signature.engine):
                yield NeverApplies(one.problem(f"fixes[{number}].when.{at}", said))
            for package, ranges in fix.releases.items():
                if not meet(ranges, signature.releases.get(package, (">=0",))):
                    said = f"no release of {package} that the signature names is {' or '.join(ranges)}"
                    yield NeverApplies(one.problem(f"fixes[{number}].releases.{package}", said))


def _impossible(when: When, engine: str | None) -> Iterator[tuple[str, str]]:
    releases = knowledge("facts")["releases"]
    for name, wanted in when.facts:
        if not satisfiable(wanted, release=name in releases):
            yield name, f"no value is {wanted.text}"
        if name == "engine" and engine not in (None, "any") and not wanted.holds(engine):
            yield name, f"the signature is for {engine}"
    for name, wanted in when.rank:
        if not satisfiable(wanted):
            yield f"rank.{name}", f"no rank is {wanted.text}"
    if when.where:
        term = where.parse(when.where)
        if not where.names(term) and where.holds(term, lambda _: None) is False:
            yield "where", f"{when.where} does not hold"


class Shadowed(Issue):
    """Wherever this signature fits, the other fits too and scores no less, so that this one never leads."""

    instead = "what this one asks for beside the other: a frame, a longer message, a fact"


class Shadows(Validator):
    """Finds signatures that can never lead."""

    def __init__(self) -> None:
        self.seen: list[tuple[Checked, Form]] = []

    def check(self, one: Checked) -> Iterator[Issue]:
        if not one.signature.disabled:
            self.seen.append((one, Form.of(one.signature)))
        yield from ()

    def finish(self) -> Iterator[Issue]:
        for one, form in self.seen:
            for other, wider in self.seen:
                if other.signature.id != one.signature.id and shadows(wider, form):
                    said = f"{other.signature.id} always fits too and never scores less"
                    yield Shadowed(one.problem("match", said))
                    break
