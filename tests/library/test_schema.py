"""The published JSON Schema says what the loader says."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from triage.data import folder
from triage.library.packs import files
from triage.library.parse import parse_file
from triage.library.schema import json_schema

DATA = Path(__file__).resolve().parents[1] / "data" / "signatures"
SCHEMA = jsonschema.Draft202012Validator(json_schema())
BASE = {"format": 1, "id": "a/b", "title": "t", "match": {"message": "some text"}, "cause": "c"}


def test_schema_is_one():
    """By its own meta schema."""
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_schema_beside_the_signatures_is_the_one_of_the_loader():
    """Editors take it from there; `triage signatures schema > signatures/schema.json` makes it anew."""
    kept = json.loads((folder("signatures") / "schema.json").read_text(encoding="utf-8"))
    assert kept == json_schema()


@pytest.mark.parametrize("place", [DATA, folder("signatures")], ids=["tests", "packaged"])
def test_what_loads_fits_the_schema(place):
    """Nothing that the loader takes is refused by an editor."""
    wrong = {}
    for path in files(place):
        if not parse_file(path)[1]:
            for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                wrong |= {str(path): error.message for error in SCHEMA.iter_errors(document)}
    assert wrong == {}


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"id": "no slug"},
        {"title": ""},
        {"match": {}},
        {"match": {"mesage": "x"}},
        {"match": {"any": [{"all": [{"message": 1}]}]}},
        {"match": {"message": "a", "message_is": "b"}},
        {"match": {"log": {"line": "abcd", "window": "3s"}}},
        {"match": {"log": {"line": "abcd", "line_re": "abcd"}}},
        {"match": {"kernel": {"process": "x"}}},
        {"role": "victim"},
        {"when": {}},
        {"when": {"rank": {"PP": 1}}},
        {"releases": {"sglang": []}},
        {"fixes": [{"kind": "flag"}]},
        {"fixes": [{"kind": "flag", "set": "--a", "remove": "--b"}]},
        {"fixes": [{"kind": "edit", "title": "t"}]},
        {"fixes": [{"kind": "magic"}]},
        {"references": ["manual"]},
        {"disabled": "yes"},
        {"frobnicate": 1},
    ],
    ids=str,
)
def test_structural_mistake_is_refused(change):
    """As the loader does."""
    assert SCHEMA.is_valid(BASE)
    assert not SCHEMA.is_valid({**BASE, **change})


@pytest.mark.parametrize("key", ["format", "id", "title", "match", "cause"])
def test_missing_key_is_refused(key):
    """Unless the signature is switched off, which needs an id only."""
    less = {name: value for name, value in BASE.items() if name != key}
    assert not SCHEMA.is_valid(less)
    assert SCHEMA.is_valid({"format": 1, "id": "a/b", "disabled": True})
