"""Conditions in words, and the text that `triage explain` prints."""

import pytest

from triage.library import load
from triage.library.parse import parse
from triage.library.signature import Signature
from triage.report.signature import describe, outline
from triage.report.text import visible
from triage.report.wording import Exact, conditions, others, when

ALL = load(standing=False).signatures


def signature(text):
    parsed, problems = parse(f'format: 1\nid: a/b\ntitle: "T"\ncause: "C."\n{text}'.encode(), "a.yaml")
    assert [str(problem) for problem in problems] == []
    return Signature.from_record(parsed[0].record)


def said(clauses):
    return [" ".join(clause.words) + (f" {said(clause.parts)}" if clause.parts else "") for clause in clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("match: {exception: [A, b.C]}", ["exception A or b.C"]),
        ('match: {exception: A, message_is: "x y"}', ["exception A", "message is x y"]),
        (
            'match: {frames: ["a/b.py:f", "*:g"]}',
            ["on the stack, in this order, others may stand between ['f in a/b.py', 'g in any file']"],
        ),
        (
            "match: {native: {signal: SIGBUS, library: libx.so, thread: any}}",
            ["crash by signal SIGBUS", "library libx.so on the stack of any thread"],
        ),
        ('match: {log: {line_re: "abcd+"}}', ["a line that fits the pattern abcd+"]),
        (
            'match: {log: {sequence: ["abcd", "efgh"], window: 30s, scope: host}}',
            ["lines, in this order within 30 s on the same host ['contains abcd', 'contains efgh']"],
        ),
        (
            "match: {unit: {result: signal, exit_status: 203/EXEC, step: EXEC}}",
            ["systemd's result signal", "exit status 203/EXEC", "failed at step EXEC"],
        ),
        ("match: {kernel: {xid: [79, 119]}}", ["Xid 79 or 119"]),
        (
            "match: {kernel: {oom: memcg, process: x}}",
            ["the kernel killed a process for want of memory, its control group had reached its limit", "process x"],
        ),
        (
            "match: {silence: {phase: weights}}",
            ["a rank says nothing while the others wait for it in phase weights"],
        ),
        (
            'match: {any: [{message: "abcd"}, {exception: A, message: "efgh"}], not: {message: "ijkl"}}',
            [
                "one of ['message contains abcd', \"all of ['exception A', 'message contains efgh']\"]",
                "not: message contains ijkl",
            ],
        ),
    ],
)
def test_match_in_words(text, expected):
    """Each kind of condition has its phrase; nested ones are parts of it."""
    assert said(conditions(signature(text).match)) == expected


def test_what_surrounds_it_in_words():
    """Distance and scope stand before what must be near."""
    one = signature('match: {exception: A}\nwith: [{match: {message: "abcd"}, within: 30s, scope: host}]')
    assert said(others(one.with_)) == ["within 30 s on the same host: message contains abcd"]


def test_facts_in_words():
    """Values, comparisons, lists, what is not set, phases, ranks and expressions."""
    one = signature(
        'match: {exception: A}\nwhen: {pp_size: ">1", attention_backend: [triton, aiter], kv_cache_dtype: null, '
        'phase: graphs, rank: {pp: ">=2"}, where: "tp_size > 2"}'
    )
    assert said(when(one.when)) == [
        "pp_size > 1",
        "attention_backend is triton or aiter",
        "kv_cache_dtype is not set",
        "phase is graphs",
        "PP rank >= 2",
        "tp_size > 2",
    ]


def texts(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "frames":
                yield from (part for frame in inner for part in frame.rsplit(":", 1) if part != "*")
            elif key not in ("format", "engine", "aliases", "fixed_when", "role", "scope", "thread", "oom", "risk"):
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    "one", [one for one in ALL if len(one.record["match"]) > 1 or one.with_], ids=lambda one: one.id
)
def test_nothing_that_decides_is_lost(one):
    """Every text that a signature's conditions hold is in what `explain` prints."""
    shown = "".join(describe(one).split())
    for key in ("match", "with", "without"):
        for text in texts(one.record.get(key, {})):
            assert "".join(visible(text).split()) in shown, text


def test_exact_text_ends_where_the_reader_sees_it():
    """Text with blanks is quoted, a name is not; control characters are shown."""
    one = signature('match: {exception: KeyError, message: "two words\\e[2J"}')
    text = describe(one)
    assert '"two words\\x1b[2J"' in text
    assert "exception KeyError\n" in text


def test_a_fix_without_a_title_is_named_by_what_it_does():
    """Title and command come from where the report takes them; risks are words."""
    one = signature('match: {exception: A}\nfixes: [{kind: upgrade, to: {sglang: ">=0.5.18"}, risk: [restart, speed]}]')
    (remedy,) = next(part for part in outline(one) if part.remedies).remedies
    assert (remedy.title, remedy.risk) == ("Update to sglang>=0.5.18", "restart, may be slower")
    assert remedy.command == "pip install 'sglang>=0.5.18'"


def test_a_command_with_captures_names_them():
    """What only a log can fill in stands in capitals."""
    one = signature(
        'match: {message_re: "No module named (?P<module>\\\\w+)"}\n'
        'fixes: [{kind: install, title: "I", command: [pip, install, "{module}"]}]'
    )
    assert "     $ pip install MODULE\n" in describe(one)


def test_only_exact_text_is_marked():
    """Words of triage are no exact text, values are."""
    (clause,) = conditions(signature("match: {exception: A}").match)
    assert [isinstance(word, Exact) for word in clause.words] == [False, True]


def test_a_narrow_terminal_breaks_the_prose():
    """Nothing that wraps is wider than the terminal; what would not work in two lines stays whole."""
    one = next(one for one in ALL if one.id == "sglang/pp-triton-layer0-value-buffer")
    lines = describe(one, 60).splitlines()
    whole = ("     $ ", "     with: ", "     replace: ", "  https://", "     file: ", "     function: ")
    assert [line for line in lines if len(line) > 60 and not line.startswith(whole)] == []
    assert "".join("".join(lines).split()) == "".join(describe(one).split())
