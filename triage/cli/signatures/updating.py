"""`triage signatures update FILE`: installs a pack that was brought here by hand; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def configure(name: str, parser: argparse.ArgumentParser) -> None:  # noqa: ARG001 - there is one action here
    """Add the options."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a pack: .tar.gz, .zip, or a folder")
    parser.epilog = """\
A pack is a folder with signatures/AREA/SLUG.yaml and fixtures/AREA/SLUG/*.log inside. It goes to
$XDG_DATA_HOME/triage, where it overrides signatures of the same id; what you have there otherwise stays.
"""


def run(args: argparse.Namespace) -> int:
    """Check and install the pack; print what changed; return 1 where it was refused."""
    from triage.authoring.install import install, user_pack
    from triage.report.text import one_line

    target = user_pack()
    done = install(args.file, target)
    if done.refused:
        errors = [issue for issue in done.issues if issue.severity == "error"]
        for issue in errors:
            print(one_line(str(issue)))
        raise TriageError(f"{args.file}: {len(errors)} errors, nothing was installed")
    for word, names in (("added", done.added), ("changed", done.changed)):
        for one in names:
            print(f"{word:<8}{one}")
    print(
        f"{len(done.added)} signatures added, {len(done.changed)} changed, {len(done.same)} as they were, "
        f"{done.fixtures} fixtures written, in {target}"
    )
    if done.kept:
        print(f"not in this pack, and kept: {', '.join(done.kept[:10])}{' ..' if len(done.kept) > 10 else ''}")
    if done.changed:
        print("what was replaced lies beside it as .old")
    warnings = len(done.issues)
    if warnings:
        print(f"{warnings} warnings: triage signatures check {target / 'signatures'}")
    return 0
