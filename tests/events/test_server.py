"""What an engine's log tells of its run."""

from triage.events.server import ServerReader
from triage.model import Line


def fed(*texts):
    reader = ServerReader()
    events = [
        event
        for number, text in enumerate(texts)
        for event in reader.feed(Line(text=text, stream="s", offset=number, number=number))
    ]
    reader.settle()
    return events


def test_phases_have_a_begin_and_an_end():
    """Weights begin and end with SGLang's own lines."""
    events = fed(
        "Load weight begin. avail mem=78.12 GB", "Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16"
    )
    assert [(event.rule, event.data.get("edge")) for event in events[:2]] == [
        ("phase/weights", "begin"),
        ("phase/weights", "end"),
    ]
    assert events[2].data == {"architecture": "LlamaForCausalLM"}


def test_readiness_is_the_engines_own_word():
    """SGLang says that it is ready; uvicorn's start-up alone is not that."""
    assert [event.rule for event in fed("The server is fired up and ready to roll!")] == ["ready"]
    assert [event.rule for event in fed("Application startup complete.")] == ["phase/http"]


def test_serving_lines_fold_into_one_event():
    """A million batches are one event that counts."""
    events = fed(*["Decode batch. #running-req: 1"] * 5)
    assert len(events) == 1
    assert events[0].data == {"count": "5", "last": "4"}


def test_requests_are_told_apart_by_status_and_path():
    """A client's 400, the server's 500 and a failed probe are three things."""
    rules = [
        event.rule
        for event in fed(
            '1.2.3.4:5 - "POST /v1/completions HTTP/1.1" 400 Bad Request',
            '1.2.3.4:5 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error',
            '1.2.3.4:5 - "GET /health HTTP/1.1" 503 Service Unavailable',
        )
    ]
    assert rules == ["serving/client-error", "serving/server-error", "serving/probe-failed"]


def test_the_backend_that_is_chosen_later_is_a_fact():
    """SGLang resolves the attention backend after printing its arguments up to 0.5.3."""
    (event,) = fed("Attention backend not explicitly specified. Use fa3 backend by default.")
    assert event.data == {"attention_backend": "fa3"}
