"""`--exec COMMAND`: hands each failure, as JSON on standard input, to a command; following never waits for it.

The command is an argument list, never a shell's text, and nothing of a log is in it. One runs at a time; a few failures
wait, more are dropped and counted.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading

from triage.model import TriageError

# Seconds that a command may take, and failures that may wait for it.
TIMEOUT = 60.0
_WAITING = 16


class Hand:
    """Runs the command for one document after the other."""

    def __init__(self, command: str) -> None:
        """Take the command as the user wrote it. Raises `TriageError` for one that can't be run."""
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise TriageError(f"--exec {command}: {error}".lower()) from None
        if not self._words:
            raise TriageError("--exec needs a command")
        if shutil.which(self._words[0]) is None:
            raise TriageError(f"--exec: there is no program {self._words[0]}")
        self._waiting: queue.Queue[str | None] = queue.Queue(_WAITING)
        self._dropped = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def give(self, document: str) -> None:
        """Take a document; hand it over when its turn comes, or drop it if too many wait."""
        try:
            self._waiting.put_nowait(document)
        except queue.Full:
            self._dropped += 1
            self._say(f"is too slow: {self._dropped} failures were not handed over")

    def close(self, *, wait: bool) -> None:
        """Let the command finish what waits, or end it."""
        if wait:
            self._waiting.put(None)
            self._thread.join()
            return
        self._over = True
        process = self._process
        if process is not None:
            _kill(process)

    def _work(self) -> None:
        while not self._over:
            document = self._waiting.get()
            if document is None:
                return
            self._run(document.encode())

    def _run(self, document: bytes) -> None:
        try:
            # Its own output must not stand among the documents on standard output.
            process = self._process = subprocess.Popen(
                self._words, stdin=subprocess.PIPE, stdout=sys.__stderr__ or subprocess.DEVNULL, start_new_session=True
            )
        except OSError as error:
            self._say(f"can't be run: {(error.strerror or str(error)).lower()}")
            return
        if self._over:
            _kill(process)
        try:
            process.communicate(document, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self._say(f"took longer than {TIMEOUT:.0f} s and was ended")
        finally:
            _kill(process)
            process.wait()
            self._process = None
        if process.returncode > 0:
            self._say(f"ended with status {process.returncode}")

    def _say(self, what: str) -> None:
        print(f"triage: --exec {self._words[0]} {what}", file=sys.stderr)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the command and what it started."""
    if process.poll() is not None:
        return  # its number may be another's by now
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
