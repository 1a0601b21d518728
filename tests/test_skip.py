"""The fast skip of large inputs changes no verdict: forced on small logs, it finds what a full read finds."""

import random
from pathlib import Path

import pytest

import triage._engine
import triage.reading
from triage.pipeline import diagnose
from triage.scan import regions
from triage.sources.text import TextSource

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


# One case in four now, the others where slow tests run.
CHUNKED = [pytest.param(log, marks=[] if n % 4 == 1 else pytest.mark.slow) for n, log in enumerate(LOGS)]


@pytest.mark.parametrize("log", CHUNKED, ids=lambda log: log.parent.name)
def test_engine_and_chunks_do_not_matter(log, monkeypatch):
    """The standard library in hyperscan's place, and a log that comes in pieces of any size, give the same verdict."""
    whole = verdict(log)
    read = TextSource.chunks
    chance = random.Random(log.parent.name)

    def torn(source):
        for chunk in read(source):
            at = 0
            while at < len(chunk):
                size = chance.choice((1, 7, 100, 4096, 70_000))
                yield chunk[at : at + size]
                at += size

    def small(chunks, needles):
        return regions(chunks, needles, head=8192, tail=4096, context=2048)

    monkeypatch.setattr(triage.reading, "WHOLE_BYTES", 0)
    monkeypatch.setattr("triage.scan.regions", small)
    monkeypatch.setattr("triage.scan.finder", lambda needles: triage._engine.by_stdlib(list(needles)))
    monkeypatch.setattr(TextSource, "chunks", torn)
    assert verdict(log) == whole
