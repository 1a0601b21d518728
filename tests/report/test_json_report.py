"""The report for programs keeps its contract."""

import json
from pathlib import Path

import jsonschema

import triage.report
from triage.report import render
from triage.report.json_report import UNTRUSTED, to_json, to_jsonl

SCHEMA = json.loads((Path(triage.report.__file__).parent / "schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_one():
    """The published schema is itself valid."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_reports_keep_to_the_schema(named_report):
    """Every report is valid, as one document and as lines."""
    _, report = named_report
    VALIDATOR.validate(json.loads(to_json(report)))
    lines = to_jsonl(report).splitlines()
    assert len(lines) == len(report.incidents)
    for line in lines:
        VALIDATOR.validate(json.loads(line))


def test_hostile_reports_keep_to_the_schema(hostile):
    """Whatever the log said, the document is valid, ASCII, and one line in jsonl."""
    text = to_json(hostile)
    VALIDATOR.validate(json.loads(text))
    assert text.isascii()
    assert "\\ud800" not in text
    assert to_jsonl(hostile).count("\n") == 1


def test_a_report_looks_as_it_did(reports, golden):
    """Names, order, nulls and empty lists are a contract; TRIAGE_BLESS=1 approves additions."""
    golden("pp8-unit.json", to_json(reports["pp8-unit"]()))


def test_the_contract_of_the_design(reports):
    """The keys that were promised come first and in their order."""
    report = json.loads(to_json(reports["pp8-unit"]()))
    assert list(report)[:4] == ["schema_version", "tool", "verdicts", "incidents"]
    assert list(report["tool"]) == ["name", "version", "signatures", "digest"]
    assert list(report["verdicts"][0]) == ["incident", "failure", "summary"]
    incident = report["incidents"][0]
    assert list(incident)[:12] == [
        "source", "members", "started", "ended", "outcome", "phase", "exit", "attempts", "facts", "processes", "failures", "gaps",
    ]  # fmt: skip
    assert list(incident["exit"]) == ["code", "signal", "result"]
    assert list(incident["attempts"])[:2] == ["count", "same_fingerprint"]
    assert list(incident["processes"][0]) == ["rank", "pid", "host", "phases", "last", "exit"]
    assert list(incident["processes"][0]["phases"][0])[:3] == ["phase", "start", "end"]
    failure = incident["failures"][0]
    assert list(failure)[:14] == [
        "id", "role", "kind", "fingerprint", "assembly", "because", "ranks", "count", "first", "exception", "frames", "text",
        "evidence", "diagnoses",
    ]  # fmt: skip
    assert list(failure["first"]) == ["time", "rank", "pid", "host", "source", "offset", "line", "cursor"]
    assert list(failure["exception"])[:5] == ["type", "message", "notes", "frames", "chain"]
    assert list(failure["exception"]["frames"][0]) == ["file", "line", "function", "text"]
    assert list(failure["evidence"][0])[:2] == ["offset", "text"]
    assert list(failure["diagnoses"][0])[:9] == [
        "signature", "confidence", "title", "cause", "matched", "unconfirmed", "missing", "fixes", "references",
    ]  # fmt: skip
    assert list(failure["diagnoses"][0]["fixes"][0]) == ["kind", "title", "detail", "command", "risk", "applies", "why"]


def test_times_have_an_offset_only_where_the_zone_is_known(reports):
    """The journal knows the zone, a plain log does not."""
    zoned = json.loads(to_json(reports["pp8-unit"]()))["incidents"][0]
    assert zoned["started"] == "2026-11-29T14:43:30.25Z"
    assert zoned["failures"][0]["first"]["time"] == "2026-11-29T14:45:49.2508Z"
    plain = json.loads(to_json(reports["pp8-file"]()))["incidents"][0]
    assert plain["failures"][0]["first"]["time"] == "2026-11-29T14:21:21"


def test_nothing_is_null_or_empty(reports):
    """What is unknown is null, what is none is an empty list."""
    incident = json.loads(to_json(reports["no-root"]()))["incidents"][0]
    assert incident["exit"] is None
    assert incident["started"] is None
    assert incident["gaps"] == []
    failure = incident["failures"][0]
    assert failure["exception"] is None
    assert failure["because"] is None
    assert failure["diagnoses"] == []


def test_facts_keep_their_numbers_and_lose_their_secrets(incidents):
    """Numbers stay numbers, None stays null, a key is masked by its name."""
    incident = incidents.pp8()
    incident.facts["api_key"] = "s3cret"
    facts = json.loads(to_json(incidents.report(incident)))["incidents"][0]["facts"]
    assert facts["pp_size"] == 8
    assert facts["api_key"] == "<secret-1>"
    assert json.loads(to_json(incidents.report(incident), mask=False))["incidents"][0]["facts"]["api_key"] == "s3cret"


def test_untrusted_paths_exist(reports):
    """Every path that is called untrusted leads somewhere in one of the reports."""
    documents = [json.loads(to_json(make())) for make in reports.values()]

    def leads(value, parts):
        if not parts:
            return True
        name, _, _ = parts[0].partition("[*]")
        below = value.get(name) if isinstance(value, dict) else None
        if "[*]" in parts[0]:
            return any(leads(item, parts[1:]) for item in below or [])
        return name in value and leads(below, parts[1:]) if isinstance(value, dict) else False

    for path in UNTRUSTED:
        assert any(leads(document, path[2:].split(".")) for document in documents), path
    assert documents[0]["untrusted"] == UNTRUSTED


def test_render_makes_the_same(reports):
    """`render` is the way in."""
    report = reports["services"]()
    assert render(report, "json") == to_json(report)
    assert render(report, "jsonl") == to_jsonl(report)


def test_lines_number_their_one_incident_from_one(reports):
    """Each line is a document of its own."""
    for line in to_jsonl(reports["services"]()).splitlines():
        document = json.loads(line)
        assert [verdict["incident"] for verdict in document["verdicts"]] == [1]
        assert len(document["incidents"]) == 1
