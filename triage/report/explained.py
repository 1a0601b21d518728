"""What `--explain` adds: of each signature that fits every condition that held, and of those that nearly fit the one
that did not.
"""

from __future__ import annotations

from triage.report.items import Item, Section
from triage.report.text import one_line
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Diagnosis, Failure, NearMiss

_SHOWN = 8


def explained(root: Failure | None) -> list[Section]:
    """Take a root failure; return the conditions of its signatures, nothing where nobody asked for them."""
    if root is None or root.near is None:
        return []
    found = [Section("fits", _fitting(one), "explain") for one in root.diagnoses[:_SHOWN]]
    if not found:
        found.append(Section("fits", [Item("quiet", "No signature fits.")], "explain"))
    near = [item for one in root.near for item in _near(one)]
    near = near or [Item("quiet", "No other signature has all but one of its conditions.")]
    return [*found, Section("nearly", near, "explain")]


def _fitting(found: Diagnosis) -> list[Item]:
    head = Item("strong", one_line(f"{found.signature} ({found.confidence})"))
    rows = (("holds", found.matched), ("not known", found.unconfirmed), ("not seen", found.missing))
    return [head, *(_row(said, phrase) for said, phrases in rows for phrase in phrases)]


def _near(found: NearMiss) -> list[Item]:
    head = Item("strong", one_line(f"{found.signature}: {found.title}"))
    return [head, *(_row("holds", phrase) for phrase in found.held), _row("fails", found.failed)]


def _row(said: str, phrase: str) -> Item:
    return Item("prose", f"{said}: {one_line(phrase)}", inside=True)
