"""A terminal to run triage in, a health endpoint, and starts of real services."""

import contextlib
import fcntl
import http.server
import importlib.util
import os
import pty
import select
import signal
import struct
import termios
import threading
import time
from pathlib import Path

import pytest

_PATIENCE = 60.0


class Terminal:
    """A command in a pseudo-terminal of its own."""

    def __init__(self, command, rows=24, columns=80, env=None):
        self.text = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-256color", **(env or {})})
        self.resize(rows, columns)

    def resize(self, rows, columns):
        """Give it another size, as a window that is dragged."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.fd, keys)

    def wait_for(self, text):
        """Read until a text was shown; what was shown so far."""
        deadline = time.monotonic() + _PATIENCE
        while text not in self.text:
            assert time.monotonic() < deadline, self.text
            if select.select([self.fd], [], [], 1.0)[0]:
                assert self._read(), self.text
        return self.text

    def end(self):
        """Read to the end; what was shown, and the exit status as a shell has it."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if select.select([self.fd], [], [], 1.0)[0] and not self._read():
                break
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        code = os.waitstatus_to_exitcode(status)
        return self.text, code if code >= 0 else 128 - code

    def close(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def _read(self):
        try:
            block = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += block
        return bool(block)


@pytest.fixture
def terminal():
    """Make a terminal with a command in it."""
    with contextlib.ExitStack() as stack:

        def run(*command, **options):
            made = Terminal(list(command), **options)
            stack.callback(made.close)
            return made

        yield run


class Endpoint:
    """A health endpoint: `answer` is (status, body), `asked` counts, `most` is the most questions open at once."""

    def __init__(self):
        self.answer = (503, b"")
        self.asked = self.open = self.most = 0
        self.delay = 0.0
        self._lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with outer._lock:
                    outer.asked += 1
                    outer.open += 1
                    outer.most = max(outer.most, outer.open)
                time.sleep(outer.delay)
                status, body = outer.answer
                with contextlib.suppress(OSError):
                    self.send_response(status)
                    self.send_header("Location", "http://127.0.0.1:1/")
                    self.end_headers()
                    self.wfile.write(body)
                with outer._lock:
                    outer.open -= 1

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def endpoint():
    made = Endpoint()
    yield made
    made.close()


@pytest.fixture(scope="session")
def replaying():
    """Real journals, played again: see replaying.py."""
    path = Path(__file__).with_name("replaying.py")
    spec = importlib.util.spec_from_file_location("triage_replaying", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def library():
    """The signatures that ship with triage."""
    from triage.library import load

    return load()


class Told:
    """A teller that keeps what it is told, as words."""

    due = float("inf")

    def __init__(self):
        self.words = []

    def began(self, watch):
        self.words.append("began")

    def started(self, watch, turn):
        self.words.append("started")

    def moved(self, watch, move):
        self.words.append(f"{move.kind} {move.phase}")

    def behind(self, watch):
        self.words.append(f"behind {','.join(watch.start.behind().ranks)}")

    def answered(self, watch, answer):
        self.words.append(f"health {answer.state}")

    def note(self, text):
        self.words.append(f"note {text}")

    def outlived(self, watch, verdict):
        self.words.append("outlived")

    def draw(self, watch):
        pass

    def ended(self, watch, verdict):
        self.words.append(verdict.kind)

    def close(self):
        pass


@pytest.fixture
def watched(library, monkeypatch):
    """Watch a unit of a host, from an origin; return the verdict, and what was told."""
    from triage.watching.origin import Origin
    from triage.watching.watch import Settings, Watch

    def run(host, unit, origin=None, **settings):
        told = Told()
        monkeypatch.setattr("triage.watching.watch.find_origin", lambda *_, **__: origin or Origin(0, running=True))
        verdict = Watch(host, unit, library, Settings(**{"timeout": 30.0, **settings}), told).run()
        return verdict, told.words

    return run
