"""The linter: one signature that it must name, and one that it must not, for each check."""

import re
from pathlib import Path

import pytest

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
    "leading-wildcard": ('match: {message_re: ".*some text"}', 'match: {message_re: "some .{0,80}text"}'),
    "nested-quantifier": ('match: {message_re: "some (?:a+b*)+ text"}', 'match: {message_re: "some (?:a+ ){0,4}text"}'),
    "catastrophic-pattern": (
        'match: {message_re: "some (?:a|aa){2,90}x of (?:b|bb){2,90}y"}',
        'match: {message_re: "some (?:a|b){2,90}x of (?:b|c){2,90}y"}',
    ),
    "slow-pattern": ('match: {message_re: "some.*text.*here"}', 'match: {message_re: "some.{0,80}text.{0,80}here"}'),
    "no-literal": ('match: {log: {line_re: "\\\\d+ of \\\\d+"}}', 'match: {log: {line_re: "\\\\d+ pages of \\\\d+"}}'),
    "slow-message": ('match: {message_re: "\\\\d+ of \\\\d+"}', 'match: {message_re: "\\\\d+ pages of \\\\d+"}'),
    "volatile-text": ('match: {message: "failed at 0x7f00aa11bb"}', 'match: {message: "failed at 0x"}'),
    "unwritten": ('cause: "WRITE: why?"', 'cause: "WRITE is not called."'),
    "no-reference": ("references:", 'references: ["https://example.org/1"]'),
    "plain-reference": ('references: ["http://example.org"]', 'references: ["https://example.org/http:"]'),
    "no-risk": ("fixes: [{kind: flag, set: '--tp=2'}]", "fixes: [{kind: flag, set: '--tp=2', risk: none}]"),
    "unknown-fact": ("when: {attention_backent: triton}", "when: {attention_backend: triton, env.NCCL_DEBUG: INFO}"),
    "unknown-flag": (
        "fixes: [{kind: flag, set: '--tensor-sise=2', risk: none}]",
        "fixes: [{kind: flag, set: '--tp=2', risk: none}]",
    ),
    "not-released": (
        'match: {message: "some text", frames: ["srt/managers/scheduler.py:run_schedular_process"]}',
        'match: {message: "some text", frames: ["srt/managers/scheduler.py:run_scheduler_process"]}',
    ),
    "id-is-not-path": ("id: lab/other", "id: lab/some"),
    "unknown-signature": ("explains: [lab/none]", "explains: [lab/some]"),
    "never-matches": ('when: {pp_size: ">4,<2"}', 'when: {pp_size: ">2,<4"}'),
    "never-applies": (
        "fixes: [{kind: ask, title: 'Ask', risk: none, releases: {torch: '>2,<1'}}]",
        "fixes: [{kind: ask, title: 'Ask', risk: none, releases: {torch: '>1,<2'}}]",
    ),
}
# Those that take more than one signature or a pack are tested one by one.
APART = {"name-taken", "title-taken", "shadowed", "no-fixture", "no-confuser"}


def written(*lines: str) -> str:
    """The sound signature with some of its lines replaced; a key alone takes its line out."""
    keys = {line.partition(":")[0] for line in lines}
    kept = [one for one in GOOD.splitlines() if one.partition(":")[0] not in keys]
    return "\n".join([*kept, *(line for line in lines if line.partition(":")[2].strip())]) + "\n"


def issues(tmp_path, *lines: str) -> list[Issue]:
    """What the linter says of it."""
    place = tmp_path / "lab/some.yaml"
    place.parent.mkdir(exist_ok=True)
    place.write_text(written(*lines))
    return check([tmp_path])


def test_sound_signature_has_no_issue(tmp_path):
    """Nothing is said of it."""
    assert issues(tmp_path, "role: root") == []


@pytest.mark.parametrize("name", CASES)
def test_bad_is_named(tmp_path, name):
    """By the name of the issue, on the line where it stands, with why it matters and what to write instead."""
    found = [issue for issue in issues(tmp_path, CASES[name][0]) if issue.name == name]
    assert found
    last = len((tmp_path / "lab/some.yaml").read_text().splitlines())
    assert found[0].problem.line == (1 if name == "no-reference" else last)
    assert str(found[0]).endswith(f"[{name}]")
    assert found[0].why.endswith(".")
    assert found[0].write


@pytest.mark.parametrize("name", CASES)
def test_good_is_not_named(tmp_path, name):
    """A neighbour of the mistake that is none."""
    assert [str(issue) for issue in issues(tmp_path, CASES[name][1])] == []


def test_every_check_has_a_case():
    """A new check comes with a bad and a good example, a reason and a remedy."""
    kinds = Issue.__subclasses__()
    named = {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", issue.__name__).lower() for issue in kinds}
    assert named == {*CASES, *APART}
    assert all(issue.__doc__ and issue.instead for issue in kinds)
    assert all(validator.__module__.startswith("triage.library.checks.") for validator in Validator.__subclasses__())


def test_every_issue_is_in_the_docs():
    """By its name, in the table of docs/signatures.md."""
    text = (Path(__file__).parents[2] / "docs/signatures.md").read_text()
    names = set(re.findall(r"`([a-z-]+)`", "".join(line for line in text.splitlines() if line.startswith("| `"))))
    assert names == {*CASES, *APART}


def test_name_of_two_signatures_is_taken(tmp_path):
    """Also where it is an alias."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/some.yaml").write_text(GOOD)
    other = written("id: lab/other", "aliases: [lab/some]", 'title: "Other"', 'match: {message: "other text"}')
    (tmp_path / "lab/other.yaml").write_text(other)
    assert [issue.name for issue in check([tmp_path])] == ["name-taken"]


def test_title_of_two_signatures_is_taken(tmp_path):
    """Whatever its case."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/some.yaml").write_text(GOOD)
    (tmp_path / "lab/other.yaml").write_text(
        written("id: lab/other", 'title: "some  Failure"', 'match: {message: "other text"}')
    )
    (issue,) = check([tmp_path])
    assert (issue.name, issue.problem.field) == ("title-taken", "title")


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("at 2025-01-01", "a time"),
        ("took 12:00:01", "a time"),
        ("pid=12345 died", "a process id"),
        ("sglang[4711]: died", "a process id"),
        ("open /home/x/model", "a path of one machine"),
        ("on line 312", "a line number"),
        ("connect 10.1.2.3", "an address"),
        ("GPU-6f1c2d3e-aaaa-bbbb-cccc-0123456789ab", "an id"),
        ("revision 6f1c2d3e4a5b6c7d8e9f", "a hash"),
    ],
)
def test_volatile_texts(tmp_path, text, called):
    """What differs between runs is found by its kind, in a text and in what a regex says word for word."""
    (issue,) = issues(tmp_path, f'match: {{message: "{text}"}}')
    assert f"holds {called}" in issue.problem.message
    regex = re.escape(text).replace("\\", "\\\\")
    assert [one.name for one in issues(tmp_path, f'match: {{message_re: "{regex} in \\\\d of them"}}')] == [
        "volatile-text"
    ]


@pytest.mark.parametrize(
    "text", ["listen on 0.0.0.0", "online 3", "version 1.2.3", "see /opt/x", "Exit code: 12", "[16]"]
)
def test_steady_texts(tmp_path, text):
    """And what does not is not."""
    assert issues(tmp_path, f'match: {{message: "{text}"}}') == []


def test_classes_of_a_regex_are_no_volatile_text(tmp_path):
    """`\\d` and `[0-9a-f]` stand for what differs."""
    assert issues(tmp_path, 'match: {message_re: "at 0x[0-9a-f]{8,16} on \\\\d\\\\d:\\\\d\\\\d some text"}') == []


def test_captures_may_be_asked_for(tmp_path):
    """In `when`, in `where` and in braces."""
    line = (
        'match: {message_re: "some (?P<asked>\\\\d+) of (?P<there>\\\\d+)"}',
        'when: {asked: ">1", where: "asked > there"}',
    )
    assert issues(tmp_path, *line) == []
    (issue,) = issues(tmp_path, line[0], line[1].replace("asked > there", "asked > theer"))
    assert (issue.name, issue.problem.hint) == ("unknown-fact", "did you mean 'there'?")


def test_signature_that_never_leads_is_shadowed(tmp_path):
    """The other is named."""
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/some.yaml").write_text(GOOD)
    same = written(
        "id: lab/zzz", 'title: "Other"', 'match: {exception: ValueError, message: "some text", not: {message: HIP}}'
    )
    (tmp_path / "lab/zzz.yaml").write_text(same)
    (issue,) = check([tmp_path])
    assert (issue.name, issue.problem.message) == ("shadowed", "lab/some always fits too and never scores less")


def test_releases_that_no_release_is_in(tmp_path):
    """Each range of a list by itself, on its line; a fix for none of the signature's releases."""
    (issue,) = issues(tmp_path, 'releases: {sglang: ["<0.5", ">=0.6,<0.6"]}')
    assert (issue.name, issue.problem.field) == ("never-matches", "releases.sglang[1]")
    fix = "fixes: [{kind: ask, title: '?', risk: none, releases: {sglang: '>=0.6'}}]"
    (issue,) = issues(tmp_path, 'releases: {sglang: "<0.5"}', fix)
    assert (issue.name, issue.problem.field) == ("never-applies", "fixes[0].releases.sglang")


@pytest.mark.parametrize(
    "line",
    [
        "when: {phase: weigths}",
        "when: {rank: {xp: 0}}",
        "match: {silence: {phase: weigths}}",
        "when: {phase: [weights, x]}",
    ],
)
def test_phases_and_ranks_are_known(tmp_path, line):
    """A phase or kind of rank that no log has would be waited for in vain."""
    assert [issue.name for issue in issues(tmp_path, line)] == ["unknown-fact"]
    assert issues(tmp_path, "when: {phase: [weights, kv-pool], rank: {pp: '>=2'}}") == []


def test_regex_without_quotes_is_not_cut(tmp_path):
    """A comment behind it may well be a part of it."""
    assert issues(tmp_path, "match: {message_re: some text}  # a comment on the match") == []
    (issue,) = issues(tmp_path, "match:\n  message_re: some text #3 of\n")
    assert (issue.name, issue.problem.line) == ("does-not-load", 7)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (('match: {exception: E, frames: ["triton_backend.py:__init__"]}', 'releases: {sglang: "<0.5.18"}'), ""),
        (('match: {exception: E, frames: ["srt/utils.py:load_video"]}', 'releases: {sglang: "<0.5.18"}'), "0.5.3 to 0.5.17 of sglang has no srt/utils.py:load_video"),
        (('match: {exception: E, frames: ["torch/nn.py:f", "*:g"]}',), ""),
        (("fixes: [{kind: flag, set: '--pp-size=2', risk: none}]", 'releases: {sglang: "<0.4.6"}'), "0.4.0 to 0.4.5.post3 of sglang has no --pp-size"),
        (("fixes: [{kind: flag, set: '--pp-size=2', risk: none}]", 'releases: {sglang: "<0.4.7"}'), ""),
        (("fixes: [{kind: flag, set: '--cuda-graph-max-bs=2', risk: none}]", 'releases: {sglang: ">=0.5.20"}'), ""),
        (("fixes: [{kind: flag, set: '--max-model-len=2', risk: none}]", 'releases: {sglang: ">=0.5.20"}'), ""),
    ],
)  # fmt: skip
def test_what_releases_do_not_have(tmp_path, lines, said):
    """Of the releases that a signature is about, by the table of all of them; another spelling will do."""
    found = [issue.problem.message for issue in issues(tmp_path, *lines) if issue.name == "not-released"]
    assert found == ([said] if said else [])
