"""How sure a diagnosis is, which one comes first, what it says."""

import pytest

from triage.match import diagnose

STACK = (
    "sglang/srt/layers/attention/triton_backend.py:__init__",
    "sglang/srt/mem_cache/memory_pool.py:get_value_buffer",
)
LAYER0 = """match: {exception: IndexError, message: "list index out of range", frames: ["layers/attention/triton_backend.py:__init__", "mem_cache/memory_pool.py:*get_value_buffer"]}
when: {pp_size: ">1", attention_backend: triton}
releases: {sglang: ">=0.4.6.post5,<0.5.18"}"""


def first(library, incident, failure, **facts):
    """The first diagnosis of a failure."""
    diagnose(incident(failure, **facts), library)
    return failure.diagnoses[0]


def index_error(fail, **more):
    """The failure that the signature is about."""
    return fail("IndexError", "list index out of range", STACK, rank="PP3 TP1", **more)


def test_certain_when_all_is_observed_and_confirmed(library, fail, incident):
    """Every fact is in the log, and the release is known."""
    found = first(
        library(a=LAYER0), incident, index_error(fail), pp_size=8, attention_backend="triton", sglang="0.5.6.post2"
    )
    assert found.confidence == "certain"
    assert found.matched == [
        "exception IndexError",
        'message "list index out of range"',
        "frame layers/attention/triton_backend.py:__init__",
        "frame mem_cache/memory_pool.py:*get_value_buffer",
        "pp_size = 8 (> 1)",
        "attention_backend = triton",
        "sglang 0.5.6.post2 (>=0.4.6.post5,<0.5.18)",
    ]
    assert found.unconfirmed == found.missing == []
    assert found.release == "you run sglang 0.5.6.post2; fixed in 0.5.18"


def test_likely_when_a_fact_is_unconfirmed(library, fail, incident):
    """It is named."""
    found = first(library(a=LAYER0), incident, index_error(fail), pp_size=8)
    assert found.confidence == "likely"
    assert found.unconfirmed == [
        "attention_backend not in the log (wanted: triton)",
        "sglang release not in the log (wanted: >=0.4.6.post5,<0.5.18)",
    ]
    assert found.release == "sglang's version unknown: run `pip show sglang`; fixed in 0.5.18"


def test_likely_when_there_is_one_condition_only(library, fail, incident):
    """However well it fits."""
    assert (
        first(library(a='match: {exception: E, message: "some text"}'), incident, fail("E", "some text")).confidence
        == "likely"
    )
    assert first(library(a="match: {exception: E}"), incident, fail("E", "x")).confidence == "likely"


def test_confirmed_fact_is_a_condition(library, fail, incident):
    """A message and a fact are two."""
    known = library(a='match: {exception: E, message: "some text"}\nwhen: {tp_size: ">1"}')
    assert first(known, incident, fail("E", "some text"), tp_size=2).confidence == "certain"


@pytest.mark.parametrize(
    "facts", [{"pp_size": 1}, {"attention_backend": "fa3"}, {"sglang": "0.5.18"}, {"engine": "vllm"}]
)
def test_false_condition_rules_out(library, fail, ids, facts):
    """Whatever else fits."""
    known = library(a="engine: sglang\n" + LAYER0)
    assert ids(known, index_error(fail)) == ["a"]
    assert ids(known, index_error(fail), **facts) == []


def test_possible_without_a_traceback(library, fail, incident):
    """A line that quotes the exception has no frames: they are missing, not absent."""
    failure = fail("IndexError", "list index out of range", kind="message")
    found = first(library(a=LAYER0), incident, failure, pp_size=8, attention_backend="triton")
    assert found.confidence == "possible"
    assert found.missing == [
        "frame layers/attention/triton_backend.py:__init__ (the log has no traceback)",
        "frame mem_cache/memory_pool.py:*get_value_buffer (the log has no traceback)",
    ]


def test_possible_when_the_traceback_is_cut(library, fail, incident):
    """At its start a frame is missing, at its end the exception."""
    head = fail("IndexError", "list index out of range", STACK[1:], assembly="partial")
    assert first(library(a=LAYER0), incident, head).missing == ["frame layers/attention/triton_backend.py:__init__"]
    tail = fail("", "", STACK, assembly="partial")
    found = first(library(a=LAYER0), incident, tail)
    assert found.missing == ["exception IndexError", 'message "list index out of range" (the traceback is cut off)']


def test_cut_traceback_with_other_frames_is_no_match(library, fail, ids):
    """A partial stack does not excuse everything."""
    known = library(a='match: {exception: IndexError, frames: ["layers/attention/triton_backend.py:__init__"]}')
    assert ids(known, fail("IndexError", "x", ["other.py:run"], assembly="partial")) == []


def test_type_and_unobserved_rest_is_no_match(library, fail, ids):
    """Something beside the type must have been seen."""
    known = library(a='match: {exception: IndexError, frames: ["layers/attention/triton_backend.py:__init__"]}')
    assert ids(known, fail("IndexError", "x", kind="message")) == []


def test_most_specific_comes_first(library, fail, ids):
    """A frame counts more than a message, a message more than a type, a fact on top."""
    known = library(
        type="match: {exception: IndexError}",
        message='match: {exception: IndexError, message: "out of range"}',
        longer='match: {exception: IndexError, message: "list index out of range"}',
        frame='match: {exception: IndexError, frames: ["mem_cache/memory_pool.py:get_value_buffer"]}',
        both='match: {exception: IndexError, message: "out of range", frames: ["mem_cache/memory_pool.py:get_value_buffer"]}',
        fact='match: {exception: IndexError, message: "out of range", frames: ["mem_cache/memory_pool.py:get_value_buffer"]}\nwhen: {pp_size: 8}',
        unsure='match: {exception: IndexError, message: "out of range"}\nwhen: {nnodes: 2}',
    )
    assert ids(known, index_error(fail), pp_size=8) == ["fact", "both", "frame", "longer", "message", "unsure", "type"]


def test_guesses_come_last(library, fail, ids):
    """However much of them was seen."""
    known = library(
        guess='match: {exception: E, message: "some text", log: {line: "a line"}, frames: ["a.py:b"]}',
        sure="match: {exception: E}",
    )
    assert ids(known, fail("E", "some text", text="a line", kind="message")) == ["sure", "guess"]


def test_equal_ones_are_in_the_order_of_their_ids(library, fail, ids):
    """Never of their files."""
    known = library(b="match: {exception: E}\nid: lab/a1", a="match: {exception: E}\nid: lab/b1")
    assert ids(known, fail("E", "x")) == ["a1", "b1"]


def test_diagnosis_says_what_the_signature_says(library, fail, incident):
    """Texts filled in, what it explains, its references."""
    known = library(
        a='match: {exception: E, message_re: "asked (?P<asked>\\\\d+)"}\ntitle: "{asked} too many"\ncause: "{asked} of {pp_size}, {none}"\n'
        'not_when: "no"\nexplains: [a/b, {id: c/d, within: 3s}]\nrole: notice\nreferences: ["https://example.org"]'
    )
    found = first(known, incident, fail("E", "asked 12"), pp_size=8)
    assert (found.title, found.cause) == ("12 too many", "12 of 8, (none not in the log)")
    assert (found.explains, found.role, found.not_when) == (["a/b", "c/d"], "notice", "no")
    assert found.references == ["https://example.org"]


def test_where_uses_captures(library, fail, ids):
    """With their units."""
    known = library(
        a='match: {exception: E, message_re: "asked (?P<asked>[\\\\d.]+ GiB), (?P<free>[\\\\d.]+ MiB) free"}\nwhen: {where: "asked > free"}'
    )
    assert ids(known, fail("E", "asked 2.0 GiB, 900 MiB free")) == ["a"]
    assert ids(known, fail("E", "asked 0.5 GiB, 900 MiB free")) == []


def test_rank_is_that_of_the_failure(library, fail, ids):
    """A stage that cannot fail this way is another defect."""
    known = library(a='match: {exception: E, message: "some text"}\nwhen: {rank: {pp: ">=2"}}')
    assert ids(known, fail("E", "some text", rank="PP2 TP0")) == ["a"]
    assert ids(known, fail("E", "some text", rank="PP1 TP0")) == []
    assert ids(known, fail("E", "some text")) == ["a"]


def test_every_failure_is_diagnosed(library, fail, incident):
    """Notices too: a warning may be the reason."""
    known = library(a='role: notice\nmatch: {log: {line: "some notice"}}', b="match: {exception: E}")
    failures = [fail(text="some notice", level=None), fail("E", "x"), fail("F", "x")]
    diagnose(incident(*failures), known)
    assert [[d.signature for d in failure.diagnoses] for failure in failures] == [["lab/a"], ["lab/b"], []]


def test_diagnosing_twice_is_the_same(library, fail, incident):
    """Nothing is added to what was there."""
    known = library(a=LAYER0)
    failure = index_error(fail)
    run = incident(failure, pp_size=8)
    diagnose(run, known)
    once = list(failure.diagnoses)
    diagnose(run, known)
    assert failure.diagnoses == once
