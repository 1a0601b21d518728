"""The linter: one signature that it must name, and one that it must not, for each check."""

import re

import pytest

from triage.library import checks
from triage.library.lint import Issue, Validator, check

GOOD = """\
format: 1
id: lab/some
title: "Some failure"
match: {exception: ValueError, message: "some text"}
cause: "Because."
references: ["https://example.org"]
"""

CASES = {
    "does-not-load": ("rolle: root", "role: root"),
    "leading-wildcard": ('match: {message_re: ".*some text"}', 'match: {message_re: "some .*text"}'),
    "nested-quantifier": ('match: {message_re: "some (?:a+b*)+ text"}', 'match: {message_re: "some (?:a+ ){0,4}text"}'),
    "no-literal": ('match: {log: {line_re: "\\\\d+ of \\\\d+"}}', 'match: {log: {line_re: "\\\\d+ pages of \\\\d+"}}'),
    "slow-message": ('match: {message_re: "\\\\d+ of \\\\d+"}', 'match: {message_re: "\\\\d+ pages of \\\\d+"}'),
    "volatile-text": ('match: {message: "failed at 0x7f00aa11bb"}', 'match: {message: "failed at 0x"}'),
    "no-reference": ("references:", 'references: ["https://example.org/1"]'),
    "unknown-fact": ("when: {attention_backent: triton}", "when: {attention_backend: triton, env.NCCL_DEBUG: INFO}"),
    "unknown-flag": ("fixes: [{kind: flag, set: '--tensor-sise=2'}]", "fixes: [{kind: flag, set: '--tp=2'}]"),
    "id-is-not-path": ("id: lab/other", "id: lab/some"),
    "unknown-signature": ("explains: [lab/none]", "explains: [lab/some]"),
}


def issues(tmp_path, line: str) -> list[Issue]:
    """What the linter says once a line of the sound signature is another one; a key alone takes its line out."""
    key, _, value = line.partition(":")
    kept = [one for one in GOOD.splitlines() if not one.startswith(f"{key}:")]
    place = tmp_path / "lab/some.yaml"
    place.parent.mkdir(exist_ok=True)
    place.write_text("\n".join([*kept, *([line] if value.strip() else [])]) + "\n")
    return check([tmp_path])


def test_sound_signature_has_no_issue(tmp_path):
    """Nothing is said of it."""
    assert issues(tmp_path, "role: root") == []


@pytest.mark.parametrize("name", CASES)
def test_bad_is_named(tmp_path, name):
    """By the name of the issue, on the line where it stands."""
    found = [issue for issue in issues(tmp_path, CASES[name][0]) if issue.name == name]
    assert found
    last = len((tmp_path / "lab/some.yaml").read_text().splitlines())
    assert found[0].problem.line == (1 if name == "no-reference" else last)
    assert str(found[0]).endswith(f"[{name}]")


@pytest.mark.parametrize("name", CASES)
def test_good_is_not_named(tmp_path, name):
    """A neighbour of the mistake that is none."""
    assert [str(issue) for issue in issues(tmp_path, CASES[name][1])] == []


def test_every_check_has_a_case():
    """A new check comes with a bad and a good example."""
    named = {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", issue.__name__).lower() for issue in Issue.__subclasses__()}
    assert named == {*CASES, "name-taken"}
    assert all(validator.__module__ == checks.__name__ for validator in Validator.__subclasses__())


def test_name_of_two_signatures_is_taken(tmp_path):
    """Also where it is an alias."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/some.yaml").write_text(GOOD)
    (tmp_path / "lab/other.yaml").write_text(GOOD.replace("id: lab/some", "id: lab/other\naliases: [lab/some]"))
    assert [issue.name for issue in check([tmp_path])] == ["name-taken"]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("at 2025-01-01", "a time"),
        ("took 12:00:01", "a time"),
        ("pid=12345 died", "a process id"),
        ("open /home/x/model", "a path of one machine"),
        ("on line 312", "a line number"),
        ("connect 10.1.2.3", "an address"),
    ],
)
def test_volatile_texts(tmp_path, text, called):
    """What differs between runs is found by its kind."""
    (issue,) = issues(tmp_path, f'match: {{message: "{text}"}}')
    assert f"holds {called}" in issue.problem.message


@pytest.mark.parametrize("text", ["listen on 0.0.0.0", "online 3", "version 1.2.3", "see /opt/x", "Exit code: 12"])
def test_steady_texts(tmp_path, text):
    """And what does not is not."""
    assert issues(tmp_path, f'match: {{message: "{text}"}}') == []


def test_captures_may_be_asked_for(tmp_path):
    """In `when`, in `where` and in braces."""
    line = 'match: {message_re: "some (?P<asked>\\\\d+) of (?P<there>\\\\d+)"}\nwhen: {asked: ">1", where: "asked > there"}'
    assert issues(tmp_path, line) == []
    (issue,) = issues(tmp_path, line.replace("asked > there", "asked > theer"))
    assert (issue.name, issue.problem.hint) == ("unknown-fact", "did you mean 'there'?")
