"""Structured edits of installed code: whether one applies to what is installed, and the change that it makes.

An edit names a file of a package, a function, an expression that must stand in it exactly once, and what to put there.
No foreign context is stored, so one edit serves many releases; the code at hand decides. Nothing is imported or run.
"""

from __future__ import annotations

import difflib

from triage.fixes.place import FILE, PlaceError, opened
from triage.fixes.pysource import (
    MODULE,
    Source,
    SourceError,
    Span,
    fragment,
    function_names,
    functions,
    nearest,
    occurrences,
    read,
)
from triage.fixes.splice import replaced
from triage.fixes.target import installed_release
from triage.model import TriageError
from triage.records import dataclass, field, replace
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from triage.library.signature import FixSpec, Signature

EditOutcome = Literal[
    "applies",
    "already-fixed",
    "other-release",
    "other-code",
    "no-file",
    "not-unique",
    "outside",
    "unreadable",
]

# Fewer tokens say nothing when they are found in a function: `0`, `None`, `self.x`.
_TELLING = 4


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: in `function` of `file`, `replace` becomes `replacement`.

    `file` is relative to the folder that holds the package. `function` is a qualified name, or `<module>` for code
    outside of functions. `replace` and `replacement` are expressions or simple statements, several joined by `;`.
    `fixed_when` is code in the same function that shows the defect to be gone. `releases` has PEP 440 ranges by
    distribution: where the edit is known to be needed and to hold.
    """

    file: str
    function: str
    replace: str
    replacement: str
    fixed_when: str | None = None
    releases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    title: str = ""

    def __post_init__(self) -> None:
        """Raise `ValueError`, with what is wrong, for an edit that can apply to nothing."""
        if not FILE.fullmatch(self.file):
            raise ValueError(f"file: {self.file!r} is no path of a module such as package/part/module.py")
        if self.function != MODULE and not all(
            part.isidentifier() for part in self.function.replace("<locals>.", "").split(".")
        ):
            raise ValueError(f"function: {self.function!r} is no qualified name such as Class.method, nor {MODULE}")
        parts = {"replace": self.replace, "with": self.replacement, "fixed_when": self.fixed_when}
        for key, code in parts.items():
            try:
                tokens = fragment(code) if code is not None else []
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from error
            if key == "with" and [token.text for token in tokens] == [token.text for token in fragment(self.replace)]:
                raise ValueError("with: is the same code as replace")

    @classmethod
    def from_fix(cls, fix: FixSpec) -> Edit:
        """Take a signature's fix of kind edit; return the edit. Raises `ValueError` with what is wrong in it."""
        return cls(
            file=fix.keys["file"],
            function=fix.keys["function"],
            replace=fix.keys["replace"].strip(),
            replacement=fix.keys["with"].strip(),
            fixed_when=fix.keys.get("fixed_when"),
            releases=fix.releases,
            title=fix.title or "",
        )


@dataclass(slots=True)
class EditResult:
    """What an edit meets in the installed file.

    `why` is one sentence. `release` is what is installed next to the file, None where nothing says it; `due` whether it
    is one of the edit's, None where that cannot be told. `spans` are the first and last lines of the function's
    definitions, `count` how often the expression stands there, `line` where, `near` line and text of what comes closest
    to it. `before` and `after` are the file's bytes where it applies.
    """

    edit: Edit
    outcome: EditOutcome
    why: str
    path: Path | None = None
    release: str | None = None
    spans: list[Span] = field(default_factory=list)
    count: int = 0
    line: int | None = None
    near: tuple[int, str] | None = None
    due: bool | None = None
    before: bytes | None = None
    after: bytes | None = None


@dataclass(slots=True)
class FileChange:
    """What all edits together make of one file."""

    file: str
    before: bytes
    after: bytes


@dataclass(slots=True)
class EditPlan:
    """What a signature's edits do to an installation: a result for each, and the files to change.

    `ok` says that everything that belongs to this release applies or is there already.
    """

    target: Path
    results: list[EditResult]
    changes: list[FileChange]
    ok: bool


def edits_of(signature: Signature) -> list[Edit]:
    """Return the edits among a signature's fixes. Raises `TriageError` for one that can apply to nothing."""
    try:
        return [Edit.from_fix(fix) for fix in signature.fixes if fix.kind == "edit"]
    except ValueError as error:
        raise TriageError(f"{signature.id}: an edit is wrong: {error}") from error


def check(edit: Edit, target: Path) -> EditResult:
    """Say what an edit meets in the package below `target`, the folder that holds it. Changes nothing."""
    installed = {name: installed_release(target, name) for name in edit.releases or [edit.file.split("/", 1)[0]]}
    release = next(iter(installed.values()))
    try:
        with opened(target, edit.file) as place:
            path, raw = place.path, place.read().raw
    except PlaceError as error:
        return EditResult(edit, error.outcome, str(error), release=release)
    except FileNotFoundError:
        return EditResult(edit, "no-file", f"there is no {edit.file} in {target}", release=release)
    except OSError as error:
        return EditResult(edit, "unreadable", f"{edit.file} in {target}: {error.strerror}", release=release)
    try:
        result = _examined(edit, read(raw))
    except SourceError as error:
        result = EditResult(edit, "unreadable", f"{path}: {error}")
    result.path, result.release, result.due = path, release, _due(edit, installed)
    return _weighed(result)


def plan_edits(edits: Sequence[Edit], target: Path) -> EditPlan:
    """Take a signature's edits and the folder that holds the package; return what they do together.

    Edits of the same `releases` belong together: all of them apply, or none. Others are alternatives for other
    releases. Raises `ValueError` if two edits get in each other's way.
    """
    results = [check(edit, target) for edit in edits]
    groups: dict[tuple[tuple[str, tuple[str, ...]], ...], list[EditResult]] = {}
    for result in results:
        groups.setdefault(tuple(sorted(result.edit.releases.items())), []).append(result)
    good = [group for group in groups.values() if all(one.outcome in ("applies", "already-fixed") for one in group)]
    due = [group for group in groups.values() if group not in good and group[0].due]
    chosen = [one for group in good for one in group if one.outcome == "applies"] if not due else []
    changes: dict[str, FileChange] = {}
    for one in chosen:
        file, before = one.edit.file, one.before or b""
        change = changes.setdefault(file, FileChange(file, before, before))
        change.after = patched([one.edit], change.after)
    return EditPlan(target, results, list(changes.values()), bool(good) and not due)


def patched(edits: Iterable[Edit], raw: bytes) -> bytes:
    """Take edits of one file and its bytes; return the bytes after all of them that apply, in order.

    Raises `ValueError` if that is none.
    """
    count = 0
    for edit in edits:
        result = _examined(edit, read(raw))
        if result.outcome == "applies" and result.after is not None:
            raw, count = result.after, count + 1
    if not count:
        raise ValueError("none of the edits applies")
    return raw


def diff(change: FileChange, *, reverse: bool = False) -> str:
    """Return a unified diff of a change, as `patch -p1` takes it; empty where nothing changes."""
    before, after = (change.after, change.before) if reverse else (change.before, change.after)
    lines = difflib.unified_diff(_diffable(before), _diffable(after), f"a/{change.file}", f"b/{change.file}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _diffable(raw: bytes) -> list[str]:
    source = read(raw)
    text = source.bom.decode("utf-8") + source.text
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def _due(edit: Edit, installed: dict[str, str | None]) -> bool | None:
    """Say whether the installed releases are among the edit's, None where that cannot be told."""
    from triage.library.releases import contains

    answers = {contains(ranges, installed[name]) for name, ranges in edit.releases.items()}
    return False if False in answers else None if None in answers else True


def _weighed(result: EditResult) -> EditResult:
    """Set the releases of an edit against what is installed: known code in a release that is not its own is let be."""
    named = ", ".join(f"{name} {' or '.join(ranges)}" for name, ranges in result.edit.releases.items())
    if result.due is False and result.outcome != "already-fixed":
        why = f"the edit is for {named}; installed is {result.release}"
        return replace(result, outcome="other-release", why=why, before=None, after=None)
    if result.due is None and result.outcome == "applies":
        found = f"the edit is for {named}, and whether {result.release} is among them cannot be told"
        if result.release is None:
            found = f"the installed release is unknown (the edit is for {named})"
        result.why += f"; {found}: the code at hand decides"
    return result


def _examined(edit: Edit, source: Source) -> EditResult:
    spans = functions(source, edit.function)
    if not spans:
        return EditResult(edit, "other-code", _no_function(edit, source))
    old, new = _counted(edit, source, spans)
    where = "the module" if edit.function == MODULE else f"{edit.function} ({_said(spans)})"
    result = EditResult(edit, "applies", "", spans=spans, count=len(old))
    if len(old) == 1:
        try:
            after = replaced(source, old[0], edit.replacement).raw
        except SourceError as error:
            return replace(result, outcome="other-code", why=str(error))
        line = source.tokens[old[0][0]].line
        return replace(result, why=f"line {line}, in {where}", line=line, before=source.raw, after=after)
    if old:
        lines = ", ".join(str(source.tokens[first].line) for first, _ in old[:5])
        return replace(result, outcome="not-unique", why=f"the code stands {len(old)} times in {where}: lines {lines}")
    if new and len(fragment(edit.replacement)) >= _TELLING:
        line = source.tokens[new[0][0]].line
        return replace(result, outcome="already-fixed", why=f"line {line} of {where} holds the new code", line=line)
    fixed = occurrences(source, edit.fixed_when, spans) if edit.fixed_when else []
    if fixed:
        line = source.tokens[fixed[0][0]].line
        return replace(result, outcome="already-fixed", why=f"line {line} of {where} has a fix of its own", line=line)
    near = nearest(source, edit.replace, spans)
    hint = f"; nearest is line {near[0]}: {near[1]}" if near else ""
    return replace(result, outcome="other-code", why=f"the code does not stand in {where}{hint}", near=near)


def _counted(edit: Edit, source: Source, spans: list[Span]) -> tuple[list[Span], list[Span]]:
    """Return where the old and the new code stand; where one contains the other, only the longer is meant."""
    old, new = occurrences(source, edit.replace, spans), occurrences(source, edit.replacement, spans)
    if len(fragment(edit.replacement)) > len(fragment(edit.replace)):
        return [one for one in old if not _overlaps(one, new)], new
    return old, [one for one in new if not _overlaps(one, old)]


def _overlaps(one: Span, others: list[Span]) -> bool:
    return any(one[0] < last and first < one[1] for first, last in others)


def _said(spans: list[Span]) -> str:
    return "lines " + " and ".join(f"{first}-{last}" for first, last in spans)


def _no_function(edit: Edit, source: Source) -> str:
    near = difflib.get_close_matches(edit.function, function_names(source), 1, 0.7)
    hint = f"; nearest is {near[0]}" if near else ""
    return f"there is no function {edit.function}{hint}"
