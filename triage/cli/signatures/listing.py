"""`triage signatures list`, `search` and `schema`."""

from __future__ import annotations

import sys

from triage.cli.signatures import packs_option
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from triage.library import Library


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    """Add the options of one of the three."""
    if name == "list":
        parser.add_argument("area", nargs="?", help="only those of one area, such as sglang or nccl")
    elif name == "search":
        parser.add_argument("text", nargs="+")
    if name != "schema":
        packs_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print what was asked for; return 0."""
    if args.action == "schema":
        import json

        from triage.library.schema import json_schema

        print(json.dumps(json_schema(), indent=1))
        return 0
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
