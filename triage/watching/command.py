"""Runs a command as if triage were not there: what it prints goes where it would go, what it is sent reaches it.

The command stays in triage's own process group and keeps its standard input, so job control, passwords that are asked
for and signals from the keyboard work as without triage. Where standard output or standard error is a terminal the
command gets a pseudo-terminal of that size, so that progress bars live; where it is not, a pipe.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import termios
import threading
import time

from triage.model import TriageError
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_BLOCK = 64 << 10
# What its children still print after the command has ended is waited for until nothing comes for so long, and so long
# altogether: a daemon may print for ever.
_LINGER = 0.25
_LONGEST_LINGER = 2.0
# Where other threads run beside this one they may take the signal that tells of the end.
_LOOK = 0.5
_PASSED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_ENDING = frozenset((signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP))
_TAKEN = {*_PASSED, signal.SIGWINCH, signal.SIGCHLD}
# sigaction(2): sent by the kernel, as the terminal's driver does, and then to the whole process group.
_SI_KERNEL = 0x80
_NOT_FOUND, _NOT_RUNNABLE = 127, 126


class CommandError(TriageError):
    """A command that can't be run; `status` is what a shell gives then."""

    def __init__(self, name: str, error: OSError) -> None:
        super().__init__(f"cannot run {name}: {(error.strerror or str(error)).lower()}")
        self.status = _NOT_FOUND if error.errno == errno.ENOENT else _NOT_RUNNABLE


@dataclass(slots=True)
class Ended:
    """How a command ended. `status` is a shell's: the exit code, or 128 and the signal's number.

    `told_to` says that it was sent a signal that ends programs, through triage or from the keyboard, or that whoever
    read its output went away.
    """

    status: int
    signal: str | None = None
    told_to: bool = False


class Command:
    """One command that runs. Each block that it prints is given to `keep` after it was passed on."""

    def __init__(self, words: Sequence[str], keep: Callable[[bytes], None]) -> None:
        """Take the command, an argument list, and who keeps what it prints."""
        self.mid_line = False
        self._words = list(words)
        self._keep = keep
        self._told = False
        self._over = False
        self._terminal: int | None = None
        self._routes: dict[int, int] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._selector = selectors.DefaultSelector()

    def run(self, started: Callable[[], None] | None = None) -> Ended:
        """Run it to its end, with `started` called when it runs: a thread that was there before would get the signals.

        Raises `CommandError` where it can't be run.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
        wake, waker = os.pipe()
        listener = threading.Thread(target=self._listen, args=(waker,), name="signals", daemon=True)
        try:
            self._start(before)
            listener.start()
            if started is not None:
                started()
            self._selector.register(wake, selectors.EVENT_READ)
            self._pass_on(wake)
            assert self._process is not None
            code = self._process.wait()
        finally:
            for source in list(self._routes):
                self._drop(source)
            self._selector.close()
            self._over = True
            if listener.ident is not None:
                signal.pthread_kill(listener.ident, signal.SIGCHLD)
                listener.join()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            os.close(wake)
            os.close(waker)
        if code >= 0:
            return Ended(code, None, self._told)
        return Ended(128 - code, _name(-code), self._told)

    def _start(self, mask: set[signal.Signals] | set[int]) -> None:
        out, err = os.isatty(1), os.isatty(2)
        ends: dict[int, int] = {}
        ours: list[tuple[int, int]] = []
        if out or err:
            self._terminal, theirs = os.openpty()
            _as_written(theirs)
            _fit(self._terminal, 1 if out else 2)
            ours.append((self._terminal, 1 if out else 2))
            ends.update({number: theirs for number, yes in ((1, out), (2, err)) if yes})
        for number in (1, 2):
            if number not in ends:
                source, ends[number] = os.pipe()
                ours.append((source, number))
        try:
            self._process = subprocess.Popen(
                self._words,
                stdout=ends[1],
                stderr=ends[2],
                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),  # noqa: PLW1509  no thread yet
            )
        except OSError as error:
            raise CommandError(self._words[0], error) from None
        finally:
            for end in set(ends.values()):
                os.close(end)
        for source, number in ours:
            self._routes[source] = number
            self._selector.register(source, selectors.EVENT_READ)

    def _pass_on(self, wake: int) -> None:
        """Pass on what is printed until all is closed, or the command has ended and only others print.

        A block is as large as a pipe, so the first one after the end holds all that the command itself left in it.
        """
        assert self._process is not None
        ended = False
        until = 0.0
        emptied: set[int] = set()
        while self._routes or not ended:
            ready = {key.fd for key, _ in self._selector.select(_LINGER if ended else _LOOK)}
            if ended and (not ready or (time.monotonic() > until and ready - {wake} <= emptied)):
                return
            for source in ready - {wake}:
                self._move(source)
                if ended:
                    emptied.add(source)
            if wake in ready:
                os.read(wake, 512)
            if not ended and self._process.poll() is not None:
                ended, until = True, time.monotonic() + _LONGEST_LINGER

    def _move(self, source: int) -> None:
        try:
            block = os.read(source, _BLOCK)
        except OSError:
            block = b""  # a pseudo-terminal that nobody holds any more
        if not block:
            self._drop(source)
            return
        self._keep(block)
        self.mid_line = not block.endswith(b"\n")
        try:
            _write(self._routes[source], block)
        except OSError:
            # Whoever reads went away. The command learns of it as it would without triage: nobody reads it any more.
            self._told = True
            self._drop(source)

    def _drop(self, source: int) -> None:
        del self._routes[source]
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(source)
        os.close(source)
        if source == self._terminal:
            self._terminal = None

    def _listen(self, waker: int) -> None:
        """Take the signals: a new size, the end of the command, and those that it is to be sent."""
        while not self._over:
            info = signal.sigwaitinfo(_TAKEN)
            number = info.si_signo
            if number == signal.SIGCHLD:
                with contextlib.suppress(OSError):
                    os.write(waker, b"\0")
                continue
            if number == signal.SIGWINCH:
                self._resize()
            elif number in _ENDING:
                self._told = True
            # What comes from the keyboard reached the command too: it is in the same process group.
            if (info.si_code != _SI_KERNEL or number == signal.SIGWINCH) and self._process is not None:
                self._process.send_signal(number)

    def _resize(self) -> None:
        terminal = self._terminal
        if terminal is not None:
            with contextlib.suppress(OSError):
                _fit(terminal, 1 if os.isatty(1) else 2)


def _as_written(terminal: int) -> None:
    """Let what is written to a terminal come out as it is: the real one adds its carriage returns itself."""
    settings = termios.tcgetattr(terminal)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSANOW, settings)


def _fit(terminal: int, like: int) -> None:
    """Give a terminal the size of another one."""
    import fcntl

    size = fcntl.ioctl(like, termios.TIOCGWINSZ, bytes(8))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


def _write(target: int, block: bytes) -> None:
    view = memoryview(block)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            import select

            select.select([], [target], [])


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"
