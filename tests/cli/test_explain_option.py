"""`--explain`: which conditions held, and which one kept the nearest signatures from fitting."""

import json
from pathlib import Path

import jsonschema
import pytest

from triage import data, report
from triage.model import Report, Tool

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "demo/sglang-pp8.log"
HEAD = 'format: 1\nid: lab/{name}\ntitle: "Title of {name}"\ncause: "Because."\n'
FITS = 'match: {exception: IndexError, message: "list index out of range", frames: ["triton_backend.py:__init__"]}\nwhen: {pp_size: ">1", host.gpu: "*H100*"}\n'
OTHER_FRAME = 'match: {exception: IndexError, message: "list index", frames: ["flashinfer_backend.py:__init__"]}\n'
OTHER_FACT = 'match: {message: "list index"}\nwhen: {pp_size: ">64"}\n'
TWO_OFF = 'match: {exception: IndexError, message: "other", frames: ["other.py:f"]}\n'
SECRET = 'match: {message: "list index"}\nwhen: {model_path: "none"}\n'


@pytest.fixture
def lab(tmp_path, home, monkeypatch):
    """A checkout with these signatures and no others."""
    for name, text in {"fits": FITS, "frame": OTHER_FRAME, "fact": OTHER_FACT, "off": TWO_OFF}.items():
        place = tmp_path / f"lab/signatures/lab/{name}.yaml"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(HEAD.format(name=name) + text)
    monkeypatch.setattr(data, "_PACKAGED", tmp_path / "lab")


def explain(said):
    """The `explain` of the root in a JSON report."""
    document = json.loads(said.out)
    return next(one for one in document["incidents"][-1]["failures"] if one["role"] == "root").get("explain")


def test_text_has_what_held_and_what_did_not(triage, lab):
    """After the report, and nothing of it is cut."""
    said = triage("logs", DEMO, "--explain")
    plain = triage("logs", DEMO)
    text = " ".join(said.out.split())
    assert " ".join(plain.out.split()) == text[: text.index(" fits lab/fits")]
    assert "fits lab/fits (likely) holds: exception IndexError" in text
    assert "not known: host.gpu not in the log (wanted: *H100*)" in text
    assert "holds: pp_size = 8 (> 1)" in text
    assert "nearly" in text
    assert "would match if there were frame flashinfer_backend.py:__init__; this failure has none" in text
    assert "would match if pp_size were >64; this log shows 8" in text
    assert "lab/off" not in text
    assert said.status == plain.status


def test_json_has_the_same_under_one_key(triage, lab):
    """Only with the option, as the schema says, and named as untrusted."""
    found = explain(triage("logs", DEMO, "--explain", "--format", "json"))
    (fits,) = found["fits"]
    assert fits["signature"] == "lab/fits"
    assert 'message "list index out of range"' in fits["holds"]
    assert {one["signature"] for one in found["near"]} == {"lab/frame", "lab/fact"}
    assert explain(triage("logs", DEMO, "--format", "json")) is None
    document = json.loads(triage("logs", DEMO, "--explain", "--format", "json").out)
    jsonschema.validate(document, json.loads((Path(report.__file__).parent / "schema.json").read_text()))
    assert "$.incidents[*].failures[*].explain" in document["untrusted"]


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_other_formats_have_it_too(triage, lab, form):
    """One view for all of them."""
    assert "would match if pp_size were" in triage("logs", DEMO, "--explain", "--format", form).out


def test_nothing_that_fits_or_is_near_is_said(triage, lab, tmp_path):
    """Not left out."""
    log = tmp_path / "x.log"
    log.write_text('Traceback (most recent call last):\n  File "/a/b.py", line 1, in f\n    x\nOddError: odd\n')
    text = " ".join(triage("logs", log, "--explain").out.split())
    assert "No signature fits." in text
    assert "No other signature has all but one of its conditions." in text


def test_journal_asks_for_it_too(triage, monkeypatch):
    """The option means the same wherever a report is printed."""
    asked = []

    def diagnose(logs=(), journal=None, options=None):
        asked.append(options.explain)
        return Report(Tool("0"))

    monkeypatch.setattr("triage.cli.journal.diagnose", diagnose)
    triage("journal", "sglang", "-D", ROOT, "--explain")
    triage("journal", "sglang", "-D", ROOT)
    assert asked == [True, False]


def test_conditions_are_masked(triage, lab, tmp_path):
    """A fact that is shown as the reason may be a secret."""
    place = tmp_path / "lab/signatures/lab/secret.yaml"
    place.write_text(HEAD.format(name="secret") + SECRET)
    log = tmp_path / "x.log"
    text = DEMO.read_text().replace("/models/tiny64", "https://user:hunter22@host/m")
    log.write_text(text)
    said = triage("logs", log, "--explain")
    assert "model_path" in said.out
    assert "hunter22" not in said.out
