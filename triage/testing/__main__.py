"""`python -m triage.testing LOG...`: how well one's own logs survive several ranks that print at once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from triage.model import TriageError
from triage.testing.answers import Answers
from triage.testing.shares import MIXES, Share, measure, stacks_of
from triage.testing.weave import PIPE_BUF, Weave, interleave
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EPILOG = """\
Each LOG is the output of one rank. The first table takes the tracebacks out of them and prints, for every number of
ranks and mean run of lines, the share of tracebacks rebuilt exactly, and in brackets the share of mixed logs in which
all were. With --ranks and --runs other numbers are tried. Then the logs themselves are mixed, in whole lines and torn
in blocks of 4,096 bytes, and what that cost is listed: lost failures, another root.
Exit status: 0, or 1 if anything is.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the arguments; print the table and what mixing cost; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m triage.testing", description=__doc__, epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG", help="logs of single ranks")
    parser.add_argument("--ranks", type=_numbers, default=[2, 4, 8], help="numbers of ranks (default: 2,4,8)")
    parser.add_argument("--runs", type=_numbers, default=[1, 2, 5, 20], help="mean runs of lines (default: 1,2,5,20)")
    parser.add_argument("--seeds", type=int, default=20, help="mixed logs for each number (default: 20)")
    args = parser.parse_args(arguments)
    try:
        texts = [path.read_bytes() for path in args.logs]
    except OSError as error:
        print(f"triage: {error.filename}: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 2
    stacks = [stack for text in texts for stack in stacks_of(text)]
    if stacks:
        print(f"{len(stacks)} different tracebacks, {args.seeds} logs each; rebuilt exactly, by mean run of lines")
        for row in table(stacks, args.ranks, args.runs, args.seeds):
            print(row, flush=True)
    else:
        print("no whole traceback in these logs")
    return _compared([text.decode("utf-8", "replace") for text in texts], args.seeds)


def table(stacks: Sequence[Sequence[str]], ranks: Sequence[int], runs: Sequence[int], seeds: int) -> Iterator[str]:
    """Take tracebacks, numbers of ranks, mean runs and the number of seeds; yield the rows of the table."""
    yield f"{'':20}" + "".join(f"{run:>14}" for run in runs)
    for mix in MIXES if len(stacks) > 1 else MIXES[:1]:
        for number in ranks:
            shares = [measure(stacks, mix, number, run, range(seeds)) for run in runs]
            yield f"{f'{number} ranks, {mix}':20}" + "".join(f"{_percent(share):>14}" for share in shares)


def _percent(share: Share) -> str:
    return f"{100 * share.exact / share.stacks:.0f} % ({100 * share.whole / share.logs:.0f})"


def _numbers(text: str) -> list[int]:
    numbers = [int(part) for part in text.split(",")]
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError("numbers from 1 on, with commas")
    return numbers


def _compared(logs: Sequence[str], seeds: int) -> int:
    if len(logs) == 1:
        logs = [logs[0], logs[0]]
    try:
        answers = Answers(logs)
    except TriageError as error:
        print(f"triage: {error}", file=sys.stderr)
        return 2
    found = 0
    for seed in range(seeds):
        for write in (None, PIPE_BUF):
            weave = Weave(run=(1, 2, 5, 20)[seed % 4], write=write)
            for problem in answers.changes(interleave(logs, seed, weave)):
                print(f"seed {seed}, run {weave.run:g}, {'blocks' if write else 'lines'}: {problem}")
                found += 1
    print(f"{2 * seeds} logs of {len(logs)} ranks mixed: {found or 'no'} failures lost or roots changed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
