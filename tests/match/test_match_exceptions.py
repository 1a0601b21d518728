"""Exceptions: type, message, frames, chains."""

import pytest

from triage.match import diagnose

TRITON = ("sglang/srt/managers/scheduler.py:run", "sglang/srt/layers/attention/triton_backend.py:__init__",
          "sglang/srt/mem_cache/memory_pool.py:get_value_buffer", "sglang/srt/mem_cache/memory_pool.py:_get_value_buffer")  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "there", "fits"),
    [
        ("IndexError", "IndexError", True),
        ("OutOfMemoryError", "torch.cuda.OutOfMemoryError", True),
        ("torch.OutOfMemoryError", "torch.OutOfMemoryError", True),
        ("cuda.OutOfMemoryError", "torch.cuda.OutOfMemoryError", True),
        ("torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError", False),
        ("torch.OutOfMemoryError", "OutOfMemoryError", True),
        ("[KeyError, IndexError]", "IndexError", True),
        ("Error", "IndexError", False),
        ("IndexError", "indexerror", False),
    ],
)
def test_type_is_the_last_part_or_dotted(library, fail, ids, wanted, there, fits):
    """A dotted name is compared as far as both say it."""
    known = library(a=f"match: {{exception: {wanted}, message: some text}}")
    assert (ids(known, fail(there, "has some text in it")) == ["a"]) is fits


@pytest.mark.parametrize(
    ("match", "message", "fits"),
    [
        ('message: "out of range"', "list index out of range", True),
        ('message: "Out of range"', "list index out of range", False),
        ('message: "two words"', "has two\n   words in it", True),
        ('message: "two  words"', "two words", True),
        ('message_is: "list index"', "list index", True),
        ('message_is: "list index"', "list index out of range", False),
        ("message_is: \"'lm_head.weight'\"", "'lm_head.weight'", True),
        ('message_re: "asked (?P<n>\\\\d+) of"', "asked 12 of 3", True),
        ('message_re: "^asked .* end$"', "asked\nfor the\nend", True),
        ('message_re: "^second$"', "first\nsecond\nthird", True),
        ('message_re: "asked \\\\d+ of"', "asked many of", False),
    ],
)
def test_message(library, fail, ids, match, message, fits):
    """Contained, equal, or found by a regex; white space folds, case is kept."""
    known = library(a=f"match: {{exception: E, {match}}}")
    assert (ids(known, fail("E", message)) == ["a"]) is fits


def test_notes_belong_to_the_message(library, fail, ids):
    """PEP 678 notes are printed below it."""
    known = library(a='match: {exception: E, message: "see the manual"}')
    assert ids(known, fail("E", "short", notes=["please see the manual"])) == ["a"]


@pytest.mark.parametrize(
    ("patterns", "fits"),
    [
        (["layers/attention/triton_backend.py:__init__"], True),
        (["layers/attention/triton_backend.py:TritonAttnBackend.__init__"], True),
        (["layers/attention/triton_backend.py:*", "mem_cache/memory_pool.py:*get_value_buffer"], True),
        (["managers/scheduler.py:run", "mem_cache/memory_pool.py:_get_value_buffer"], True),
        (["mem_cache/memory_pool.py:get_value_buffer", "layers/attention/triton_backend.py:__init__"], False),
        (["triton_backend.py:__init__"], True),
        (["backend.py:__init__"], False),
        (["pool.py:get_value_buffer"], False),
        (["*pool.py:get_value_buffer"], True),
        (["attention/*.py:__init__"], True),
        (["*:get_value_buffer"], True),
        (["*:value_buffer"], False),
        (["mem_cache/memory_pool.py:*get_value_buffer"] * 2, True),
        (["mem_cache/memory_pool.py:*get_value_buffer"] * 3, False),
    ],
)
def test_frames_in_call_order(library, fail, ids, patterns, fits):
    """Gaps allowed; a path is a suffix by whole components, `*` a glob, a class before the method may be left out."""
    known = library(a=f"match: {{exception: IndexError, frames: {patterns}}}")
    assert (ids(known, fail("IndexError", "x", TRITON)) == ["a"]) is fits


@pytest.mark.parametrize(
    ("function", "fits"), [("Pool.get", True), ("Other.get", False), ("pkg.Pool.get", True), ("get", True)]
)
def test_class_is_compared_where_the_stack_has_it(library, fail, ids, function, fits):
    """py-spy and dumps print qualified names, tracebacks do not."""
    known = library(a='match: {exception: E, frames: ["pool.py:Pool.get"]}')
    assert (ids(known, fail("E", "x", [f"a/pool.py:{function}"])) == ["a"]) is fits


def test_link_of_the_chain_is_matched(library, fail, incident):
    """All keys hold for the same exception, and the diagnosis says for which."""
    known = library(a='match: {exception: KeyError, message: "lm_head", frames: ["load.py:load"]}')
    failure = fail(
        "RuntimeError",
        "engine failed",
        ["b.py:run"],
        chain=[("OSError", "x", []), ("KeyError", "'lm_head'", ["a/load.py:load"])],
    )
    diagnose(incident(failure), known)
    assert [(d.signature, d.link) for d in failure.diagnoses] == [("lab/a", 2)]


def test_keys_do_not_mix_exceptions_of_a_chain(library, fail, ids):
    """The type of one and the message of another are no match."""
    known = library(a='match: {exception: KeyError, message: "engine failed"}')
    assert ids(known, fail("RuntimeError", "engine failed", chain=[("KeyError", "'x'", [])])) == []


def test_message_may_stand_in_what_belongs_to_the_failure(library, fail, ids):
    """An assertion of the GPU is printed apart from the exception that it causes."""
    known = library(
        a='match: {all: [{message_re: "Assertion `[^`]*srcIndex < srcSelectDimSize"}, {message: "CUDA error"}]}'
    )
    failure = fail(
        "RuntimeError",
        "CUDA error: device-side assert triggered",
        evidence=["Indexing.cu:1: Assertion `srcIndex < srcSelectDimSize` failed."],
    )
    assert ids(known, failure) == ["a"]


def test_message_without_exception_stands_in_the_text(library, fail, ids):
    """Of a line that quotes none."""
    known = library(a='match: {message: "Cuda failure"}')
    assert ids(known, fail(text="host:1:2 NCCL WARN Cuda  failure 'out of memory'")) == ["a"]
    assert ids(known, fail(text="host:1:2 NCCL WARN Net failure")) == []


def test_any_all_not_nest(library, fail, ids):
    """For one failure."""
    text = 'match: {exception: RuntimeError, any: [{message: "alloc failed"}, {all: [{message: "CUDA error"}, {message: "memory"}]}], not: {message: "HIP"}}'
    known = library(a=text)
    assert ids(known, fail("RuntimeError", "cublas alloc failed")) == ["a"]
    assert ids(known, fail("RuntimeError", "CUDA error: out of memory")) == ["a"]
    assert ids(known, fail("RuntimeError", "CUDA error: invalid device")) == []
    assert ids(known, fail("RuntimeError", "HIP: CUDA error: out of memory")) == []
    assert ids(known, fail("ValueError", "cublas alloc failed")) == []


def test_exception_quoted_in_one_line_matches(library, fail, ids):
    """A message failure with an exception, but without frames."""
    known = library(a='match: {exception: KVTransferError, message: "receive aborted"}')
    assert ids(known, fail("KVTransferError", "receive aborted by peer", kind="message")) == ["a"]


def test_type_alone_is_enough_where_it_is_all(library, fail, ids):
    """A signature of one condition needs that one."""
    known = library(
        a="match: {exception: ChildFailedError}", b='match: {exception: ChildFailedError, message: "exit -9"}'
    )
    assert ids(known, fail("torch.distributed.elastic.ChildFailedError", "x")) == ["a"]


def test_long_message_is_matched_at_both_ends(library, fail, ids):
    """Megabytes in between cost nothing."""
    known = library(a='match: {exception: E, message: "the end"}', b='match: {exception: E, message: "the start"}')
    assert sorted(ids(known, fail("E", "the start " + "x" * 3_000_000 + " the end"))) == ["a", "b"]


def test_hostile_text_never_raises(library, fail, ids):
    """Whatever a service prints."""
    known = library(a='match: {exception: E, message_re: "(?P<x>a+) failed"}', b='match: {log: {line_re: "a+ failed"}}')
    for text in (
        "\x00" * 1000,
        "\ud800 failed",
        "a" * 100_000,
        "{x} {0} %s",
        "\x1b[31ma failed\x1b[0m",
        "aaa failed {engine}",
    ):
        ids(known, fail("E", text, text=text, evidence=[text]))


@pytest.mark.parametrize(
    ("stack", "fits"),
    [
        (("vllm/vllm/distributed/kv_transfer/kv_connector/v1/nixl_connector.py:register_kv_caches",), ["b"]),
        (("vllm/v1/engine/core.py:run_engine_core", "torch/nn/functional.py:linear"), ["b"]),
        (("sglang/srt/managers/scheduler.py:run", "vllm/_custom_ops.py:moe_align"), ["a"]),
        (("vllm/model_executor/layers/linear.py:apply",), ["a", "b"]),
        (("sglang/srt/managers/scheduler.py:run", "vllm/v1/engine/core.py:run_engine_core"), ["a", "b"]),
        ((), ["a", "b"]),
    ],
)
def test_engine_of_the_frames(library, fail, ids, stack, fits):
    """Where the log does not name the engine, the rooms that the frames run through do; SGLang borrows vLLM's layers."""
    known = library(
        a="engine: sglang\nmatch: {exception: E, message: gone away}",
        b="engine: vllm\nmatch: {exception: E, message: gone away}",
    )
    assert sorted(ids(known, fail("E", "gone away", stack))) == fits
