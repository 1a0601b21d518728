"""What leaves the house is bounded and masked."""

from triage.model import Evidence, Failure, Frame, Position
from triage.report import summary
from triage.report.prepare import TEXT, prepared

SECRET = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"


def test_secrets_are_masked_in_every_text(incidents):
    """A token shows nowhere, wherever it stood."""
    incident = incidents.pp8()
    root = incident.failures[1]
    root.exception.message = root.text = root.diagnoses[0].cause = f"token {SECRET}"
    root.evidence[0].text = root.exception.frames[0].text = f"x={SECRET}"
    root.diagnoses[0].fixes[0].command = ["export", f"HF_TOKEN={SECRET}"]
    incident.facts["env.HF_TOKEN"] = SECRET
    incident.facts["api_key"] = "plain"
    incident.processes[0].last.text = SECRET
    report = incidents.report(incident)
    assert SECRET in report.verdicts[0].summary
    shown = prepared(report)
    assert SECRET not in repr(shown)
    assert shown.incidents[0].facts["api_key"].startswith("<secret-")
    assert SECRET in repr(prepared(report, mask=False))


def test_the_report_itself_is_not_changed(incidents):
    """Masking works on a copy."""
    report = incidents.report(incidents.pp8())
    before = repr(report)
    prepared(report, share=True)
    assert repr(report) == before


def test_hosts_and_cursors_stay_only_at_home(incidents):
    """What is made to be shared does not name machines."""
    report = incidents.report(incidents.pp8())
    assert "gpu-node-07" in repr(prepared(report))
    shared = repr(prepared(report, share=True))
    assert "gpu-node-07" not in shared
    assert "s=0d1a" not in shared
    assert "<host-1>" in shared
    report.incidents[0].members[0].host = "gpu"
    assert prepared(report, share=True).incidents[0].members[0].host.startswith("<host-")


def test_summaries_are_made_again_from_what_was_masked(incidents):
    """A token that the sentence cuts in two does not show its first half."""
    incident = incidents.pp8()
    incident.failures[1].exception.message = "x" * 90 + " " + SECRET
    report = incidents.report(incident)
    assert "hf_aBc" in report.verdicts[0].summary
    assert "hf_aBc" not in prepared(report).verdicts[0].summary


def test_other_summaries_are_kept(incidents):
    """Whoever writes a sentence of his own keeps it."""
    report = incidents.report(incidents.pp8())
    report.verdicts[0].summary = "my own words"
    assert prepared(report).verdicts[0].summary == "my own words"
    report.verdicts[0].summary = summary(report.incidents[0])
    report.verdicts[0].incident = 7
    assert prepared(report).verdicts[0].summary == summary(report.incidents[0])


def test_failures_that_say_nothing_are_left_out(incidents):
    """A notice without a level is shown only if something refers to it."""
    incident = incidents.pp8()
    assert [found.id for found in prepared(incidents.report(incident)).incidents[0].failures] == [
        "f2",
        "f3",
        "f4",
        "f5",
    ]
    assert [found.id for found in prepared(incidents.report(incidents.gloo())).incidents[0].failures] == ["f1", "f2"]


def test_texts_and_lists_are_bounded(incidents):
    """Nothing grows with the log."""
    incident = incidents.pp8()
    root = incident.failures[1]
    root.text = "x" * 3_000_000
    root.evidence = [Evidence(Position(), "y" * 5000)] * 5000
    root.exception.frames = [Frame("a.py", number, "f") for number in range(5000)]
    root.exception.message = "z" * 100_000
    found = prepared(incidents.report(incident)).incidents[0].failures[0]
    assert len(found.text) <= TEXT
    assert len(found.evidence) == 50
    assert len(found.evidence[0].text) <= TEXT
    assert [found.exception.frames[0].line, found.exception.frames[-1].line] == [0, 4999]
    assert len(found.exception.frames) == 400
    assert len(found.exception.message) <= 4000


def test_a_secret_at_the_edge_of_what_is_read_does_not_show(incidents):
    """Of a text of megabytes a part is read; a token that its end cuts in two is dropped."""
    incident = incidents.pp8()
    incident.failures[1].text = "x" * (200_000 - 8) + SECRET + " tail"
    assert "hf_a" not in prepared(incidents.report(incident)).incidents[0].failures[0].text


def test_commands_are_never_cut(incidents):
    """A command that was cut would do something else."""
    incident = incidents.pp8()
    incident.failures[1].diagnoses[0].fixes[0].command = ["echo", "x" * 5000]
    assert prepared(incidents.report(incident)).incidents[0].failures[0].diagnoses[0].fixes[0].command == [
        "echo",
        "x" * 5000,
    ]


def test_odd_facts_become_plain_values(incidents):
    """Facts can hold anything that was parsed; what leaves is JSON."""
    incident = incidents.pp8()
    incident.facts = {
        "set": {1},
        "tuple": (1, 2),
        "nan": float("nan"),
        "inf": float("inf"),
        "huge": 10**400,
        "object": Failure,
        "deep": [[[[[[[[1]]]]]]]],
    }
    facts = prepared(incidents.report(incident)).incidents[0].facts
    assert facts["set"] == [1]
    assert facts["tuple"] == [1, 2]
    assert facts["nan"] is None and facts["inf"] is None and facts["huge"] is None
    assert isinstance(facts["object"], str)
