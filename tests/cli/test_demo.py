"""`triage demo` and what it shows of the packaged log."""

import json

import pytest

from triage.cli import main


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_the_demo_names_its_log_and_no_place(form, capsys):
    """Where the package keeps the log is nobody's to read on in."""
    assert main(["demo", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "sglang-pp8.log" in shown
    assert "/demo/" not in shown
    assert "less +" not in shown
    if form == "text":
        assert shown.startswith("$ triage logs sglang-pp8.log\n\n✗ sglang-pp8.service failed ")
        assert "\n  source     sglang-pp8.log\n" in shown
    if form == "json":
        assert {incident["source"] for incident in json.loads(shown)["incidents"]} == {"sglang-pp8.log"}
