"""Signatures read from YAML, and what is wrong with them, where."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.library.parse import parse, parse_file
from triage.library.signature import Explained, FramePattern, Signature

GOOD = """\
format: 1
id: lab/some
title: "Some failure"
match: {exception: ValueError, message: "some text"}
cause: "Because."
"""


def problems(text: str):
    """What is wrong with a signature that these lines are added to."""
    return parse((GOOD + text).encode(), "lab/some.yaml")[1]


def replaced(old: str, new: str):
    """What is wrong once a line of the sound signature is another one."""
    assert old in GOOD
    return parse(GOOD.replace(old, new).encode(), "lab/some.yaml")[1]


def test_sound_signature_has_no_problem():
    """And knows the lines of its fields."""
    (one,), wrong = parse(GOOD.encode(), "x.yaml")
    assert wrong == []
    assert one.record["id"] == "lab/some"
    assert one.lines["match.message"] == 4


def test_problem_names_file_line_and_field():
    """And prints as compilers do."""
    (problem,) = problems("fixes:\n  - {kind: flag, set: '--a'}\n  - {kind: flag, sett: '--b'}\n")[:1]
    assert (problem.file, problem.line, problem.field) == ("lab/some.yaml", 8, "fixes[1].sett")
    assert str(problem) == "lab/some.yaml:8: fixes[1].sett: unknown key 'sett' (did you mean 'set'?)"


def test_all_problems_of_a_file_are_collected():
    """One mistake does not hide the next."""
    found = replaced('title: "Some failure"', "title: 404\nrole: victim\nfrobnicate: 1")
    assert [(p.line, p.field) for p in found] == [(3, "title"), (4, "role"), (5, "frobnicate")]


def test_missing_keys_are_named():
    """A signature needs a title, a match and a cause."""
    found = parse(b"format: 1\nid: lab/some\n", "x.yaml")[1]
    assert [p.message for p in found] == ["'title' is missing", "'match' is missing", "'cause' is missing"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not_when: cut here # and here", "cut at ' #'"),
        ("not_when: off", "as true/false"),
        ("not_when: 2025-01-01", "as date"),
        ("not_when: null", "as nothing"),
        ("not_when: ''", "is empty"),
        ("not_when: [a]", "must be text, not a list"),
        ("references: ['see the manual']", "is not an address"),
        ("role: notce", "did you mean 'notice'"),
        ("when: {pp_size: '>'}", "no comparison"),
        ("when: {pp_size: off}", "as true/false"),
        ("when: {pp_size: [[1]]}", "must be"),
        ("when: {where: 'requested + 1'}", "compares nothing"),
        ("when: {where: 'a > b c'}", "not expected"),
        ("when: {rank: {PP: 1}}", "not a kind of rank"),
        ("when: {}", "1 to"),
        ("releases: {sglang: 'newest'}", "no PEP 440 range"),
        ("releases: {sglang: 0.5}", "as number"),
        ("releases: {sglang: '0.5.2'}", "no PEP 440 range"),
        ("fixes: [{kind: magic}]", "must be one of"),
        ("fixes: [{title: x}]", "must be one of"),
        ("fixes: [magic]", "must be a mapping"),
        ("fixes: [{kind: flag}]", "one of set, remove, raise, lower is missing"),
        ("fixes: [{kind: flag, set: '--a', remove: '--b'}]", "only one of set, remove"),
        ("fixes: [{kind: flag, set: 'attention'}]", "not a flag"),
        ("fixes: [{kind: env, set: 'NAME'}]", "not a setting"),
        ("fixes: [{kind: ask}]", "'title' is missing"),
        ("fixes: [{kind: ask, title: x, risk: fatal}]", "must be one of none"),
        ("fixes: [{kind: upgrade, to: {sglang: latest}}]", "no PEP 440 range"),
        ("fixes: [{kind: edit, title: x, file: /etc/passwd.py, function: f, replace: a, with: b}]", "not a path"),
        ("fixes: [{kind: edit, title: x, file: a/../../b.py, function: f, replace: a, with: b}]", "not a path"),
        ("fixes: []", "1 to"),
        ("explains: ['No Slug']", "not an id"),
        ("explains: [{within: 3s}]", "'id' is missing"),
        ("with: [{match: {log: {line: abc}}, within: soon}]", "must be a duration"),
        ("with: [{within: 3s}]", "'match' is missing"),
        ("disabled: yes", "must be true or false"),
        ("role: root\nrole: notice", "stands here twice"),
        ("? [a, b]\n: c", "a key must be text"),
    ],
)
def test_mistake_is_named(line, said):
    """Each is said in words that point at the cure."""
    found = problems(line + "\n")
    assert found
    assert any(re.search(said, str(problem)) for problem in found), [str(p) for p in found]
    assert all(problem.line >= 6 for problem in found)


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("{}", "has no keys"),
        ("[a]", "must be a mapping"),
        ("{message: a, message_is: b}", "only one of message, message_is"),
        ("{message_re: '(a'}", "no valid regex"),
        ("{frames: ['triton_backend.py']}", "not a frame"),
        ("{log: {}}", "has no keys"),
        ("{log: {scope: rank}}", "one of line, line_re, sequence is missing"),
        ("{log: {line: abcd, window: 3s}}", "only beside 'sequence'"),
        ("{log: {sequence: [abcd]}}", "2 to 10"),
        ("{kernel: {process: x}}", "one of oom, xid, segfault is missing"),
        ("{kernel: {xid: high}}", "must be a whole number"),
        ("{native: {thread: all}}", "must be one of crashing, any"),
        ("{any: []}", "1 to"),
        ("{any: [{message: 12}]}", "as number"),
        ("{unit: {exit_status: 'many'}}", "not a status"),
    ],
)
def test_mistake_in_a_match_is_named(match, said):
    """Also deep inside."""
    found = replaced('{exception: ValueError, message: "some text"}', match)
    assert any(re.search(said, str(problem)) for problem in found), [str(p) for p in found]


def test_newer_format_is_refused_as_a_whole():
    """Nothing else is said of a file that this triage cannot read."""
    (problem,) = parse(GOOD.replace("format: 1", "format: 2").encode() + b"new_key: 1\n", "x.yaml")[1]
    assert problem.message == "this triage reads format 1, not 2"


def test_switched_off_signature_needs_no_more_than_its_id():
    """A pack can switch off what is packaged in three lines."""
    (one,), wrong = parse(b"format: 1\nid: lab/some\ndisabled: true\n", "x.yaml")
    assert wrong == []
    assert Signature.from_record(one.record).disabled


def test_one_bad_document_leaves_the_other():
    """Problems of one signature do not take another one down."""
    good, wrong = parse((GOOD + "---\n" + GOOD.replace("match:", "mtach:")).encode(), "x.yaml")
    assert len(good) == 1
    assert {problem.line for problem in wrong} == {7, 10}


def test_missing_file_is_a_problem_not_an_exception(tmp_path):
    """So that one unreadable file takes no others down."""
    good, (problem,) = parse_file(tmp_path / "none.yaml")
    assert good == []
    assert "cannot be read" in problem.message


def test_record_becomes_data_classes():
    """Lone values become tuples, durations seconds, entries their classes."""
    text = GOOD.replace("message:", "frames: ['a/b.py:C.d'], message:") + (
        "explains: [a/b, {id: c/d, within: 2min, scope: host}]\n"
        "releases: {sglang: '<0.5'}\nwhen: {pp_size: '>1', phase: weights, rank: {pp: 2}, where: 'a > 1'}\n"
        "fixes: [{kind: flag, set: '--a=1', risk: speed}]\n"
    )
    (one,), wrong = parse(text.encode(), "x.yaml")
    signature = Signature.from_record(one.record, "x.yaml")
    assert wrong == []
    assert signature.match.exception == ("ValueError",)
    assert signature.match.frames == (FramePattern("a/b.py", "C.d"),)
    assert signature.explains == (Explained("a/b"), Explained("c/d", 120.0, "host"))
    assert signature.releases == {"sglang": ("<0.5",)}
    assert [name for name, _ in signature.when.facts] == ["pp_size"]
    assert signature.fixes[0].keys == {"set": ["--a=1"]}
    assert signature.fixes[0].risk == ("speed",)


@given(st.text("abc:{}[]-,#'\" \n1", max_size=200))
def test_any_text_gives_signatures_or_problems(text):
    """Reading never raises."""
    good, wrong = parse((GOOD + text).encode(), "x.yaml")
    assert good or wrong
