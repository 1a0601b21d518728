"""A JSON report as a log: the same failure for who has no log any more."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.authoring.draft.reports import log_of
from triage.model import TriageError
from triage.pipeline import Options, diagnose
from triage.report import render
from triage.testing import Pack

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/cases"
LIBRARY = Pack(ROOT).library


def root(log):
    """The root of a log and its incident."""
    incident = diagnose([str(log)], options=Options(library=LIBRARY)).incidents[-1]
    return next(one for one in incident.failures if one.role == "root"), incident


@pytest.mark.parametrize(
    "case",
    [
        "pp-triton-v-buffer-index",
        "gated-repo-401",
        "libnuma-missing-slim-image",
        "unit-203-exec",
        "nccl-proxy-pool-deadlock-two-node",
    ],
)
@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_report_shows_the_failure_of_its_log(case, form, tmp_path):
    """Type, message, frames and the facts that are launch arguments."""
    (log,) = (CASES / case).glob("input.*")
    report = tmp_path / "report.json"
    report.write_text(render(diagnose([str(log)], options=Options(library=LIBRARY)), form))
    again = tmp_path / "again.log"
    again.write_text(log_of(report))
    (was, run), (now, rerun) = root(log), root(again)
    assert (now.kind, now.exception is None) == (was.kind, was.exception is None)
    if was.exception is not None:
        assert (now.exception.type, now.exception.message) == (was.exception.type, was.exception.message)
        assert [f.function for f in now.exception.frames] == [f.function for f in was.exception.frames]
    assert rerun.facts.get("tp_size") == run.facts.get("tp_size")
    assert {one.signature for one in now.diagnoses} & {one.signature for one in was.diagnoses}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "is no JSON"),
        ("[1]", "is no report"),
        ('{"schema_version": 2, "incidents": []}', "is no report"),
        ('{"schema_version": 1, "incidents": [{"failures": []}]}', "has no root failure"),
        ("[" * 100_000, "is no JSON"),
    ],
)
def test_what_is_no_report_is_said(text, said, tmp_path):
    """In one line."""
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(TriageError, match=said):
        log_of(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = ("exception", "frames", "chain", "ranks", "text", "evidence", "kind", "message", "type", "place", "facts")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(failure=st.dictionaries(st.sampled_from(KEYS), JSON), exception=st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_report_is_read_or_refused(failure, exception, tmp_path):
    """Never another error."""
    failure = {**failure, "role": "root", "exception": failure.get("exception", exception)}
    path = tmp_path / "report.json"
    path.write_text(
        json.dumps({"schema_version": 1, "incidents": [{"failures": [failure], "facts": failure.get("facts")}]})
    )
    assert log_of(path).endswith("\n")
