"""docs/knowledge.md: each example with its log, without and with its row; every table is named."""

import pytest
from docs_site.pages import ROOT, blocks

TABLES = ROOT / "triage/knowledge"


def examples():
    """The examples of the page: name of the log -> its log, its rows, what is said without and with them."""
    found = {}
    for note, _, text in blocks("knowledge.md"):
        kind, _, rest = note.partition(": ")
        if kind == "log":
            current = found[rest] = {"log": text, "rows": []}
        elif kind == "row":
            table, _, place = rest.partition(", ")
            current["rows"].append((table, place, text))
        else:
            current[kind] = text
    return found


EXAMPLES = examples()


def said(checkout, name):
    """The sentence of the report, as the page shows it."""
    return checkout.run(f"triage logs {name} || true").partition("\n\n")[0].rstrip("\n") + "\n"


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_row_changes_the_report_as_the_page_says(checkout, name):
    """Without the row the report says the one thing, with it the other."""
    example = EXAMPLES[name]
    (checkout.place / name).write_text(example["log"], encoding="utf-8")
    assert said(checkout, name) == example["without"]
    changed = {}
    for table, place, row in example["rows"]:
        path = checkout.place / "triage/knowledge" / table
        text = path.read_text(encoding="utf-8")
        changed.setdefault(path, text)
        assert text.count(f"\n{place}\n") == 1
        path.write_text(text.replace(f"\n{place}\n", f"\n{place}\n{row}"), encoding="utf-8")
    try:
        assert said(checkout, name) == example["with"]
    finally:
        for path, text in changed.items():
            path.write_text(text, encoding="utf-8")
    assert example["without"] != example["with"]


def test_there_is_an_example_of_each_kind():
    """A prefix, a phase, a decisive line, noise and an exception."""
    tables = {table for example in EXAMPLES.values() for table, _, _ in example["rows"]}
    assert tables == {"prefixes.yaml", "phases.yaml", "messages.yaml", "noise.yaml", "roles.yaml"}


def test_every_table_is_named():
    """Who looks for a table finds it on the page."""
    text = (ROOT / "docs/knowledge.md").read_text(encoding="utf-8")
    assert [path.name for path in sorted(TABLES.glob("*.yaml")) if f"`{path.name}`" not in text] == []
