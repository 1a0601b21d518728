"""Failed, degraded, healthy or starting: what the lines around a failure make of it."""

import pytest

BANNER = "INFO 07-20 10:00:00 [api_server.py:1395] vLLM API server version 0.9.2"
LOADING = "INFO 07-20 10:00:20 [gpu_model_runner.py:1770] Starting to load model /models/m..."
LOADED = "INFO 07-20 10:01:00 [gpu_model_runner.py:1801] Model loading took 4.0 GiB and 20.1 seconds"
UP = "INFO:     Application startup complete."
OK = 'INFO:     10.0.0.1:40000 - "POST /v1/completions HTTP/1.1" 200 OK'
SERVER_ERROR = 'INFO:     10.0.0.1:40001 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error'
STOP = ("INFO:     Shutting down", "INFO:     Application shutdown complete.", "INFO:     Finished server process [1]")
ERROR_LINE = "ERROR 07-20 10:00:30 [fa_utils.py:57] Cannot use FA version 2 is not supported on this device"


def traceback(path, exception, function="<module>"):
    return [
        "Traceback (most recent call last):",
        f'  File "{path}", line 12, in {function}',
        "    out = call(x)",
        exception,
    ]


def test_an_error_line_that_the_start_went_on_after_is_overcome(rooted):
    """A start that goes on is starting, and healthy once it serves."""
    assert rooted(BANNER, ERROR_LINE, LOADING, LOADED)[0] == "starting"
    assert rooted(BANNER, ERROR_LINE, LOADING, LOADED, UP, OK) == ("healthy", None)


def test_an_error_line_that_ends_a_start_is_its_failure(rooted):
    """Nothing came after it."""
    outcome, root = rooted(BANNER, LOADING, ERROR_LINE)
    assert outcome == "failed"
    assert "Cannot use FA" in root.text


def test_a_server_that_ends_itself_in_order_behind_its_engine_failed(rooted):
    """The shutdown looks like that after Ctrl-C, but an engine had died before."""
    died = "ERROR 07-20 10:05:00 [multiproc_executor.py:140] Worker proc VllmWorker-1 died unexpectedly, shutting down executor."
    outcome, root = rooted(BANNER, UP, OK, died, SERVER_ERROR, *STOP)
    assert outcome == "failed"
    assert root.rule == "vllm/worker-died"


def test_what_an_end_in_order_prints_is_teardown(judged):
    """A stop that took too long for Docker, workers stopped by their parent, KeyboardInterrupt: all after the stop."""
    died = "ERROR 07-20 10:09:00 multiproc_worker_utils.py:120] Worker VllmWorkerProcess pid 12 died, exit code: -15"
    interrupted = traceback("/usr/local/bin/vllm", "KeyboardInterrupt")
    incident = judged(BANNER, UP, OK, *STOP, died, *interrupted, "vllm-1 exited with code 137")
    assert incident.outcome == "healthy"
    assert not [f for f in incident.failures if f.role in ("root", "consequence")]


def test_an_end_in_order_after_which_it_serves_is_another_servers(rooted):
    """In the log of several services one ends, the other goes on and dies."""
    outcome, root = rooted(BANNER, UP, *STOP, OK, "vllm-2 exited with code 139")
    assert outcome == "failed"
    assert root.rule == "container/terminated"


def test_what_kubernetes_says_is_no_teardown(rooted):
    """The kubelet stopped it because it did not answer: the end in order was its doing."""
    killing = "  Normal   Killing    78s    kubelet   Container vllm failed liveness probe, will be restarted"
    outcome, root = rooted(BANNER, UP, OK, *STOP, killing)
    assert outcome == "failed"
    assert root.rule == "kubernetes/probe-killed"


def test_probes_that_fail_while_it_starts_are_no_failure(rooted):
    """Nothing else is wrong: it starts, or has started since."""
    probe = '  Warning  Unhealthy  9s  kubelet  Readiness probe failed: Get "http://10.4.2.17:8000/health": connection refused'
    assert rooted(BANNER, LOADING, probe)[0] == "starting"
    assert rooted(BANNER, LOADING, probe, LOADED, UP, OK) == ("healthy", None)


def test_what_keeps_a_pod_from_starting_counts_only_while_it_has_not_started(rooted):
    """Old events stand below the log of a pod that runs."""
    event = (
        "  Warning  FailedScheduling  6m  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu."
    )
    assert rooted(event)[1].rule == "kubernetes/unschedulable"
    assert rooted(BANNER, LOADING, LOADED, UP, OK, event) == ("healthy", None)


@pytest.mark.parametrize("path", ["/opt/app/wait_ready.py", "/srv/bench/benchmark_serving.py"])
def test_a_script_beside_the_server_fails_for_itself(rooted, path):
    """Nobody caught its exception, and yet the server goes on."""
    other = traceback(path, "RuntimeError: no answer")
    assert rooted(BANNER, LOADING, *other, LOADED, UP, OK) == ("healthy", None)
    assert rooted(BANNER, LOADING, LOADED, UP, OK, *other) == ("healthy", None)


def test_an_own_exception_that_nobody_caught_ends_the_server(rooted):
    """The same log with a frame of the engine."""
    own = traceback("/usr/local/bin/vllm", "RuntimeError: no answer")
    outcome, root = rooted(BANNER, LOADING, LOADED, UP, OK, *own)
    assert outcome == "failed"
    assert root.exception.message == "no answer"


def test_answers_of_5xx_without_a_word_are_the_root(rooted):
    """All that there is to name are the answers themselves."""
    outcome, root = rooted(BANNER, UP, OK, SERVER_ERROR, SERVER_ERROR)
    assert (outcome, root.rule, root.count) == ("degraded", "serving/server-error", 2)
    assert "500 Internal Server Error" in root.text


def test_an_error_line_of_the_start_does_not_explain_later_5xx(rooted):
    """What the start had overcome is not why requests fail."""
    assert rooted(BANNER, ERROR_LINE, LOADING, LOADED, UP, SERVER_ERROR)[1].rule == "serving/server-error"


def test_a_log_that_begins_late_can_be_degraded(rooted):
    """Neither the start nor readiness is in it."""
    assert rooted(SERVER_ERROR, SERVER_ERROR)[0] == "degraded"


def test_a_request_that_fails_last_ends_no_server(rooted):
    """A refused request, a model that writes bad JSON, a connection that broke: nothing comes after, and nothing must."""
    path = "/usr/lib/python3.12/site-packages/uvicorn/protocols/http/h11_impl.py"
    frames = traceback(path, "h11._util.LocalProtocolError: can't handle event type ConnectionClosed", "handle")
    assert rooted(BANNER, UP, OK, *frames) == ("healthy", None)


def test_the_gateways_own_access_lines_count(rooted):
    """Rust's tracing says uri and status_code."""
    line = "2026-05-19 10:01:00  INFO http_request: smg::middleware: finished method=POST uri=/v1/completions status_code={}"
    assert rooted(line.format(200))[0] == "healthy"
    assert rooted(line.format(200), line.format(503))[0] == "degraded"
    assert rooted(line.format(200), line.format(404))[0] == "healthy"


PROBE = (
    "[2026-05-18 03:{0}:48] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. "
    "tic start time: 03:{0}:28. last_heartbeat time: 03:10:11"
)
PREFILL = (
    "[2026-05-18 03:{0}:59 TP0] Prefill batch, #new-seq: 1, #new-token: 8192, #cached-token: 0, token usage: 0.31, "
    "#running-req: 0, #queue-req: 41,"
)


def test_probes_that_fail_again_and_again_with_nothing_served_say_that_the_server_hangs(rooted):
    """The scheduler answers nobody and raises nothing; a log that begins later is one of the same server."""
    ready = "[2026-05-18 03:09:11] The server is fired up and ready to roll!"
    probes = [PROBE.format(minute) for minute in (11, 12, 13, 14)]
    for before in ((ready, PREFILL.format(10)), ()):
        outcome, root = rooted(*before, *probes)
        assert outcome == "degraded"
        assert root.rule == "sglang/health-check"


def test_probes_that_fail_between_batches_are_a_slow_server(rooted):
    """It served after the last of them."""
    probes = [PROBE.format(minute) for minute in (11, 12, 13, 14)]
    assert rooted(PREFILL.format(10), *probes, PREFILL.format(14)) == ("healthy", None)
