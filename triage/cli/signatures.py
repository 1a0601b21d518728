"""`triage signatures list|search|check|schema`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from triage.model import TriageError

if TYPE_CHECKING:
    from triage.library import Library


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    one = actions.add_parser("list", help="every signature: id and title")
    one.add_argument("area", nargs="?", help="only those of one area, such as sglang or nccl")
    _packs(one)
    two = actions.add_parser("search", help="signatures that mention a text")
    two.add_argument("text", nargs="+")
    _packs(two)
    three = actions.add_parser("check", help="load and lint signature files")
    three.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files or folders (default: those in use)")
    _packs(three)
    actions.add_parser("schema", help="the JSON Schema of the format, for editors")
    parser.epilog = """\
examples:
  triage signatures list systemd
  triage signatures search out of memory
  triage signatures check my-signatures/
"""


def _packs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )


def run(args: argparse.Namespace) -> int:
    """Do what was asked; return 0, or 1 where a check found something."""
    if args.action == "schema":
        import json

        from triage.library.schema import json_schema

        print(json.dumps(json_schema(), indent=1))
        return 0
    if args.action == "check":
        return _check(args.paths, args.signatures)
    from triage.library import load

    library = load(args.signatures)
    rows = _listed(library, args.area) if args.action == "list" else _found(library, " ".join(args.text))
    if not rows:
        raise TriageError("no signature fits; `triage signatures list` shows all")
    _print(rows)
    for problem in library.problems:
        print(f"triage: left out: {problem}", file=sys.stderr)
    return 0


def _listed(library: Library, area: str | None) -> list[tuple[str, str]]:
    return [(one.id, one.title) for one in library.signatures if area is None or one.id.partition("/")[0] == area]


def _found(library: Library, text: str) -> list[tuple[str, str]]:
    import json

    words = text.lower().split()
    rows = []
    for one in library.signatures:
        said = f"{one.id} {json.dumps(one.record, ensure_ascii=False)}".lower()
        if all(word in said for word in words):
            rows.append((one.id, one.title))
    return rows


def _print(rows: list[tuple[str, str]]) -> None:
    from triage.report.text import visible

    width = max(len(name) for name, _ in rows)
    for name, title in rows:
        print(f"{name:<{width}}  {visible(title)}")


def _check(paths: list[Path], packs: list[Path]) -> int:
    from triage.data import folder
    from triage.library.lint import check

    places = paths or [folder("signatures"), *packs]
    for place in places:
        if not place.exists():
            raise TriageError(f"there is no {place}")
    issues = check(places)
    for issue in issues:
        print(issue)
    errors = sum(issue.severity == "error" for issue in issues)
    print(f"{errors} errors, {len(issues) - errors} warnings")
    return 1 if errors else 0
