"""`triage signatures new LOG|-`: a first draft of a signature and its fixture."""

from __future__ import annotations

from pathlib import Path

from triage.cli.signatures import packs_option
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from triage.authoring.draft import Draft


def configure(name: str, parser: argparse.ArgumentParser) -> None:  # noqa: ARG001 - there is one action here
    """Add the options."""
    parser.add_argument(
        "log",
        nargs="?",
        type=Path,
        metavar="LOG",
        help="a log that shows the failure, compressed or not; - is standard input",
    )
    parser.add_argument("--from-json", type=Path, metavar="FILE", help="a report of --format json instead of a log")
    parser.add_argument("--id", metavar="AREA/SLUG", help="the signature's id (default: made of what failed)")
    parser.add_argument(
        "--pack", type=Path, metavar="DIR", help="the pack to write into (default: this checkout, else your own pack)"
    )
    packs_option(parser)
    parser.epilog = """\
Nothing is asked, nothing is overwritten, and nothing is written outside of the pack.

examples:
  triage signatures new server.log
  triage signatures new server.log.gz --id sglang/what-happened --pack my-pack
  kubectl logs engine-0 | triage signatures new -
"""


def run(args: argparse.Namespace) -> int:
    """Write the draft; print what was written, what is left to a person, and the next steps; return 0."""
    from triage.authoring.draft import draft
    from triage.authoring.draft.write import default_pack
    from triage.library import load

    if (args.log is None) == (args.from_json is None):
        raise TriageError("name a log, or a report with --from-json FILE")
    pack = args.pack or default_pack()
    library = load(_packs(args.signatures, pack))
    if args.log is not None and args.log != Path("-"):
        _tell(draft(args.log, pack, library, args.id), pack)
        return 0
    import tempfile

    pack.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".draft-", dir=pack) as place:  # a log is read more than once
        if args.log is not None:
            log = Path(place, "standard-input.log")
            _keep(log)
        else:
            from triage.authoring.draft.reports import log_of

            log = Path(place, "report.log")
            log.write_text(log_of(args.from_json), encoding="utf-8", errors="backslashreplace")
        _tell(draft(log, pack, library, args.id), pack)
    return 0


def _keep(log: Path) -> None:
    """Write what comes from standard input to a file."""
    import shutil
    import sys

    if sys.stdin.isatty():
        raise TriageError(
            "nothing is piped into standard input: name a log, or pipe one into `triage signatures new -`"
        )
    with log.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)


def _packs(packs: list[Path], pack: Path) -> list[Path]:
    """Return the packs to load: what is in the pack already counts too."""
    from triage.authoring.select import standing
    from triage.library.packs import files

    inside = pack / "signatures"
    new = pack not in standing() and inside.is_dir() and next(files(inside), None) is not None
    return [*packs, pack] if new else packs


def _tell(made: Draft, pack: Path) -> None:
    from triage.report.text import one_line

    sure = f", {made.confidence} by the new signature" if made.confidence in ("certain", "likely", "possible") else ""
    print(one_line(f"{made.failure}{sure}"))
    for path in made.files:
        print(f"wrote  {path}")
    masked = "1 value is masked" if made.masked == 1 else f"{made.masked} different values are masked"
    print(f"       the fixture has {made.kept:,} of {made.total:,} lines; {masked}")
    if made.known:
        print(f"note   known already: {', '.join(made.known)}; a new one has to say more")
    for note in made.notes:
        print(f"note   {one_line(note)}")
    print("left to you:")
    for issue in made.issues:
        problem = issue.problem
        print(f"       line {problem.line}, {one_line(f'{problem.field}: {problem.message}')} [{issue.name}]")
    signature = made.files[0]
    fixtures = pack / "fixtures" / made.id
    print("next:")
    print(f"  1. write the cause, a reference and a better title into {signature}; read the fixture: may it be public?")
    print(f"  2. put a log that looks alike and means something else into {fixtures}/confuser-WHAT.log")
    print(f"  3. triage signatures check {signature} && triage signatures test {signature}")
