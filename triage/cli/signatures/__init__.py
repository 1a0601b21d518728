"""`triage signatures ACTION`: one module for each action."""

from __future__ import annotations

import argparse
import importlib

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

# action -> (module, what it does); the order is that of the help.
ACTIONS = {
    "list": ("listing", "every signature: id and title"),
    "search": ("listing", "signatures that mention a text"),
    "check": ("checking", "load and lint signature files"),
    "test": ("testing", "run the fixtures of signatures through the whole pipeline"),
    "new": ("drafting", "a first draft of a signature and its fixture, from a log"),
    "stats": ("statistics", "how many signatures of which kind; with --logs how much of a folder they explain"),
    "update": ("updating", "install a pack from an archive or a folder"),
    "schema": ("listing", "the JSON Schema of the format, for editors"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (module, text) in ACTIONS.items():
        action = actions.add_parser(
            name,
            help=text,
            description=text[:1].upper() + text[1:] + ".",
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _module(module).configure(name, action)
    parser.epilog = """\
examples:
  triage signatures list systemd
  triage signatures search out of memory
  triage signatures check my-pack/signatures && triage signatures test my-pack
"""


def run(args: argparse.Namespace) -> int:
    """Do what was asked; return 0, or 1 where a check or test found something."""
    status: int = _module(ACTIONS[args.action][0]).run(args)
    return status


def packs_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that names further packs."""
    from pathlib import Path

    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"triage.cli.signatures.{name}")
