"""What is near, and what a signature lacks."""

from triage.match import diagnose, explain

STACK = (
    "sglang/srt/layers/attention/triton_backend.py:__init__",
    "sglang/srt/mem_cache/memory_pool.py:get_value_buffer",
)
LAYER0 = """match: {exception: IndexError, message: "list index out of range", frames: ["layers/attention/triton_backend.py:__init__", "mem_cache/memory_pool.py:*get_value_buffer"]}
when: {pp_size: ">1", attention_backend: triton}
releases: {sglang: ">=0.4.6.post5,<0.5.18"}"""


def near(library, incident, failure, **facts):
    """Confidence and what is missing of each diagnosis."""
    diagnose(incident(failure, **facts), library)
    return [(d.confidence, d.missing) for d in failure.diagnoses]


def test_renamed_function_is_near(library, fail, incident):
    """A frame of another release is called a little differently."""
    failure = fail(
        "IndexError", "list index out of range", [STACK[0], "sglang/srt/mem_cache/memory_pools.py:get_value_buffers"]
    )
    assert near(library(a=LAYER0), incident, failure) == [
        (
            "possible",
            [
                "frame mem_cache/memory_pool.py:*get_value_buffer (the log has mem_cache/memory_pools.py:get_value_buffers)"
            ],
        )
    ]


def test_changed_message_is_near(library, fail, incident):
    """If something else of it was seen; numbers do not matter."""
    text = 'match: {exception: ValueError, message: "Not enough memory. Please try to increase --mem-fraction-static", frames: ["a/runner.py:init"]}'
    failure = fail(
        "ValueError", "Not enough memory. Please try increasing --mem-fraction-static.", ["x/a/runner.py:init"]
    )
    ((confidence, missing),) = near(library(a=text), incident, failure)
    assert confidence == "possible"
    assert missing[0].startswith(
        'message "Not enough memory. Please try to increase --mem-fraction-static" (the log says'
    )


def test_near_message_alone_is_nothing(library, fail, incident):
    """One condition of one is missing: that matches nothing."""
    known = library(
        a='match: {exception: ValueError, message: "Not enough memory. Please try to increase --mem-fraction-static"}'
    )
    assert (
        near(known, incident, fail("ValueError", "Not enough memory. Please try increasing --mem-fraction-static."))
        == []
    )


def test_other_type_is_not_near(library, fail, incident):
    """However alike the rest is."""
    failure = fail(
        "KeyError", "list index out of range", [STACK[0], "sglang/srt/mem_cache/memory_pools.py:get_value_buffers"]
    )
    assert near(library(a=LAYER0), incident, failure) == []


def test_near_is_ruled_out_by_facts_too(library, fail, incident):
    """As an exact match is."""
    failure = fail(
        "IndexError", "list index out of range", [STACK[0], "sglang/srt/mem_cache/memory_pools.py:get_value_buffers"]
    )
    assert near(library(a=LAYER0), incident, failure, attention_backend="fa3") == []


def test_near_only_where_nothing_fits(library, fail, ids):
    """And never for a notice."""
    stack = [STACK[0], "sglang/srt/mem_cache/memory_pools.py:get_value_buffers"]
    known = library(a=LAYER0, b="match: {exception: IndexError}")
    assert ids(known, fail("IndexError", "list index out of range", stack)) == ["b"]
    assert (
        ids(
            library(a=LAYER0, b="match: {exception: X}"),
            fail("IndexError", "list index out of range", stack, level=None),
        )
        == []
    )


def missed(library, incident, failure, **facts):
    """What `explain` says."""
    return [(miss.signature, miss.failed) for miss in explain(failure, incident(failure, **facts), library)]


def test_explain_names_the_fact_that_rules_out(library, fail, incident):
    """And what would be needed."""
    failure = fail("IndexError", "list index out of range", STACK)
    known = library(a=LAYER0)
    assert missed(known, incident, failure, attention_backend="fa3") == [
        ("lab/a", "would match if attention_backend were triton; this log shows fa3")
    ]
    (miss,) = explain(failure, incident(failure, attention_backend="fa3"), known)
    assert miss.held[:2] == ["exception IndexError", 'message "list index out of range"']


def test_explain_names_the_release(library, fail, incident):
    """Somebody who has the fix already must look elsewhere."""
    failure = fail("IndexError", "list index out of range", STACK)
    assert missed(library(a=LAYER0), incident, failure, sglang="0.5.19") == [
        ("lab/a", "you run sglang 0.5.19: you already have the fix of 0.5.18: look elsewhere")
    ]


def test_explain_names_the_missing_part_of_the_match(library, fail, incident):
    """If it is one."""
    failure = fail("IndexError", "list index out of range", STACK[:1])
    assert missed(library(a=LAYER0), incident, failure) == [
        ("lab/a", "would match if there were frame mem_cache/memory_pool.py:*get_value_buffer; this failure has none")
    ]
    assert missed(library(a=LAYER0), incident, fail("IndexError", "x", STACK[:1])) == []


def test_explain_names_other_events(library, fail, incident):
    """Those that are there and must not be."""
    known = library(
        a='match: {exception: E, message: "some text"}\nwithout: [{match: {log: {line: "SIGTERM received"}}}]'
    )
    failure = fail("E", "some text")
    run = incident(fail(text="SIGTERM received", level=None), failure)
    assert [miss.failed for miss in explain(failure, run, known)] == [
        'would match without log line "SIGTERM received"; but that is there'
    ]


def test_explain_leaves_out_what_fits(library, fail, incident):
    """And what does not fit at all."""
    known = library(a='match: {exception: E, message: "some text"}', b='match: {exception: E, message: "other text"}')
    assert missed(known, incident, fail("E", "some text")) == []


def test_explain_changes_nothing(library, fail, incident):
    """It only looks."""
    failure = fail("IndexError", "list index out of range", STACK)
    run = incident(failure, attention_backend="fa3")
    explain(failure, run, library(a=LAYER0))
    assert failure.diagnoses == []
    assert run.gaps == []
