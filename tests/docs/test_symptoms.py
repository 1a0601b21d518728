"""The indexes by symptom find every signature by what it shows."""

import pytest

pytest.importorskip("sphinx")

from docs_site.excerpts import Excerpt
from docs_site.symptoms import KINDS, by_phase, index

from triage.library import load
from triage.library.parse import parse
from triage.library.signature import Signature

ALL = load(standing=False).signatures


def signature(text, name="a/b"):
    (parsed,), _ = parse(f'format: 1\nid: {name}\ntitle: "T"\ncause: "C."\n{text}'.encode(), "a.yaml")
    return Signature.from_record(parsed.record)


def test_every_signature_has_a_symptom():
    """No signature is left out of all indexes."""
    found = {one.id for kind in KINDS for meant in index(kind, ALL).values() for one in meant}
    assert [one.id for one in ALL if one.id not in found and "silence" not in one.record["match"]] == []


def test_alternatives_are_found_and_exclusions_are_not():
    """What may hold is a symptom, what must not hold is none."""
    one = signature("match: {any: [{exception: x.A}, {exception: B}], not: {exception: C}}")
    assert list(index("exception", [one])) == ["A", "B"]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("message", 'match: {log: {sequence: ["abcd", {line_re: "efgh+"}]}}', ["abcd"]),
        ("pattern", 'match: {log: {sequence: ["abcd", {line_re: "efgh+"}]}}', ["efgh+"]),
        ("exit-status", "match: {unit: {exit_status: [203/EXEC, 2]}}", ["2", "203/EXEC"]),
        ("xid", "match: {kernel: {xid: [119, 79]}}", ["79", "119"]),
        ("signal", "match: {unit: {signal: [ABRT, SIGBUS]}}", ["SIGABRT", "SIGBUS"]),
        ("kernel", "match: {kernel: {oom: true}}", ["out-of-memory kill"]),
        ("result", "match: {unit: {result: watchdog}}", ["watchdog"]),
    ],
)
def test_each_kind_is_read(kind, text, expected):
    """Numbers are in numerical order."""
    assert list(index(kind, [signature(text)])) == expected


def test_phases_come_from_conditions_and_fixtures():
    """In the order of a start; a signature whose log shows no phase is not listed."""
    shown = signature("match: {exception: A}", "a/shown")
    named = signature("match: {exception: A}\nwhen: {phase: [kv-pool, weights]}", "a/named")
    silent = signature("match: {silence: {phase: graphs}}", "a/silent")
    excerpts = {"a/shown": Excerpt("a/shown/x.log", (), (), "weights")}
    found = by_phase([shown, named, silent], excerpts, ["weights", "kv-pool", "graphs"])
    assert {phase: [one.id for one in meant] for phase, meant in found.items()} == {
        "weights": ["a/shown", "a/named"],
        "kv-pool": ["a/named"],
        "graphs": ["a/silent"],
    }
