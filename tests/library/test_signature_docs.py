"""docs/signatures.md: every example is read by the loader."""

import re
from pathlib import Path

import pytest

from triage.library.grammar import FIX, MATCH, REQUIRED, SIGNATURE
from triage.library.lint import check
from triage.library.parse import parse

DOC = Path(__file__).resolve().parents[2] / "docs" / "signatures.md"
EXAMPLES = re.findall(r"```yaml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
BASE = {
    "format": "format: 1",
    "id": "id: sglang/example",
    "title": 'title: "An example"',
    "match": 'match: {exception: ValueError, message: "some text"}',
    "cause": 'cause: "Because."',
    "references": 'references: ["https://example.org"]',
}


def whole(example: str) -> str:
    """An example of some keys, with the others that a signature needs."""
    if "disabled: true" in example:
        return example
    return (
        "\n".join(line for key, line in BASE.items() if not re.search(rf"^{key}:", example, re.MULTILINE))
        + "\n"
        + example
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0][:50])
def test_example_of_the_docs_is_a_signature(example):
    """Every YAML example of the docs is read without a problem."""
    parsed, problems = parse(whole(example).encode(), "docs.yaml")
    assert [str(problem) for problem in problems] == []
    assert len(parsed) == 1


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.splitlines()[0][:50])
def test_example_of_the_docs_passes_the_linter(example, tmp_path):
    """The docs show nothing that the linter refuses, except ids that the page makes up."""
    place = tmp_path / "example.yaml"
    place.write_text(whole(example), encoding="utf-8")
    found = [
        issue for issue in check([place]) if issue.name not in ("id-is-not-path", "unknown-signature", "slow-message")
    ]
    assert [str(issue) for issue in found] == []


def test_every_key_has_an_example():
    """No key of the format is missing from the docs' examples."""
    text = "\n".join(EXAMPLES)
    keys = {*SIGNATURE.fields, *MATCH.fields, *REQUIRED}
    for record in (MATCH.fields["native"], MATCH.fields["unit"], MATCH.fields["kernel"], MATCH.fields["log"]):
        keys |= set(record.fields)
    for record in FIX.records.values():
        keys |= set(record.fields)
    assert {key for key in keys if not re.search(rf"\b{key}:", text)} == set()
