"""`triage logs -f`: tells each failure of a log that is being written as soon as it is diagnosed."""

from __future__ import annotations

import queue
import sys
import threading
import time

from triage import __version__
from triage.model import Report, Tool, TriageError, Verdict
from triage.records import dataclass
from triage.typed import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from triage.cli.handing import Hand
    from triage.follow import Follower, News
    from triage.library import Library
    from triage.model import Line

# What belongs to a failure is written within so many seconds.
LULL = 2.0
# What a dying unit's processes still write comes this soon, and is not waited for longer than the second time.
SETTLED, _AFTER_DEATH = 0.3, 0.8
# Blocks of text, or batches of entries, that wait: memory, and no speed.
_WAITING_BLOCKS = 4
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
    check_output(args)
    library = load(args.signatures)
    for problem in library.problems:
        print(f"triage: signature left out: {one_line(str(problem))}", file=sys.stderr)
    name = "stdin" if path == "-" else path
    follower = Follower(name, library, Options(library=library))
    with output(args) as out:
        teller = Teller(args, library, out)
        run(follower, tail(path), name, teller.tell)
    report = Report(tool(library), incidents=list(follower.last.values()))
    report.verdicts = [Verdict(n, None, summary(incident)) for n, incident in enumerate(report.incidents, 1)]
    return exit_status(report)


def check_output(args: argparse.Namespace) -> None:
    """Take the options; raise `TriageError` for what cannot be printed of a log that goes on."""
    if args.format not in ("text", "jsonl"):
        raise TriageError(f"-f prints text or jsonl, not {args.format}")
    if args.explain:
        raise TriageError("-f does not go with --explain: look again without -f once the failure is told")


class Reader(Protocol):
    """Makes lines of what a stream gives: `triage.lines.live.LiveText` of bytes, `LiveEntries` of journal entries."""

    def feed(self, piece: Any) -> list[Line]: ...

    def pause(self) -> list[Line]: ...

    def finish(self) -> list[Line]: ...


@dataclass
class Stream:
    """What is followed: its pieces as they come, what makes lines of them, the follower's name for it (None: its own).

    `quiet` is when nothing will have come for a while, None where nothing waits for that.
    """

    pieces: Iterator[Any]
    reader: Reader
    source: str | None = None
    quiet: float | None = None


def run(follower: Follower, blocks: Iterator[bytes], name: str, tell: Callable[[News], None]) -> None:
    """Take a follower and the blocks of a log as they are written; tell what is new until the blocks end.

    It looks when nothing has come for two seconds, when a failure is two seconds old, and in less than a second when a
    unit died. Raises what reading the blocks raises.
    """
    from triage.lines.live import LiveText

    run_streams(follower, [Stream(blocks, LiveText(name))], tell)


def run_streams(follower: Follower, streams: Sequence[Stream], tell: Callable[[News], None]) -> None:
    """Take a follower and several streams; tell what is new, as `run` does, until all of them have ended.

    Raises what reading the last of them raises; of the others that is printed.
    """
    waiting: queue.Queue[tuple[Stream, Any]] = queue.Queue(_WAITING_BLOCKS)
    for stream in streams:
        threading.Thread(target=_pump, args=(stream, waiting), daemon=True).start()
    left = len(streams)
    stale: float | None = None  # the first failure that was not told yet will be old enough then
    dead: float | None = None  # a unit's death that was not told yet was read then
    lull = LULL
    began_reading = False
    while left:
        moments = [moment for moment in (stale, *(stream.quiet for stream in streams)) if moment is not None]
        try:
            stream, got = waiting.get(timeout=max(min(moments) - time.monotonic(), 0.0) if moments else None)
        except queue.Empty:
            for stream in streams:
                if stream.quiet is not None and time.monotonic() >= stream.quiet:
                    follower.feed(stream.reader.pause(), stream.source)
                    follower.flush(stream.source)
                    stream.quiet = None
            now = True
        else:
            if got is None or isinstance(got, BaseException):
                left -= 1
                if left:
                    if got is not None:
                        print(f"triage: {got}", file=sys.stderr)
                elif got is not None and not began_reading:
                    raise got
                stream.quiet = None
                follower.feed(stream.reader.finish(), stream.source)
                if not left:
                    _tell_all(follower.close(), tell)
                    if got is not None:
                        raise got
                continue
            began_reading = True
            follower.feed(stream.reader.feed(got), stream.source)
            at = time.monotonic()
            stream.quiet = at + (SETTLED if follower.died else LULL)
            if follower.died:
                dead = dead or at
            now = (dead is not None and at >= dead + _AFTER_DEATH) or (stale is not None and at >= stale)
            if now and dead is not None:
                follower.flush(stream.source)
        if now and follower.unsaid:
            began = time.monotonic()
            dead = None
            _tell_all(follower.look(), tell)
            lull = max(LULL, _SHARE * (time.monotonic() - began))
        stale = (stale if stale is not None and not now else time.monotonic() + lull) if follower.unsaid else None


def _pump(stream: Stream, waiting: queue.Queue[tuple[Stream, Any]]) -> None:
    """Move pieces from a stream to whoever waits for them with a time limit; what ends the reading goes last."""
    end: BaseException | None = None
    try:
        for piece in stream.pieces:
            waiting.put((stream, piece))
    except (TriageError, OSError) as error:
        end = error
    waiting.put((stream, end))


def _tell_all(news: list[News], tell: Callable[[News], None]) -> None:
    for one in news:
        tell(one)


def tool(library: Library) -> Tool:
    """Take the signatures; return what a report says of the triage that made it."""
    return Tool(__version__, len(library.signatures), library.digest)


class _Stdout:
    def __enter__(self) -> IO[str]:
        return sys.stdout

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()


def output(args: argparse.Namespace) -> _Stdout | IO[str]:
    """Take the options; return where to print. Raises `TriageError` for a file that can't be written."""
    if args.output_file is None:
        return _Stdout()
    try:
        file: IO[str] = args.output_file.open("w", encoding="utf-8")
    except OSError as error:
        raise TriageError(f"cannot write {args.output_file}: {error.strerror}") from error
    return file


class Teller:
    """Prints news, each at once: as text, or one incident a line."""

    def __init__(
        self, args: argparse.Namespace, library: Library, out: IO[str], hand: Hand | None = None, *, hosts: bool = False
    ) -> None:
        """Take the options, the signatures, where to print, and what runs the command of `--exec`.

        With `hosts` every line names the host.
        """
        self._args = args
        self._hosts = hosts
        self._hand = hand
        self._library = library
        self._out = out
        self._count = 0

    def tell(self, news: News) -> None:
        """Print what is new."""
        whole = news.kind in ("incident", "end")
        root_again = news.kind == "again" and news.failure is not None and news.failure.role == "root"
        if self._hand is not None and (news.kind == "incident" or root_again):
            self._hand.give(self._document(news))
        if self._args.format == "jsonl":
            if whole or root_again:
                self._report(news)
        elif whole:
            if self._count:
                self._out.write("\n")
            self._report(news)
        else:
            self._line(news)
        self._count += 1
        self._out.flush()

    def _as_report(self, news: News) -> Report:
        from triage.report import summary

        incident = news.incident
        root = next((failure.id for failure in incident.failures if failure.role == "root"), None)
        return Report(tool(self._library), [Verdict(1, root, summary(incident))], [incident])

    def _document(self, news: News) -> str:
        from triage.report import render

        return render(self._as_report(news), "jsonl", mask=not self._args.no_mask)

    def _report(self, news: News) -> None:
        from triage.report import write

        write(
            self._as_report(news),
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
        name = service(news.incident)
        hosts = {member.host for member in news.incident.members if member.host}
        if self._hosts and len(hosts) == 1:
            name = f"{name} on {hosts.pop()}"
        text = f"{name}: {happened(failure)}{known}{role}{times}"
        text = one_line(text if self._args.no_mask else mask(text))
        self._out.write(encodable(f"  {clock(at.time, at.zoned, local=True)} {text}".rstrip() + "\n", self._out))


_ROLES = {"recovered": "outlived", "unrelated": "no harm seen", "consequence": "after the first"}
