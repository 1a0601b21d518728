"""Every signature proves itself: on its fixtures, against its confusers, against all other signatures, on healthy logs."""

from pathlib import Path

import pytest

from triage.testing import Pack

ROOT = Path(__file__).parent.parent
PACK = Pack(ROOT)


@pytest.mark.parametrize("fixture", PACK.fixtures, ids=str)
def test_fixture_shows_what_it_must(fixture):
    """A log leads to its signature, a confuser does not, a healthy one to none; and no other signature is as certain."""
    assert PACK.problems(fixture) == []


def test_healthy_logs_are_of_many_kinds():
    """That signatures are silent where nothing is wrong is tried on all that people run."""
    healthy = [one.name.split("/")[1] for one in PACK.fixtures if one.proves == "healthy"]
    assert len(healthy) >= 30
    assert set(healthy) >= {"docker", "kubernetes", "ray", "router", "sglang", "systemd", "vllm"}


def test_signatures_are_sound():
    """The linter has no error to report."""
    assert [str(issue) for issue in PACK.issues() if issue.severity == "error"] == []


@pytest.mark.slow
@pytest.mark.parametrize("fixture", [one for one in PACK.fixtures if one.proves == "match"], ids=str)
def test_looking_up_loses_no_match(fixture):
    """Every signature tried on every failure of every fixture: what the index finds is all there is."""
    from triage.matching.context import Context
    from triage.matching.trial import attempt
    from triage.pipeline import Options, diagnose

    for incident in diagnose([str(fixture.path)], options=Options(library=PACK.library)).incidents:
        context = Context(incident)
        for failure in incident.failures:
            if failure.rule == "silent-rank":
                continue  # found by the absence of lines, after all that is said was matched
            subject = context.subject(failure)
            engine = incident.facts.get("engine") or subject.engine
            able = [one for one in PACK.library.signatures if engine is None or one.engine in (None, "any", engine)]
            trials = [attempt(one, subject, context) for one in able]
            whole = {trial.signature.id for trial in trials if trial.fits and trial.result.state}
            assert whole <= {one.signature for one in failure.diagnoses}, failure.text[:200]
