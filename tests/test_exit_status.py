"""The exit status says whether something failed, and whether triage knows why."""

import pytest

from triage.model import Because, Diagnosis, Failure, Incident, Position, Report, Tool, Verdict
from triage.pipeline import exit_status

KNOWN = Diagnosis("a/b", "certain", "A title", "A cause.")


def report(outcome, *, root=(), warning=()):
    """Make a report of one incident: a root failure and the warning that explains it, each with its diagnoses."""
    failures = [
        Failure("f1", "message", "gloo/loopback", "v1:1", Position(), diagnoses=list(warning)),
        Failure("f2", "exception", "traceback", "v1:2", Position(), "root", Because("f1", "x"), diagnoses=list(root)),
    ]
    return Report(Tool("1"), [Verdict(1, "f2", "")], [Incident("a.log", outcome=outcome, failures=failures)])


@pytest.mark.parametrize("outcome", ["failed", "degraded"])
def test_a_failure_is_known_by_its_own_signature_or_by_its_reason_s(outcome):
    """A root that is known only through the warning that explains it is diagnosed, too."""
    assert exit_status(report(outcome, root=[KNOWN])) == 1
    assert exit_status(report(outcome, warning=[KNOWN])) == 1
    assert exit_status(report(outcome)) == 3


def test_what_is_merely_possible_is_unknown():
    """Candidates are no diagnosis, whichever failure they stand at."""
    possible = Diagnosis("a/b", "possible", "A title", "A cause.")
    assert exit_status(report("failed", root=[possible])) == 3
    assert exit_status(report("failed", warning=[possible])) == 3
    assert exit_status(report("failed", root=[KNOWN, possible])) == 1


@pytest.mark.parametrize("outcome", ["healthy", "starting"])
def test_nothing_wrong(outcome):
    """Whatever was logged."""
    assert exit_status(report(outcome, root=[KNOWN])) == 0
