"""Every signature proves itself: on its fixtures, against its confusers, against all other signatures, on healthy logs."""

from pathlib import Path

import pytest

from triage.testing import Fixture, Pack

ROOT = Path(__file__).parent.parent
PACK = Pack(ROOT)
CASES = ROOT / "tests/data/cases"
HEALTHY = [case.parent for case in sorted(CASES.glob("*/case.yaml")) if "outcome: healthy" in case.read_text()]


@pytest.mark.parametrize("fixture", PACK.fixtures, ids=str)
def test_fixture_shows_what_it_must(fixture):
    """A log leads to its signature, a confuser does not, a healthy one to none; and no other signature is as certain."""
    assert PACK.problems(fixture) == []


@pytest.mark.parametrize("case", HEALTHY, ids=lambda case: case.name)
def test_no_signature_fires_on_a_healthy_log(case):
    """Whatever it complains of, a service that serves has no root failure."""
    (log,) = case.glob("input.*")
    assert PACK.problems(Fixture(log, case.name, "", "healthy")) == []


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
        engine = incident.facts.get("engine")
        able = [one for one in PACK.library.signatures if engine is None or one.engine in (None, "any", engine)]
        for failure in incident.failures:
            trials = [attempt(one, context.subject(failure), context) for one in able]
            whole = {trial.signature.id for trial in trials if trial.fits and trial.result.state}
            assert whole <= {one.signature for one in failure.diagnoses}, failure.text[:200]
