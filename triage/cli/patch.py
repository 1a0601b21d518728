"""`triage patch SIGNATURE`: check, apply or revert a signature's edits of installed code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from triage.fixes.edit import Edit, EditPlan
    from triage.typed import TextIO

_WORDS = {
    "applies": "applies",
    "already-fixed": "already fixed",
    "other-release": "not for this release",
    "other-code": "does not apply, other code",
    "no-file": "does not apply, no such file",
    "not-unique": "does not apply, not unique",
    "outside": "refused, outside of the package",
    "unreadable": "does not apply, unreadable",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.add_argument("signature", metavar="SIGNATURE", help="its id, as a report names it")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="show what the edit would do (default)")
    action.add_argument("--apply", action="store_true", help="change the installed files; a backup is kept beside each")
    action.add_argument("--revert", action="store_true", help="put the files back as they were")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--target", type=Path, metavar="DIR", help="a site-packages directory, an environment or a source checkout"
    )
    place.add_argument("--unit", "-u", metavar="UNIT", help="the environment of this systemd unit's interpreter")
    parser.add_argument(
        "--signatures", action="append", type=Path, default=[], metavar="DIR", help="use the signatures of DIR too"
    )
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask before a file is changed")
    parser.epilog = (
        "Exit status: 0 applies, applied, reverted or already fixed; 1 does not apply; 2 bad usage.\n"
        "example:\n"
        "  triage patch sglang/pp-triton-layer0-value-buffer --unit sglang.service\n"
    )


def run(args: argparse.Namespace) -> int:
    """Check, apply or revert; return the exit status."""
    from triage.fixes.apply import mend

    if (args.apply or args.revert) and not args.yes and not (sys.stdin and sys.stdin.isatty()):
        raise TriageError("there is no terminal to ask on: add --yes to change files without a question")
    edits = _edits(args.signature, args.signatures)
    target = _target(args, edits[0].file.split("/", 1)[0])
    files = list(dict.fromkeys(edit.file for edit in edits))
    try:
        if args.revert:
            return _revert(args, edits, files, target)
        if args.apply:
            for note in filter(None, (mend(file, target, edits) for file in files)):
                _say(note)
        return _check_or_apply(args, edits, files, target)
    except TriageError as error:
        _say(f"triage: {error}", sys.stderr)
        return 1


def _edits(name: str, packs: list[Path]) -> list[Edit]:
    from triage.fixes.edit import edits_of
    from triage.library import load

    library = load(packs)
    signature = library.get(name)
    if signature is None:
        near = library.near(name)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise TriageError(f"there is no signature {name!r}{hint} (`triage signatures list` shows all)")
    edits = edits_of(signature)
    if not edits:
        raise TriageError(f"{name} has no edit of installed code; `triage explain {name}` shows its other fixes")
    if len({edit.file.split("/", 1)[0] for edit in edits}) > 1:
        raise TriageError(f"{name} edits more than one package, which is not supported")
    return edits


def _target(args: argparse.Namespace, package: str) -> Path:
    from triage.fixes.target import folder_of, folder_of_unit

    if args.target is not None:
        return folder_of(args.target, package)
    if args.unit is not None:
        return folder_of_unit(args.unit, package)
    raise TriageError(f"say which {package} is meant: --unit UNIT, or --target with the folder where it is installed")


def _check_or_apply(args: argparse.Namespace, edits: list[Edit], files: list[str], target: Path) -> int:
    from triage.fixes.apply import apply
    from triage.fixes.edit import diff, plan_edits

    try:
        planned = plan_edits(edits, target)
    except ValueError as error:
        raise TriageError(f"the edits of {args.signature} get in each other's way: {error}") from error
    _show(args.signature, planned)
    _show_states(files, edits, target)
    for change in planned.changes:
        _say(f"\n{diff(change)}", end="")
    if not planned.ok or not planned.changes:
        return 0 if planned.ok else 1
    if not args.apply:
        _say(f"\nNothing was changed. To apply it: triage patch {args.signature} --apply {_where(args)}")
        return 0
    _confirm(args, "Apply this?")
    for note in apply(planned, args.signature):
        _say(note)
    _say(f"Restart the service for it to take effect{f': systemctl restart {args.unit}' if args.unit else ''}.")
    return 0


def _revert(args: argparse.Namespace, edits: list[Edit], files: list[str], target: Path) -> int:
    from triage.fixes.apply import revert, state
    from triage.fixes.edit import FileChange, diff

    found = {file: state(file, target, edits) for file in files}
    for file, one in found.items():
        if one.state == "applied" and one.current and one.backup:
            _say(diff(FileChange(file, one.current.raw, one.backup.raw)), end="")
    if any(one.state != "untouched" for one in found.values()):
        _confirm(args, "Undo it?")
    failed = False
    for file in files:
        try:
            _say(revert(file, target, args.signature, edits))
        except TriageError as error:
            _say(f"triage: {error}", sys.stderr)
            failed = True
    return 1 if failed else 0


def _show(signature: str, planned: EditPlan) -> None:
    release = next((one.release for one in planned.results if one.release), None)
    _say(f"{signature}\ntarget: {planned.target} (release {release or 'unknown'})")
    for one in planned.results:
        _say(f"{_WORDS[one.outcome]}: {one.edit.file}: {one.why}")


def _show_states(files: list[str], edits: list[Edit], target: Path) -> None:
    from triage.fixes.apply import state

    texts = {
        "applied": "triage changed it on {time} for {signature}; --revert undoes that",
        "half": "an interrupted run left it cut short; --apply or --revert mends it",
        "interrupted": "an interrupted run left its journal beside it; --apply or --revert removes that",
        "changed": "triage changed it on {time}, and someone else has since",
    }
    for file in files:
        found = state(file, target, edits)
        if found.journal:
            _say(
                f"note: {file}: {texts[found.state].format(time=found.journal.time, signature=found.journal.signature)}"
            )


def _where(args: argparse.Namespace) -> str:
    import shlex

    return f"--unit {shlex.quote(args.unit)}" if args.unit else f"--target {shlex.quote(str(args.target))}"


def _confirm(args: argparse.Namespace, question: str) -> None:
    """Ask, unless it was agreed to beforehand. Raises `TriageError` if the answer is not yes."""
    if args.yes:
        return
    _say(f"\n{question} [y/N] ", end="")
    sys.stdout.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise TriageError("nothing was changed")


def _say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print text that may come from foreign files, its control characters made visible."""
    from triage.report.text import visible

    print(visible(text), file=stream, end=end)
