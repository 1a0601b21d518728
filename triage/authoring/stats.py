"""How many signatures there are of which kind, and which lack a fixture, a confuser or a reference."""

from __future__ import annotations

from collections import Counter

from triage.library.fixtures import fixtures
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from triage.library.signature import Match, Signature

LEAVES = ("exception", "message", "message_is", "message_re", "frames", "native", "log", "unit", "kernel", "silence")


@dataclass(slots=True)
class Stats:
    """Counts by name. `kinds` counts a signature once for each kind of condition that it asks for."""

    total: int = 0
    areas: Counter[str] = field(default_factory=Counter)
    roles: Counter[str] = field(default_factory=Counter)
    engines: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    fixes: Counter[str] = field(default_factory=Counter)
    fixtures: Counter[str] = field(default_factory=Counter)
    without_fixture: list[str] = field(default_factory=list)
    without_confuser: list[str] = field(default_factory=list)
    without_reference: list[str] = field(default_factory=list)
    without_fix: list[str] = field(default_factory=list)


def stats(signatures: Iterable[Signature], packs: Sequence[Path]) -> Stats:
    """Take signatures and the packs in which their fixtures lie; return the counts."""
    found = Stats()
    proofs: dict[str, set[str]] = {}
    for fixture in (fixture for pack in packs for fixture in fixtures(pack)):
        found.fixtures[fixture.proves] += 1
        proofs.setdefault(fixture.signature, set()).add(fixture.proves)
    for one in signatures:
        found.total += 1
        found.areas[one.id.partition("/")[0]] += 1
        found.roles[one.role] += 1
        found.engines[one.engine or "any"] += 1
        found.kinds.update(_kinds(one))
        found.fixes.update(fix.kind for fix in one.fixes)
        have = set().union(*(proofs.get(name, ()) for name in (one.id, *one.aliases)))
        for lacking, name in ((found.without_fixture, "match"), (found.without_confuser, "confuser")):
            if name not in have:
                lacking.append(one.id)
        if not one.references:
            found.without_reference.append(one.id)
        if not one.fixes:
            found.without_fix.append(one.id)
    return found


def _kinds(signature: Signature) -> set[str]:
    kinds = set(_of_match(signature.match))
    for name in ("when", "releases", "with_", "without", "explains"):
        if getattr(signature, name):
            kinds.add(name.rstrip("_"))
    return kinds


def _of_match(match: Match) -> Iterable[str]:
    yield from (name for name in LEAVES if getattr(match, name) not in (None, ()))
    for one in (*match.any, *match.all):
        yield from _of_match(one)
    if match.negated:
        yield "not"
