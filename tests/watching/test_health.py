"""A health endpoint that is asked."""

import socket
import threading

import pytest

from triage.model import TriageError
from triage.watching.health import Probe, ask, check_url

MODELS = b'{"object": "list", "data": [{"id": "x", "object": "model"}]}'


@pytest.mark.parametrize(
    ("path", "answer", "state"),
    [
        ("/health", (200, b""), "ok"),
        ("/health_generate", (204, b""), "ok"),
        ("/health", (503, b"starting"), "starting"),
        ("/health", (404, b"no"), "wrong"),
        ("/health", (302, b""), "wrong"),
        ("/v1/models", (200, MODELS), "ok"),
        ("/v1/models", (200, b'{"data": []}'), "wrong"),
        ("/v1/models", (200, b"<html>"), "wrong"),
        ("/v1/models", (200, b"[" * 100_000), "wrong"),
        ("/v1/models", (200, b'{"data": [{"id": ""}]}'), "wrong"),
        ("/v1/models", (401, b""), "wrong"),
    ],
)
def test_what_an_answer_means(endpoint, path, answer, state):
    """2xx is up, /v1/models only with a model's id; 503 is starting; redirects are not followed."""
    endpoint.answer = answer
    assert ask(check_url(endpoint.url + path)).state == state


def test_nobody_listens():
    """A refused connection is the normal answer before the server has bound its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = check_url(f"http://127.0.0.1:{free.getsockname()[1]}/health")
    assert ask(url).state == "refused"


def test_a_server_that_does_not_answer_is_given_up(endpoint):
    """It took the question and says nothing."""
    endpoint.delay = 5
    assert ask(check_url(endpoint.url), timeout=0.3).state == "silent"


@pytest.mark.parametrize(
    "said", [b"", b"\0\xff garbage\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"]
)
def test_whatever_stands_there_raises_nothing(said):
    """Not every port is a web server's."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            client, _ = server.accept()
            client.recv(1000)
            client.sendall(said)
            client.close()

        threading.Thread(target=serve, daemon=True).start()
        assert (
            ask(check_url(f"http://127.0.0.1:{server.getsockname()[1]}/health"), timeout=5).state != "ok"
            or b"200" in said
        )


@pytest.mark.parametrize(
    "text",
    ["", "localhost:30000", "/health", "ftp://h/x", "http://", "http://h:99999/", "http://h:0/", "http://u:p@h/health",
     "http://h/a b", "http://h/\x1b[2J", "http://h/\n", "http://[::1/"],
)  # fmt: skip
def test_what_is_no_url_is_refused(text):
    """In one line, before anything is watched."""
    with pytest.raises(TriageError, match="--health"):
        check_url(text)


def test_one_question_at_a_time(endpoint):
    """However slowly it answers."""
    endpoint.delay = 0.3
    heard = []
    done = threading.Event()

    def tell(answer):
        heard.append(answer)
        if len(heard) == 2:
            done.set()

    probe = Probe(check_url(endpoint.url), tell, interval=0.01)
    probe.start()
    probe.hurry()
    while endpoint.asked < 3:
        done.wait(0.05)
    endpoint.answer = (200, b"")
    assert done.wait(30)
    probe.stop()
    assert endpoint.most == 1


def test_only_what_differs_is_told(endpoint):
    """Refused a hundred times is one thing to say."""
    heard = []
    done = threading.Event()
    probe = Probe(check_url(endpoint.url), lambda answer: (heard.append(answer.state), done.set()), interval=0.01)
    probe.start()
    assert done.wait(30)
    while endpoint.asked < 10:
        done.wait(0.01)
    probe.stop()
    assert heard == ["starting"]
