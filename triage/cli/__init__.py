"""The command line. Only the module of the command that was asked for is imported, so that starting costs little."""

from __future__ import annotations

import gc
import os
import sys

from triage import __version__

TYPE_CHECKING = False  # importing it from typing would take longer than `--version` does
if TYPE_CHECKING:
    from collections.abc import Sequence

# name -> (module, what it does); the order is that of the help.
COMMANDS = {
    "journal": ("triage.cli.journal", "diagnose a systemd unit from the journal"),
    "watch": ("triage.cli.watch", "follow a unit's start until it is ready, or say why it is not"),
    "run": ("triage.cli.run", "run a command unchanged, and say why it failed if it does"),
    "logs": ("triage.cli.logs", "diagnose log files, or what is piped in"),
    "diff": ("triage.cli.diff", "compare a run that went well with one that failed"),
    "explain": ("triage.cli.explain", "show what a signature means, when it holds and what mends it"),
    "patch": ("triage.cli.patch", "check, apply or revert a signature's edit of installed code"),
    "signatures": ("triage.cli.signatures", "list and check signatures"),
    "install-hook": ("triage.cli.install_hook", "have systemd run triage each time that a unit has failed"),
    "remove-hook": ("triage.cli.remove_hook", "take that away again"),
    "to-journal": ("triage.cli.to_journal", "diagnose a unit and write that into the journal (the hook runs it)"),
    "demo": ("triage.cli.demo", "diagnose a real failure that ships with triage"),
}

# Objects after which the youngest are looked through, and how often that is for the older ones.
_GARBAGE = (50_000, 20, 20)

_USAGE = """\
usage: triage COMMAND ...
       ... | triage

Reads the logs of a failing LLM inference service and says what broke, on which rank, why, and what to do.

commands:
{commands}

examples:
  triage journal sglang-k26-pp8           the last run of that unit, from the journal
  triage logs server.log old.log.gz       log files, compressed or not
  docker logs my-sglang 2>&1 | triage     whatever prints a log
  triage demo                             a real failure, diagnosed

`triage COMMAND --help` shows a command's options. `triage --version` shows the version.
Exit status: 0 nothing wrong, 1 failed and diagnosed, 3 failed and unknown, 2 bad usage or unreadable input.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Take the arguments (those of the process by default); run the command; return its exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] in (["--version"], ["-V"]):
        print(f"triage {__version__}")
        return 0
    if words[:1] in (["--help"], ["-h"], ["help"]) or (not words and sys.stdin is not None and sys.stdin.isatty()):
        print(_usage(), end="")
        return 0 if words else 2
    from triage.cli.common import guarded

    if argv is not None:
        return guarded(lambda: _dispatch(words))
    # What a diagnosis makes is hardly ever a cycle, and all of it goes with the process: to look for garbage in it, the
    # last time at the end, would take a fifth of the time of a small log.
    gc.set_threshold(*_GARBAGE)
    try:
        return guarded(lambda: _dispatch(words))
    finally:
        gc.freeze()


def _usage() -> str:
    rows = "\n".join(f"  {name:<14}{text}" for name, (_, text) in COMMANDS.items())
    return _USAGE.format(commands=rows)


def _dispatch(words: list[str]) -> int:
    from triage.cli.words import plainly
    from triage.model import TriageError

    name = words[0] if words else "logs"
    if name.startswith("-") and name != "-":
        name, words = "logs", ["logs", *words]
    elif not words:
        words = ["logs", "-"]
    if name not in COMMANDS:
        import difflib

        near = difflib.get_close_matches(name, COMMANDS, 1)
        hint = f"did you mean `triage {near[0]}`?" if near else "`triage --help` lists the commands"
        if os.access(name, os.R_OK):
            hint = "`triage logs FILE` reads a log"
        raise TriageError(f"there is no command {name!r}: {hint}")
    module = __import__(COMMANDS[name][0], fromlist=["run"])
    args = plainly(module.configure, words[1:])
    if args is None:
        from triage.cli.parser import parser_for

        parser = parser_for(name, COMMANDS[name][1])
        module.configure(parser)
        args = parser.parse_args(words[1:])
    status: int = module.run(args)
    return status
