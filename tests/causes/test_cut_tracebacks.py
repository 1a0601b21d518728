"""Pasted logs often begin or end within a traceback: what is left says no more than it does."""

HEAD = "Traceback (most recent call last):"
WORKER = "(VllmWorker rank=5 pid=50999) ERROR 07-07 15:19:48 [multiproc_executor.py:492] "
ENGINE = "ERROR 07-07 15:19:51 [core.py:515] "
NO_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 5 has a total capacity of 79.25 GiB."
)


def test_a_known_exception_before_a_cut_traceback_is_the_root(rooted):
    """Of the two only the first says what happened."""
    _, root = rooted(
        WORKER + NO_MEMORY,
        ENGINE + "EngineCore failed to start.",
        ENGINE + HEAD,
        ENGINE + '  File "/x/vllm/v1/engine/core.py", line 506, in run_engine_core',
        ENGINE + "    <source line>",
    )
    assert (root.exception.type, root.diagnoses[0].signature) == ("torch.OutOfMemoryError", "cuda/oom")


def test_an_unknown_complaint_before_a_cut_traceback_is_not(rooted):
    """A server's death is told by its traceback, even by half of one."""
    _, root = rooted(
        "[2026-05-25 21:41:30 TP0] ValueError: nobody knows this one",
        "[2026-05-25 21:41:38 TP0] Scheduler hit an exception: " + HEAD,
        '  File "/x/sglang/srt/managers/scheduler.py", line 2001, in run_scheduler_process',
        "    <source line>",
    )
    assert root.rule == "traceback"


def orphan(*rest):
    return (
        '  File "/x/sglang/srt/disaggregation/decode.py", line 928, in process_decode_queue',
        "    <source line>",
        "TypeError: alloc_extend() missing 2 required positional arguments",
        "",
        *rest,
    )


def test_a_traceback_without_head_is_not_by_the_rank_that_dies_after_it(judged):
    """Each rank dies of one exception, and this rank's is another one."""
    found = judged(
        *orphan(
            "[2025-10-03 14:38:55 TP2] Scheduler hit an exception: " + HEAD,
            '  File "/x/sglang/srt/managers/scheduler.py", line 2882, in run_scheduler_process',
            "    <source line>",
            "KeyError: 7",
        )
    ).failures
    assert [failure.ranks for failure in found] == [[], ["TP2"]]


def test_where_only_one_rank_is_named_and_dies_of_nothing_else_it_is_its(judged):
    """The end of the log of a single rank."""
    found = judged(*orphan("[2025-10-03 14:38:55 TP0] Received sigquit from a child process.")).failures
    assert found[0].ranks == ["TP0"]


def test_what_logging_says_of_itself_is_no_root(rooted):
    """A signal came while a line was written; why it came is another matter."""
    _, root = rooted(
        "--- Logging error ---",
        HEAD,
        '  File "/usr/lib/python3.11/logging/__init__.py", line 1113, in emit',
        "    <source line>",
        "RuntimeError: reentrant call inside <_io.BufferedWriter name='<stderr>'>",
        "Call stack:",
        '  File "/x/sglang/srt/entrypoints/engine.py", line 343, in sigquit_handler',
        "    <source line>",
        "Message: 'Received sigquit from a child proces. It usually means the child failed.'",
        "Arguments: ()",
    )
    assert root.rule == "sglang/sigquit"
