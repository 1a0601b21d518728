"""Real journals, written by a real systemd: each unit's last run, read from the export of the whole journal."""

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from triage.pipeline import diagnose

JOURNALS = Path(__file__).parent / "data" / "journals"
TRUTH = yaml.safe_load((JOURNALS / "truth.yaml").read_text())


@cache
def report(export):
    return diagnose(logs=[str(JOURNALS / export)])


@pytest.mark.parametrize("row", TRUTH, ids=lambda row: f"{row['export'].partition('.')[0]}-{row['unit']}")
def test_a_unit_of_the_export_is_diagnosed(row):
    """Outcome, exception, message and first rank are what was injected."""
    incidents = [i for i in report(row["export"]).incidents if i.members[0].unit == row["unit"]]
    incident, expect = incidents[-1], row["expect"]
    roots = [failure for failure in incident.failures if failure.role == "root"]
    assert incident.outcome == expect["outcome"]
    if expect["outcome"] == "healthy":
        assert not roots
        return
    (root,) = roots
    if expect["exception"]:
        assert root.exception.type.rpartition(".")[2] == expect["exception"]
    else:
        assert root.exception is None
    said = f"{root.exception.message if root.exception else ''}\n{root.text}"
    assert re.search(expect["message"], said, re.DOTALL)
    if expect["rank"]:
        assert root.first.rank == expect["rank"]
