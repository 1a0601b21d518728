"""Lines that are looked for on behalf of signatures."""

import re
from pathlib import Path

import pytest

from triage.library import load
from triage.library.atoms import line_patterns
from triage.library.parse import parse
from triage.library.signature import Signature

DATA = Path(__file__).resolve().parents[1] / "data" / "signatures"


def patterns(text: str):
    """Literals, regex, level and role of each line that a signature with these lines needs."""
    base = 'format: 1\nid: a/b\ntitle: "t"\ncause: "c"\n'
    (one,), problems = parse((base + text).encode(), "x.yaml")
    assert problems == []
    return [(p.literals, p.regex, p.level, p.role) for p in line_patterns(Signature.from_record(one.record))]


@pytest.mark.parametrize(
    ("role", "level", "said"),
    [
        ("root", 1.0, None),
        ("consequence", 2.0, "consequence"),
        ("teardown", 3.0, "teardown"),
        ("notice", None, "notice"),
    ],
)
def test_level_is_that_of_the_role(role, level, said):
    """A line is as strong a root as its signature says."""
    assert patterns(f'role: {role}\nmatch: {{log: {{line: "pool is full"}}}}\n') == [
        (("pool is full",), None, level, said)
    ]


def test_regex_is_looked_for_by_its_literal():
    """And then tested."""
    ((literals, regex, level, _),) = patterns('match: {log: {line_re: "^rank (?P<n>\\\\d+) is silent"}}\n')
    assert (literals, regex, level) == (("is silent",), r"^rank (?P<n>\d+) is silent", 1.0)


def test_all_alternatives_are_looked_for():
    """A line is a candidate when it holds any of them."""
    ((literals, *_),) = patterns('match: {log: {line_re: "(?:recvValue|sendBytes) fail"}}\n')
    assert literals == ("recvValue", "sendBytes")


def test_line_beside_an_exception_is_a_notice():
    """It is part of that failure, not one of its own."""
    assert [p[2] for p in patterns('match: {exception: E, log: {line: "some line"}}\n')] == [None]
    assert [p[2] for p in patterns('match: {all: [{exception: E}, {log: {line: "some line"}}]}\n')] == [None]
    assert [p[2] for p in patterns('match: {any: [{exception: E}, {log: {line: "some line"}}]}\n')] == [1.0]


def test_only_the_last_line_of_a_sequence_is_the_failure():
    """Those before it are what happened until then."""
    found = patterns('match: {log: {sequence: ["first line", {line_re: "second line \\\\d"}, "third line"]}}\n')
    assert [(literals[0], level) for literals, _, level, _ in found] == [
        ("first line", None),
        ("second line", None),
        ("third line", 1.0),
    ]


def test_lines_elsewhere_are_notices():
    """With, without and not ask for what is no failure by itself."""
    text = (
        'match: {log: {line: "the line"}, not: {log: {line: "not this"}}}\n'
        'with: [{match: {any: [{log: {line: "with this"}}]}}]\nwithout: [{match: {log: {line: "without this"}}}]\n'
    )
    assert {literals[0]: level for literals, _, level, _ in patterns(text)} == {
        "the line": 1.0,
        "not this": None,
        "with this": None,
        "without this": None,
    }


def test_blanks_fold():
    """A line with odd blanks is looked for by a part, and tested whole."""
    ((literals, regex, *_),) = patterns('match: {log: {line: "one  two three"}}\n')
    assert literals == ("two three",)
    assert re.search(regex, "one two   three")
    assert not re.search(regex, "onetwo three")


def test_text_of_several_lines_is_looked_for_by_its_longest():
    """Line ends fold too, when it is matched."""
    ((literals, regex, *_),) = patterns('match: {log: {line: "terminate called\\n  what():  the reason"}}\n')
    assert literals == ("terminate called",)
    assert regex is None


def test_equal_lines_of_several_signatures_are_one_pattern(tmp_path):
    """With the strongest of their levels."""
    base = 'format: 1\nid: a/{}\nrole: {}\ntitle: "t"\ncause: "c"\nmatch: {{log: {{line: "pool is full"}}}}\n'
    (tmp_path / "a.yaml").write_text(
        "---\n".join(base.format(n, role) for n, role in enumerate(["notice", "root", "teardown"]))
    )
    (pattern,) = load([tmp_path], packaged=False).line_patterns()
    assert (pattern.id, pattern.level) == ("a/1#0", 1.0)


def test_patterns_of_a_pack():
    """One for each line that its signatures ask for."""
    found = {pattern.id: pattern.literals for pattern in load([DATA], packaged=False).line_patterns()}
    assert found == {
        "lab/peer-closed#0": ("Connection closed by peer",),
        "lab/loopback#0": (", the loopback address",),
        "lab/native#0": ("Received SIGTERM",),
    }
