"""The parser of a command's arguments, for what `triage.cli.words` does not read."""

from __future__ import annotations

import argparse
import os

from triage.model import TriageError

# Its few words go through gettext, which loads `locale` and looks for catalogues; triage speaks English.
argparse._ = str  # type: ignore[attr-defined]


class _Help(argparse.RawDescriptionHelpFormatter):
    """Knows how wide the terminal is without `shutil`, which loads what packs archives."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


class _Parser(argparse.ArgumentParser):
    """Says one clear line and ends with 2, instead of printing the whole usage."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise TriageError(f"{message} (`{self.prog} --help` shows how)")


def parser_for(name: str, help_text: str) -> argparse.ArgumentParser:
    """Take a command's name and purpose; return its empty parser."""
    return _Parser(
        prog=f"triage {name}",
        description=help_text[:1].upper() + help_text[1:] + ".",
        formatter_class=_Help,
        allow_abbrev=False,
    )
