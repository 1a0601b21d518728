"""What an exception's own stack says of it."""

import pytest

from triage.incident.kinds import ExceptionKinds
from triage.model import ChainLink, ExceptionInfo, Failure, Frame, Position


def failure(exception, *places, ranks=(), chain=()):
    frames = [Frame(file, 1, function) for file, function in places]
    info = ExceptionInfo(exception, "", frames, chain=list(chain))
    return Failure("f1", "exception", "traceback", "", Position(), exception=info, ranks=list(ranks))


def judge(one, engine=True):
    ExceptionKinds(engine=engine).judge(one)
    return one


@pytest.mark.parametrize(
    "outermost",
    [
        ("/usr/local/bin/vllm", "<module>"),
        ("<frozen runpy>", "_run_module_as_main"),
        ("/usr/lib/python3.12/multiprocessing/process.py", "_bootstrap"),
    ],
)
def test_where_a_program_begins_nobody_caught_it(outermost):
    """The interpreter printed it, and the process ended."""
    one = judge(failure("ValueError", outermost, ("/x/vllm/v1/engine/core.py", "step")))
    assert one.fatal
    assert one.level == 0


def test_a_logged_exception_is_caught():
    """Its outermost frame is where it was caught."""
    assert not judge(failure("ValueError", ("/x/vllm/v1/engine/async_llm.py", "output_handler"))).fatal


def test_a_thread_is_no_process():
    """threading's own bootstrap ends the thread only."""
    assert not judge(failure("ValueError", ("/usr/lib/python3.12/threading.py", "_bootstrap_inner"))).fatal


def test_a_script_without_engine_frames_is_another_program():
    """Beside an engine's log it is a client's or a helper's."""
    one = judge(failure("ValueError", ("/opt/app/check.py", "<module>"), ("/opt/app/check.py", "ask")))
    assert one.data["kind"] == "foreign"
    assert not one.fatal
    assert one.level > 2


@pytest.mark.parametrize(
    ("places", "ranks", "engine"),
    [
        ([("/opt/app/run.py", "<module>"), ("/x/site-packages/vllm/entrypoints/llm.py", "__init__")], (), True),
        ([("/opt/app/run.py", "<module>")], ("rank1",), True),
        ([("/opt/app/run.py", "<module>")], (), False),
    ],
)
def test_a_script_that_is_the_service_is_none(places, ranks, engine):
    """It holds the engine, has a rank, or nothing else speaks in the log."""
    one = judge(failure("ValueError", *places, ranks=ranks), engine)
    assert "kind" not in one.data
    assert one.fatal


def test_frames_of_the_whole_chain_tell_a_request():
    """The cause lies below the frames of the web framework, which stand in a later exception."""
    later = ChainLink("ClientConnectorError", "", "cause", [Frame("/x/starlette/routing.py", 1, "app")])
    one = judge(failure("ConnectionRefusedError", ("/x/aiohttp/connector.py", "connect"), chain=[later]))
    assert one.data["kind"] == "request"


def test_the_lifespan_is_no_request():
    """SGLang warms up in starlette's lifespan: what fails there fails the start."""
    one = judge(failure("ValueError", ("/x/starlette/routing.py", "lifespan"), ("/x/sglang/srt/warmup.py", "run")))
    assert one.data["kind"] == "lifespan"
    assert one.level == 0


def test_a_containers_code_makes_its_exit_no_stronger():
    """Docker's line stays the last of all explanations, whatever the code."""
    exit_line = Failure("f1", "exit", "container/terminated", "", Position(), level=2.6, data={"code": "1"})
    assert judge(exit_line).level == 2.6
