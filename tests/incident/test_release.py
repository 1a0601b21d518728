"""The release of a run, read off its tracebacks."""

import pytest

from triage.incident import facts as told
from triage.model import ExceptionInfo, Failure, Frame, Incident, Position
from triage.releases import ReleaseReading


def incident(*files, **facts):
    """A run with one failure, whose frames are of these files."""
    frames = [Frame(file, 1, "f") for file in files]
    failure = Failure("f1", "exception", "traceback", "v1:x", Position(), exception=ExceptionInfo("E", "", frames))
    return Incident("x", facts=dict(facts), failures=[failure])


@pytest.fixture
def says(monkeypatch):
    """What the reading of frames says; asked or not."""
    asked = []

    def say(*candidates, probable=False):
        def reading(*stacks):
            asked.append(stacks)
            return ReleaseReading(list(candidates), 4, "4 frames agree", probable)

        monkeypatch.setattr("triage.releases.releases_of", reading)
        return asked

    return say


OWN = "/x/site-packages/sglang/srt/a.py"


def test_one_release_is_a_fact(says):
    """And where it is from."""
    says("0.5.9")
    run = incident(OWN)
    told.read_release(run)
    assert run.facts == {"engine": "sglang", "sglang": "0.5.9", "sglang_from": "traceback"}


def test_several_are_candidates(says):
    """Oldest first."""
    says("0.5.8", "0.5.8.post1")
    run = incident(OWN, engine="sglang")
    told.read_release(run)
    assert run.facts == {
        "engine": "sglang",
        "sglang_candidates": ["0.5.8", "0.5.8.post1"],
        "sglang_from": "traceback",
    }


def test_of_a_checkout_nothing_is_sure(says):
    """The releases before and after the one it resembles are possible too."""
    says("0.5.8.post1", probable=True)
    run = incident(OWN)
    told.read_release(run)
    assert run.facts["sglang_candidates"] == ["0.5.8", "0.5.8.post1", "0.5.9"]
    assert (run.facts["sglang_probably"], run.facts["sglang_from"]) == (["0.5.8.post1"], "checkout")
    assert "sglang" not in run.facts


def test_nothing_is_claimed_without_a_candidate(says):
    """Not even the engine."""
    says()
    run = incident(OWN)
    told.read_release(run)
    assert run.facts == {}


@pytest.mark.parametrize(
    ("file", "facts"),
    [
        ("/x/site-packages/torch/nn.py", {}),
        ("/x/vllm/engine.py", {"engine": "sglang"}),
        (OWN, {"sglang": "0.4.0"}),
        (OWN, {"engine": "vllm"}),
    ],
)
def test_nothing_is_asked_without_need(says, file, facts):
    """Where there is no frame of SGLang, where the release is known, where another engine runs."""
    asked = says("0.5.9")
    run = incident(file, **facts)
    told.read_release(run)
    assert (asked, run.facts) == ([], facts)
