"""`triage journal UNIT -f`: tells each failure of a unit, on this host or on others, as soon as it is diagnosed."""

from __future__ import annotations

import signal
import sys

from triage.cli.following import Stream, Teller, check_output, output, run_streams, tool
from triage.model import Report, Verdict
from triage.typed import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from triage.library import Library
    from triage.model import Entry
    from triage.sources.ongoing import Ongoing
    from triage.sources.query import JournalQuery


def follow_journals(args: argparse.Namespace, queries: Sequence[JournalQuery]) -> int:
    """Follow what the queries are about, one for each host, until that ends or somebody ends it.

    Return the exit status of where the services stand then.
    """
    from triage.cli.handing import Hand
    from triage.follow import Follower
    from triage.library import load
    from triage.lines.live import LiveEntries
    from triage.pipeline import Options, exit_status
    from triage.report import summary
    from triage.sources.ongoing import open_ongoing

    check_output(args)
    library = load(args.signatures)
    for problem in library.problems:
        _say(f"signature left out: {problem}")
    hand = Hand(args.exec) if args.exec else None
    options = Options(library=library, together=args.together)
    opened = [open_ongoing(query, _say) for query in queries]
    if len(queries) == 1:
        from triage.sources.live import surroundings

        around = surroundings(queries[0])
        options.facts.update(around.facts)
        opened[0].gaps.extend(around.gaps)
    for each in opened:
        for gap in each.gaps:
            _say(gap.detail)
        for note in each.notes if args.verbose else ():
            _say(note)
    follower = Follower(opened[0].name, library, options)
    streams = [Stream(_batches(each, library), LiveEntries(each.name), each.name) for each in opened]
    before = signal.signal(signal.SIGTERM, _ended)
    if sys.stderr.isatty():
        _say(f"following {', '.join(each.name for each in opened)}: what failed is told here, Ctrl-C ends it")
    finished = False
    try:
        with output(args) as out:
            run_streams(follower, streams, Teller(args, library, out, hand, hosts=len(opened) > 1).tell)
        finished = True
    finally:
        signal.signal(signal.SIGTERM, before)
        for each in opened:
            each.feed.close()
        if hand is not None:
            hand.close(wait=finished)
    report = Report(tool(library), incidents=list(follower.last.values()))
    report.verdicts = [Verdict(n, None, summary(incident)) for n, incident in enumerate(report.incidents, 1)]
    return exit_status(report)


def _batches(ongoing: Ongoing, library: Library) -> Iterator[list[Entry]]:
    from triage.needles import needles
    from triage.reading import skim
    from triage.scan import selector

    patterns = library.line_patterns()
    return skim(ongoing.batches(selector(needles(patterns))), patterns)


def _say(text: str) -> None:
    from triage.report.text import one_line

    print(f"triage: {one_line(text)}", file=sys.stderr, flush=True)


def _ended(*_: object) -> NoReturn:
    """Let what was opened be closed when systemd, or a person, ends the process."""
    raise SystemExit(128 + signal.SIGTERM)
