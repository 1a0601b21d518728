"""Who an exception is about, and what a line that quotes another says."""

HEAD = "Traceback (most recent call last):"
KEY_ERROR = (
    '  File "/x/sglang/srt/managers/detokenizer_manager.py", line 158, in event_loop',
    "    <source line>",
    "KeyError: 'dc49ad867dc144249f59f4e85c7229cd'",
)
BATCH = "[2025-01-25 21:59:48 TP0] Prefill batch. #new-seq: 12, #new-token: 295, #cached-token: 1680, #queue-req: 0"


def test_the_detokenizer_is_of_no_rank(rooted):
    """Its stream names one rank only, and it is another process."""
    _, root = rooted(BATCH, "[2025-01-25 21:59:49] DetokenizerManager hit an exception: " + HEAD, *KEY_ERROR)
    assert root.ranks == []


def test_a_scheduler_without_a_label_is_of_its_streams_only_rank(rooted):
    """The same traceback of a scheduler keeps the rank that its stream names."""
    _, root = rooted(BATCH, "[2025-01-25 21:59:49] Scheduler hit an exception: " + HEAD, *KEY_ERROR)
    assert root.ranks == ["TP0"]


def test_an_exception_that_names_sizes_is_still_one(rooted):
    """A line that tells the pool's size can be the exception itself."""
    _, root = rooted(
        "ValueError: pool memory leak detected! available_size=3189424, self.max_total_num_tokens=3185200",
        "[2025-06-06 01:56:27] Received sigquit from a child process. It usually means the child failed.",
    )
    assert root.exception.type == "ValueError"


def test_a_workers_error_that_is_quoted_says_more_than_its_death(rooted):
    """The executor repeats what the worker raised; that a worker died is what follows."""
    core = "(EngineCore pid=433) ERROR 06-03 17:19:18 [core.py:1140] "
    _, root = rooted(
        core + '  File "/x/vllm/v1/executor/multiproc_executor.py", line 390, in get_response',
        core + "    <source line>",
        core + "RuntimeError: Worker failed with error 'no such extension', please check the stack trace above",
        "(EngineCore pid=433) ERROR 06-03 17:19:20 [multiproc_executor.py:283] Worker proc VllmWorker-1 died "
        "unexpectedly, shutting down executor.",
    )
    assert "no such extension" in root.exception.message
