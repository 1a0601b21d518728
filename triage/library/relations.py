"""How signatures stand to each other: which covers which, which can never lead; and which can never match."""

from __future__ import annotations

from triage.library.terms import FACTS, Term, Terms, all_implied, alternatives, implies, match_implies, of_match
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.library.signature import Signature

_ALL = frozenset(("exception", "native", "message", "unit", "kernel", "silence", "exit"))
# Which failures a match of each kind can be of, by `triage.matching.machine`.
_KINDS: dict[str, frozenset[str]] = {
    "exception": frozenset({"exception", "native", "message", "exit"}),
    "native": frozenset({"native", "exit", "exception"}),
    "unit": frozenset({"unit", "exit"}),
    "kernel": frozenset({"kernel"}),
    "silence": frozenset({"silence"}),
}


@dataclass(frozen=True, slots=True)
class Form:
    """A signature as its alternatives, none where there are too many to look at."""

    id: str
    ways: list[Terms]

    @classmethod
    def of(cls, signature: Signature) -> Form:
        """Take a signature; return its form."""
        return cls(signature.id, alternatives(signature))


def covers(general: Form, special: Form) -> bool:
    """Say whether `general` fits every failure that `special` fits: it asks for nothing that the other does not."""
    return bool(general.ways and special.ways) and all(
        any(all_implied(terms, wanted) for wanted in general.ways) for terms in special.ways
    )


def shadows(one: Form, other: Form) -> bool:
    """Say whether `other` can never lead: wherever it fits, `one` fits too and never scores less.

    Of two that score the same the one whose id comes first leads, as in matching.
    """
    ahead = one.id < other.id
    return bool(one.ways and other.ways) and all(
        any(_never_behind(wanted, terms, ahead=ahead) for wanted in one.ways) for terms in other.ways
    )


def _never_behind(wanted: Terms, terms: Terms, *, ahead: bool) -> bool:
    if not all_implied(terms, wanted):
        return False
    # A fact that both ask for is confirmed for both or for none: only what one of them asks for alone tells them apart.
    alone = [term for term in terms if not (term.kind in FACTS and any(_same_fact(term, one) for one in wanted))]
    mine = [one for one in wanted if one.kind not in FACTS]
    lead = sum(one.worth for one in mine) - sum(term.worth for term in alone)
    return lead > 1e-9 or (ahead and lead > -1e-9)


def _same_fact(one: Term, other: Term) -> bool:
    return one.kind == other.kind and one.about == other.about


def contradiction(form: Form) -> str:
    """Return why a signature can never match, '' if it can or if that cannot be told."""
    found = [_contradiction(terms) for terms in form.ways]
    return found[0] if found and all(found) else ""


def _contradiction(terms: Terms) -> str:
    kinds = _ALL.intersection(*(_KINDS[term.kind] for term in terms if term.kind in _KINDS))
    if not kinds:
        names = sorted({term.kind for term in terms if term.kind in _KINDS})
        return f"no failure is of {' and '.join(names)} at once"
    for number, term in enumerate(terms):
        for other in terms[:number]:
            if said := _at_odds(other, term) or _at_odds(term, other):
                return said
    return ""


def _at_odds(one: Term, other: Term) -> str:
    if other.kind == "not":
        wide = of_match(other.value)
        if any(len(wanted) == 1 and implies(one, wanted[0]) for wanted in wide):
            return f"`not` rules out what `{one.kind}` asks for"
    if one.kind == other.kind == "exception" and not _types(one) & _types(other):
        return f"no exception is {' or '.join(one.value)} and {' or '.join(other.value)} at once"
    if one.kind == "message_is" and other.kind in ("message", "message_is", "message_re") and not implies(one, other):
        return f"a message that is {one.value!r} does not fit `{other.kind}: {other.value}`"
    if one.kind == "with" and other.kind == "without" and match_implies(one.value.match, other.value.match):
        near = other.value.within is None or (one.value.within is not None and one.value.within <= other.value.within)
        if near and other.value.scope in (one.value.scope, "run"):
            return "`without` rules out what `with` asks for"
    return ""


def _types(term: Term) -> set[str]:
    return {name.rpartition(".")[2] for name in term.value}
