"""`triage logs -f`: tells each failure of a log that is being written as soon as it is diagnosed."""

from __future__ import annotations

import queue
import sys
import threading
import time
from typing import IO, TYPE_CHECKING

from triage import __version__
from triage.model import Report, Tool, TriageError, Verdict

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from triage.follow import Follower, News
    from triage.library import Library

# What belongs to a failure is written within so many seconds.
LULL = 2.0
_WAITING_BLOCKS = 64
# Looking again and again may take one part in so many of the time.
_SHARE = 5


def follow(args: argparse.Namespace) -> int:
    """Follow the log that was named until it ends; return the exit status of where its services stand then."""
    from triage.follow import Follower
    from triage.library import load
    from triage.pipeline import Options, exit_status
    from triage.report import summary
    from triage.report.text import one_line
    from triage.sources.tail import tail

    path = args.files[0] if args.files else "-"
    if len(args.files) > 1 or args.pod or args.together:
        raise TriageError("-f follows one log, without --pod and --together")
    if args.format not in ("text", "jsonl"):
        raise TriageError(f"-f prints text or jsonl, not {args.format}")
    library = load(args.signatures)
    for problem in library.problems:
        print(f"triage: signature left out: {one_line(str(problem))}", file=sys.stderr)
    name = "stdin" if path == "-" else path
    follower = Follower(name, library, Options(library=library))
    with _output(args) as out:
        teller = Teller(args, library, out)
        run(follower, tail(path), name, teller.tell)
    report = Report(_tool(library), incidents=list(follower.last.values()))
    report.verdicts = [Verdict(n, None, summary(incident)) for n, incident in enumerate(report.incidents, 1)]
    return exit_status(report)


def run(follower: Follower, blocks: Iterator[bytes], name: str, tell: Callable[[News], None]) -> None:
    """Take a follower and the blocks of a log as they are written; tell what is new until the blocks end.

    It looks when nothing has come for two seconds, when a failure is two seconds old, and when a unit died. Raises what
    reading the blocks raises.
    """
    from triage.lines.live import LiveText

    text = LiveText(name)
    waiting: queue.Queue[bytes | BaseException | None] = queue.Queue(_WAITING_BLOCKS)
    threading.Thread(target=_pump, args=(blocks, waiting), daemon=True).start()
    quiet: float | None = None  # nothing will have come for a while then
    stale: float | None = None  # the first failure that was not told yet will be old enough then
    lull = LULL
    began_reading = False
    while True:
        moments = [moment for moment in (quiet, stale) if moment is not None]
        try:
            got = waiting.get(timeout=max(min(moments) - time.monotonic(), 0.0) if moments else None)
        except queue.Empty:
            if quiet is not None and time.monotonic() >= quiet:
                follower.feed(text.pause())
                follower.flush()
                quiet = None
            now = True
        else:
            if not isinstance(got, bytes):
                if got is not None and not began_reading:
                    raise got
                follower.feed(text.finish())
                _tell_all(follower.close(), tell)
                if got is not None:
                    raise got
                return
            began_reading = True
            follower.feed(text.feed(got))
            quiet = time.monotonic() + LULL
            if follower.died:
                follower.flush()
            now = follower.died or (stale is not None and time.monotonic() >= stale)
        if now and follower.unsaid:
            began = time.monotonic()
            _tell_all(follower.look(), tell)
            lull = max(LULL, _SHARE * (time.monotonic() - began))
        stale = (stale if stale is not None and not now else time.monotonic() + lull) if follower.unsaid else None


def _pump(blocks: Iterator[bytes], waiting: queue.Queue[bytes | BaseException | None]) -> None:
    """Move blocks from the reader to whoever waits for them with a time limit; what ends the reading goes last."""
    end: BaseException | None = None
    try:
        for block in blocks:
            waiting.put(block)
    except (TriageError, OSError) as error:
        end = error
    waiting.put(end)


def _tell_all(news: list[News], tell: Callable[[News], None]) -> None:
    for one in news:
        tell(one)


def _tool(library: Library) -> Tool:
    return Tool(__version__, len(library.signatures), library.digest)


class _Stdout:
    def __enter__(self) -> IO[str]:
        return sys.stdout

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()


def _output(args: argparse.Namespace) -> _Stdout | IO[str]:
    if args.output_file is None:
        return _Stdout()
    try:
        file: IO[str] = args.output_file.open("w", encoding="utf-8")
    except OSError as error:
        raise TriageError(f"cannot write {args.output_file}: {error.strerror}") from error
    return file


class Teller:
    """Prints news, each at once: as text, or one incident a line."""

    def __init__(self, args: argparse.Namespace, library: Library, out: IO[str]) -> None:
        self._args = args
        self._library = library
        self._out = out
        self._count = 0

    def tell(self, news: News) -> None:
        """Print what is new."""
        whole = news.kind in ("incident", "end")
        if self._args.format == "jsonl":
            if whole or (news.kind == "again" and news.failure is not None and news.failure.role == "root"):
                self._report(news)
        elif whole:
            if self._count:
                self._out.write("\n")
            self._report(news)
        else:
            self._line(news)
        self._count += 1
        self._out.flush()

    def _report(self, news: News) -> None:
        from triage.report import summary, write

        incident = news.incident
        root = next((failure.id for failure in incident.failures if failure.role == "root"), None)
        write(
            Report(_tool(self._library), [Verdict(1, root, summary(incident))], [incident]),
            self._out,
            self._args.format,
            color=self._args.color,
            all_failures=self._args.all_failures,
            mask=not self._args.no_mask,
        )

    def _line(self, news: News) -> None:
        from triage.report.masking import mask
        from triage.report.sentence import happened, service
        from triage.report.terminal import encodable
        from triage.report.text import one_line
        from triage.report.times import clock

        failure = news.failure
        if failure is None:
            return
        at = failure.last if news.kind == "again" and failure.last is not None else failure.first
        known = f" ({failure.diagnoses[0].signature})" if failure.diagnoses else ""
        times = f", {news.times:,} times so far" if news.times > 1 else ""
        role = "" if failure.role == "root" else f", {_ROLES.get(failure.role, failure.role)}"
        text = f"{service(news.incident)}: {happened(failure)}{known}{role}{times}"
        text = one_line(text if self._args.no_mask else mask(text))
        self._out.write(encodable(f"  {clock(at.time, at.zoned, local=True)} {text}".rstrip() + "\n", self._out))


_ROLES = {"recovered": "outlived", "unrelated": "no harm seen", "consequence": "after the first"}
