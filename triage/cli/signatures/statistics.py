"""`triage signatures stats [--logs DIR]`."""

from __future__ import annotations

import sys
from pathlib import Path

from triage.cli.signatures import packs_option
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections import Counter

    from triage.authoring.survey import Survey

_SHOWN = 20


def configure(name: str, parser: argparse.ArgumentParser) -> None:  # noqa: ARG001 - there is one action here
    """Add the options."""
    parser.add_argument("--logs", type=Path, metavar="DIR", help="diagnose every log below DIR, and count")
    packs_option(parser)
    parser.epilog = """\
examples:
  triage signatures stats
  triage signatures stats --logs /var/log/sglang
"""


def run(args: argparse.Namespace) -> int:
    """Print the counts; return 0."""
    from triage.library import load

    library = load(args.signatures)
    if args.logs is not None:
        from triage.authoring.survey import survey

        told = _progress if sys.stderr.isatty() else lambda _: None
        found = survey(args.logs, library, told)
        told("")
        _print_survey(found)
        return 0
    from triage.authoring.select import standing
    from triage.authoring.stats import stats

    counts = stats(library.signatures, [*standing(), *args.signatures])
    print(f"{counts.total} signatures")
    for label, counter in (
        ("areas", counts.areas),
        ("roles", counts.roles),
        ("engines", counts.engines),
        ("conditions", counts.kinds),
        ("fixes", counts.fixes),
        ("fixtures", counts.fixtures),
    ):
        print(f"{label:<11} {_counted(counter)}")
    for label, names in (
        ("no fixture", counts.without_fixture),
        ("no confuser", counts.without_confuser),
        ("no reference", counts.without_reference),
        ("no fix", counts.without_fix),
    ):
        print(f"{label:<13}{len(names)}{': ' if names else ''}{_few(names)}")
    return 0


def _print_survey(found: Survey) -> None:
    from triage.report.text import one_line

    print(f"{found.logs} logs, {sum(found.outcomes.values())} runs: {_counted(found.outcomes)}")
    print(f"of {found.failed} failures {found.explained:.0%} are explained: {_counted(found.confidence)}")
    if found.signatures:
        print(f"by {_counted(found.signatures, _SHOWN)}")
    clusters = found.unexplained()
    if clusters:
        print(f"\nnot explained, {len(clusters)} kinds:")
        for one in clusters[:_SHOWN]:
            print(f"{one.count:>5}  {one.fingerprint}  {one_line(one.says)}")
            print(f"       in {one_line(one.example)}")
        if len(clusters) > _SHOWN:
            print(f"       and {len(clusters) - _SHOWN} more kinds")
    for text in found.unreadable[:_SHOWN]:
        print(f"not read: {one_line(text)}")


def _counted(counter: Counter[str], limit: int = 100) -> str:
    parts = [f"{name} {count}" for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))]
    return ", ".join(parts[:limit]) + (f", and {len(parts) - limit} more" if len(parts) > limit else "") or "none"


def _few(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _progress(name: str) -> None:
    from triage.report.text import one_line

    print(f"\r\x1b[K{one_line(name)[:70]}", end="", file=sys.stderr, flush=True)
