"""Which exception of a chain a failure is named after, once signatures have been tried on all of them.

Of a direct cause the first stays the name, whatever a signature matched: it is what happened. While another exception
was being handled, the last is the name, unless a signature knows an earlier one.
"""

from __future__ import annotations

from triage.events.chain import promote
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Incident


def promote_links(incident: Incident) -> None:
    """Name a failure after the link of its chain that its best signature matched, where that is sure enough."""
    for failure in incident.failures:
        if failure.exception is None or not failure.diagnoses:
            continue
        best = failure.diagnoses[0]
        link = failure.exception.chain[best.link - 1] if best.link else None
        if link is not None and link.relation != "cause" and best.confidence != "possible":
            failure.exception = promote(failure.exception, best.link)
            for diagnosis in failure.diagnoses:
                diagnosis.link = 0 if diagnosis.link == best.link else diagnosis.link
