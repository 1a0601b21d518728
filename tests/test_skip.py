"""The fast skip of large inputs changes no verdict: forced on small logs, it finds what a full read finds."""

from pathlib import Path

import pytest

import triage.reading
from triage.pipeline import diagnose
from triage.scan import regions

CASES = Path(__file__).parent / "data" / "cases"
LOGS = sorted(next(folder.glob("input.*")) for folder in CASES.iterdir())


def verdict(log):
    incident = diagnose(logs=[str(log)]).incidents[-1]
    root = next((failure for failure in incident.failures if failure.role == "root"), None)
    if root is None:
        return incident.outcome, None
    return incident.outcome, root.fingerprint, root.ranks[:1], [each.signature for each in root.diagnoses[:1]]


@pytest.mark.parametrize("log", LOGS[::4], ids=lambda log: log.parent.name)
def test_a_skipping_read_gives_the_same_verdict(log, monkeypatch):
    """With windows of a few kilobytes and a log of any size."""
    whole = verdict(log)

    def small(chunks, needles):
        return regions(chunks, needles, head=8192, tail=4096, context=2048)

    monkeypatch.setattr(triage.reading, "WHOLE_BYTES", 0)
    monkeypatch.setattr("triage.scan.regions", small)
    assert verdict(log) == whole
