"""Which rows and readers a line may concern: none is left out, whatever the digits are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.events.candidates import Candidates, Wanted
from triage.events.extract import Extractor
from triage.events.native_shapes import may_start, start_of
from triage.model import Line
from triage.patterns import LinePattern

WORDS = st.text(alphabet="ab1 2", min_size=1, max_size=7)
PARTS = [
    "Decode batch, #running-req: 3", "Load weight begin. avail mem=7 GB", "server_args=ServerArgs(tp_size=8)", "ERROR: no",
    "ValueError: bad 7", "Out of memory: Killed process 12 (python)", "failed (exitcode: -9) local_rank: 1 (pid: 5) of",
    " binary: /opt/python", "NCCL WARN gone", "terminate called without an active exception", "Fatal Python error: Aborted",
    "* sglang.service - SGLang", "     Loaded: loaded", "     Active: failed (Result: exit-code)", "$ vllm serve model \\",
    "python -m sglang.launch_server --tp 8", "  --port 3", "Traceback (most recent call last):", "asked 42 for", "plain",
    '  File "a.py", line 3, in f', "    x()", '10.0.0.1:5 - "POST /generate HTTP/1.1" 500', "", "Assertion `x' failed.",
]  # fmt: skip
PATTERNS = [LinePattern("asked", ("asked 7", "asked 42"), regex=r"asked \d+")]


@given(st.lists(st.lists(WORDS, max_size=3), max_size=130), st.lists(WORDS, max_size=12))
@settings(deadline=None)
def test_every_row_with_a_literal_in_the_text_is_found(literals, words):
    """Few literals are looked for one by one, many by their first bytes; both find all."""
    candidates = Candidates(literals)
    text = "".join(words)
    found = candidates.of(text)
    assert list(found) == sorted(set(found))
    assert {n for n, row in enumerate(literals) if any(word in text for word in row)} <= set(found)


def test_a_text_of_any_characters_is_taken():
    """Half of a surrogate pair, as JSON can write it, is no error."""
    assert Candidates([["\ud800x"]]).of("1\ud8002x") == (0,)
    assert Wanted([(1, ["\ud800"])], [(2, lambda text: "\ud800" in text), (4, str.isupper)]).of("7\ud800") == 3


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=2), max_size=25), st.sets(st.integers(0, 24)))
@settings(deadline=None, max_examples=200)
def test_readers_that_are_not_asked_would_have_said_nothing(lines, records):
    """With every reader asked about every line the events are the same."""
    said = []
    for everybody in (False, True):
        extractor = Extractor(PATTERNS)
        if everybody:
            extractor._wanted.of = lambda _: ~0
        for number, parts in enumerate(lines):
            extractor.feed(
                Line("".join(parts), "s", number, record=number in records, severity=3 if number == 4 else None)
            )
        extractor.flush()
        result = extractor.result()
        said.append((result.events, [(track.newest, list(track.words)) for track in result.tracks]))
    assert said[0] == said[1]


def test_a_long_line_concerns_everybody_and_loses_no_row():
    """What would take long to look at is left to the readers, who look at parts of it."""
    candidates = Candidates([[f"word {chr(97 + n % 26)}{chr(97 + n // 26)} ends"] for n in range(200)])
    text = "x" * 5000 + "word bc ends" + "y" * 5000
    assert candidates.of(text) == (53,)
    assert Wanted([(1, ["none"])], [(2, lambda _: False)]).of(text) & 3 == 3


@pytest.mark.parametrize(
    "text",
    [
        "Fatal Python error: Aborted", "Fatal glibc error: malloc.c:2599", "terminate called recursively",
        "thread 'main' panicked at src/a.rs:4:5:", "thread 'tokio-7' (12) has overflowed its stack",
        "libc++abi: terminating due to uncaught exception of type std::bad_alloc", "!!!!!!! Segfault encountered !!!!!!!",
        "*** SIGSEGV received at time=1 on cpu 2 ***", "*** Aborted at 1764 (unix time)", "*** Check failure stack trace: ***",
        "*** Error in `python': double free", "*** stack smashing detected ***: terminated",
        "[node1:77  :0:77] Caught signal 11 (Segmentation fault)", "free(): invalid pointer", "malloc(): corrupted",
        "realloc(): invalid next size", "calloc(): x", "munmap_chunk(): invalid pointer", "malloc_consolidate(): x",
        "unlink_chunk(): x", "sysmalloc(): x", "_int_free(): x", "double free or corruption (out)",
        "corrupted size vs. prev_size", "corrupted double-linked list", "Process 12: python -m x",
        "Process 12 (python) of user 0 dumped core.", 'Thread 7 (idle): "MainThread"',
        "Thread 0x00007f (most recent call first):", "Current thread 0x00007f [main] (most recent call first):",
        "Current thread's C stack trace (most recent call first):", "Timeout (0:00:05)!",
        "a.out: x.c:7: f: Assertion `x' failed.",
    ],
)  # fmt: skip
def test_every_line_that_opens_a_native_block_is_looked_at(text):
    """Without its digits it begins as lines of its kind do."""
    assert start_of(text) is not None
    assert may_start("".join(char for char in text if not char.isdigit()))


def test_a_batch_is_no_native_line():
    """Lines that come by the thousand need not be looked at for a crash."""
    assert not may_start("Prefill batch, #new-seq: , #new-token: ")
