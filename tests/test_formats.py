"""One real failure, in every form that journalctl prints: the same fingerprints, roles and diagnoses."""

import subprocess
import sys
from pathlib import Path

import pytest

from triage.pipeline import diagnose

JOURNALS = Path(__file__).parent / "data" / "journals"
FORMS = ("short", "short-iso", "short-precise", "with-unit", "verbose", "json", "json-seq", "export")


def essence(report):
    """What a diagnosis is, without where it was read."""
    incident = report.incidents[-1]
    root = next(failure for failure in incident.failures if failure.role == "root")
    return {
        "outcome": incident.outcome,
        "attempts": (incident.attempts.count, incident.attempts.same_fingerprint),
        "root": (root.fingerprint, root.first.rank, root.ranks, root.assembly),
        "diagnoses": [(d.signature, d.confidence) for d in root.diagnoses],
        "others": sorted((f.fingerprint, f.role) for f in incident.failures if f.level is not None and f is not root),
    }


@pytest.fixture(scope="module")
def expected():
    return essence(diagnose(logs=[str(JOURNALS / "pp8.export.xz")]))


def test_the_failure_is_the_one_that_happened(expected):
    """Failed twice in the same way; PP5 raised in the last attempt."""
    assert expected["outcome"] == "failed"
    assert expected["attempts"] == (2, True)
    assert expected["root"][1:3] == ("PP5", ["PP5"])
    assert expected["diagnoses"][0][0] == "sglang/pp-triton-layer0-value-buffer"
    assert expected["diagnoses"][0][1] in ("certain", "likely")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form, expected):
    """The form in which the journal was printed changes nothing."""
    assert essence(diagnose(logs=[str(JOURNALS / f"pp8.{form}.xz")])) == expected


def test_bare_messages_give_the_same_root(expected):
    """`-o cat` has no pid and no systemd fields: the root and its diagnosis are still the same."""
    found = essence(diagnose(logs=[str(JOURNALS / "pp8.cat.xz")]))
    assert found["root"][0] == expected["root"][0]
    assert found["root"][1] == "PP5"
    assert found["diagnoses"] == expected["diagnoses"]


def test_a_pipe_gives_the_same(expected):
    """The same text through standard input."""
    import json
    import lzma

    text = lzma.decompress((JOURNALS / "pp8.short.xz").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "triage", "--format", "json"], input=text, capture_output=True, timeout=60
    )
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    root = next(f for f in report["incidents"][-1]["failures"] if f["role"] == "root")
    assert (root["fingerprint"], root["ranks"]) == (expected["root"][0], expected["root"][2])
    assert [(d["signature"], d["confidence"]) for d in root["diagnoses"]] == expected["diagnoses"]
