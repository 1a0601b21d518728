"""Checks of what backs a signature up: references, fixtures, confusers, and the risk of its fixes."""

from __future__ import annotations

from pathlib import Path

from triage.data import folder
from triage.library.fixtures import fixtures, pack_of
from triage.library.lint import Checked, Issue, Validator
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class NoReference(Issue):
    """Nothing says where the failure is known from, so that nobody can check it."""

    instead = "link an issue, a change or a manual"


class PlainReference(Issue):
    """A link that is not https can lead elsewhere on the way."""

    instead = "https://.."


class References(Validator):
    """Finds signatures without a reference, and references that are not https."""

    def check(self, one: Checked) -> Iterator[Issue]:
        if not one.signature.references and not one.signature.disabled:
            yield NoReference(one.problem("references", "there is no reference"))
        for number, link in enumerate(one.signature.references):
            if not link.startswith("https://"):
                yield PlainReference(one.problem(f"references[{number}]", f"{link} is not https"))


class NoRisk(Issue):
    """Who is on call at night must know what a fix costs before it is tried."""

    severity = "warning"
    instead = "risk: none, restart, accuracy, speed or data"


class Risks(Validator):
    """Finds fixes that do not say what they risk."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for number, fix in enumerate(one.signature.fixes):
            if not fix.risk:
                yield NoRisk(one.problem(f"fixes[{number}]", f"the {fix.kind} fix says nothing of its risk"))


class NoFixture(Issue):
    """No log shows that it matches, so that nobody notices when it no longer does."""

    severity = "warning"
    instead = "a log of the failure: fixtures/AREA/SLUG/NAME.log"


class NoConfuser(Issue):
    """No log shows what it must not be taken for, so that nobody notices when it matches too much."""

    severity = "warning"
    instead = "a log that looks alike and means something else: fixtures/AREA/SLUG/confuser-WHAT.log"


class Fixtures(Validator):
    """Finds signatures of a pack without a fixture or a confuser; an installed triage has none of its own."""

    def __init__(self) -> None:
        self.packs: dict[Path, dict[str, set[str]]] = {}

    def check(self, one: Checked) -> Iterator[Issue]:
        pack = pack_of(Path(one.file))
        if pack is None or one.signature.disabled or _installed(pack):
            return
        if pack not in self.packs:
            self.packs[pack] = _proofs(pack)
        proofs = self.packs[pack].get(one.signature.id, set())
        if "match" not in proofs:
            yield NoFixture(one.problem("id", f"there is no log in fixtures/{one.signature.id}/"))
        if "confuser" not in proofs:
            yield NoConfuser(one.problem("id", f"there is no confuser in fixtures/{one.signature.id}/"))


def _installed(pack: Path) -> bool:
    return pack == folder("signatures").parent and not (pack / "fixtures").is_dir()


def _proofs(pack: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for one in fixtures(pack):
        found.setdefault(one.signature, set()).add(one.proves)
    return found
