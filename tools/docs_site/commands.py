"""The reference of the command line, made from the parsers that read it."""

from __future__ import annotations

import argparse
import importlib
import os
from typing import TYPE_CHECKING
from unittest.mock import patch

from docutils import nodes
from docutils.parsers.rst import Directive

from docs_site import markup

if TYPE_CHECKING:
    from collections.abc import Iterator


class CommandLine(Directive):
    """A section for each command: usage, arguments, options, examples."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return list(sections())


def sections() -> list[nodes.section]:
    """Return the section of every command."""
    return [_section(parser) for parser in parsers()]


def parsers() -> list[argparse.ArgumentParser]:
    """Return the parser of every command, in the order of the help."""
    from triage.cli import COMMANDS
    from triage.cli.parser import parser_for

    found = []
    for name, (module, purpose) in COMMANDS.items():
        parser = parser_for(name, purpose)
        importlib.import_module(module).configure(parser)
        found.append(parser)
    return found


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield what a parser takes, without `--help` and the actions below it."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list them
        if not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction)):  # noqa: SLF001
            yield action


def below(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return the parsers of a command's own actions, such as `triage signatures check`."""
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]  # noqa: SLF001
    return [inner for group in groups for inner in group.choices.values()]


def _section(parser: argparse.ArgumentParser) -> nodes.section:
    made = markup.section(parser.prog)
    if parser.description:
        made += markup.paragraph(parser.description)
    inner = below(parser)
    if not inner:
        made += markup.block(_usage(parser), "text")
    found = [_option(action) for action in options(parser)]
    if found:
        rows = nodes.definition_list(classes=["options"])
        rows += found
        made += rows
    if parser.epilog:
        made += _examples(parser.epilog)
    made += [_section(one) for one in inner]
    return made


def _usage(parser: argparse.ArgumentParser) -> str:
    # argparse breaks lines at the width of the terminal that the site is built in, and colours them there.
    with patch.dict(os.environ, {"COLUMNS": "88", "NO_COLOR": "1"}):
        return parser.format_usage().removeprefix("usage: ").rstrip()


def _option(action: argparse.Action) -> nodes.definition_list_item:
    made = nodes.definition_list_item()
    value = action.metavar or (None if action.nargs == 0 else action.dest.upper())
    name = " ".join(value) if isinstance(value, tuple) else value
    term = nodes.term()
    spellings = action.option_strings or [name or action.dest]
    for number, spelling in enumerate(spellings):
        with_value = f"{spelling} {name}" if action.option_strings and name else spelling
        term += [*([nodes.Text(", ")] if number else []), markup.code(with_value)]
    made += [term, nodes.definition("", markup.paragraph(_help(action)))]
    return made


def _help(action: argparse.Action) -> str:
    said = (action.help or "").strip()
    choices = ", ".join(f"`{one}`" for one in action.choices) if action.choices and not action.metavar else ""
    return "; ".join(filter(None, (said, f"one of {choices}" if choices else "")))


def _examples(epilog: str) -> list[nodes.Node]:
    """Set an epilog: what is indented are commands, the rest is prose."""
    made: list[nodes.Node] = []
    for paragraph in epilog.strip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        prose = [line for line in lines if line and not line.startswith(" ")]
        code = [line.strip() for line in lines if line.startswith(" ")]
        if prose:
            made.append(markup.paragraph(" ".join(prose).capitalize() if len(prose) == 1 else " ".join(prose)))
        if code:
            made.append(markup.block("\n".join(code), "text"))
    return made
