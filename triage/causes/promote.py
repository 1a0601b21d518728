"""Which exception of a chain a failure is named after, once signatures have been tried on all of them."""

from __future__ import annotations

from triage.events.chain import promote
from triage.model import Incident


def promote_links(incident: Incident) -> None:
    """Name a failure after the link of its chain that its best signature matched, where that is sure enough."""
    for failure in incident.failures:
        if failure.exception is None or not failure.diagnoses:
            continue
        best = failure.diagnoses[0]
        if best.link and best.confidence != "possible":
            failure.exception = promote(failure.exception, best.link)
            for diagnosis in failure.diagnoses:
                diagnosis.link = 0 if diagnosis.link == best.link else diagnosis.link
