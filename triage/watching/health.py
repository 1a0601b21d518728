"""Asks a server's health endpoint whether it is up: one question at a time, and the next one a while after the answer.

While a server starts, a refused connection and 503 are the normal answers: SGLang binds its port when all schedulers
are ready, and answers 503 on /health until its warm-up went through (from 0.4.10; before that always 200).
"""

from __future__ import annotations

import threading
import time
from urllib.parse import SplitResult, urlsplit

from triage.model import TriageError
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from http.client import HTTPConnection

State = Literal["ok", "refused", "starting", "silent", "wrong"]

# /health_generate has a token generated; a server gives that 20 s (SGLANG_HEALTH_CHECK_TIMEOUT).
_TIMEOUT = 25.0
_INTERVAL = 2.0
_MOST_BODY = 1 << 20
_MODELS = "/v1/models"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one question.

    `ok`: the server is up. `refused`: nobody listens. `starting`: 503. `silent`: no answer in time. `wrong`: an answer
    that a server which is up would not give there; `detail` says which.
    """

    state: State
    detail: str = ""


def check_url(text: str) -> SplitResult:
    """Take the URL of a health endpoint; return its parts. Raises `TriageError` for what cannot be one."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise TriageError(f"--health {text!r}: {error}") from None
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise TriageError(f"--health {text!r} is no URL: write http://127.0.0.1:30000/health")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise TriageError(f"--health {text!r} holds characters that no URL has")
    if parts.username is not None:
        raise TriageError("--health takes no user and password: use an endpoint that wants none, such as /health")
    return parts


def ask(url: SplitResult, timeout: float = _TIMEOUT) -> Answer:
    """Take the parts of a URL; return what its server answers. Redirects are not followed. Nothing is raised."""
    import http.client

    ends = time.monotonic() + timeout
    connection: HTTPConnection | None = None
    try:
        connection = _connection(url, timeout)
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request("GET", path, headers={"User-Agent": "triage", "Connection": "close"})
        response = connection.getresponse()
        body = b""
        while len(body) < _MOST_BODY and time.monotonic() < ends and (piece := response.read1(65536)):
            body += piece
        return _judge(url.path, response.status, body)
    except ConnectionRefusedError:
        return Answer("refused", "connection refused")
    except TimeoutError:
        return Answer("silent", f"no answer within {timeout:.0f} s")
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        gone = isinstance(error, (ConnectionError, http.client.RemoteDisconnected))
        return Answer("refused" if gone else "wrong", reason)
    finally:
        if connection is not None:
            connection.close()


def _connection(url: SplitResult, timeout: float) -> HTTPConnection:
    import http.client

    host = url.hostname or ""
    if url.scheme == "https":
        return http.client.HTTPSConnection(host, url.port, timeout=timeout)
    return http.client.HTTPConnection(host, url.port, timeout=timeout)


def _judge(path: str, status: int, body: bytes) -> Answer:
    if status == 503:
        return Answer("starting", "503")
    if not 200 <= status < 300:
        return Answer("wrong", str(status))
    if path.rstrip("/").endswith(_MODELS) and not _names_model(body):
        return Answer("wrong", f'{status}, but no "id" of a model in the answer')
    return Answer("ok", str(status))


def _names_model(body: bytes) -> bool:
    import json

    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return False
    models = data.get("data") if isinstance(data, dict) else None
    return isinstance(models, list) and any(isinstance(one, dict) and one.get("id") for one in models)


class Probe:
    """Asks until it is stopped, in a thread of its own; tells each answer that differs from the one before."""

    def __init__(self, url: SplitResult, tell: Callable[[Answer], None], interval: float = _INTERVAL) -> None:
        """Take the URL's parts, who is told, and the seconds between an answer and the next question."""
        self._url = url
        self._tell = tell
        self._interval = interval
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="health", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def hurry(self) -> None:
        """Ask again as soon as the question that is open is answered: the server said that it is up."""
        self._wake.set()

    def stop(self) -> None:
        """Ask no more; an open question is left to itself."""
        self._stopped = True
        self._wake.set()

    def _run(self) -> None:
        said: Answer | None = None
        while not self._stopped:
            answer = ask(self._url)
            if answer != said and not self._stopped:
                said = answer
                self._tell(answer)
            self._wake.wait(self._interval)
            self._wake.clear()
