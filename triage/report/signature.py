"""A signature in parts, in the order in which they are read, and the text that `triage explain` prints of them."""

from __future__ import annotations

from triage.records import dataclass, replace
from triage.report import wording
from triage.report.names import command
from triage.report.text import visible, wrap
from triage.report.wording import Clause, Exact
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.library.signature import FixSpec, Signature

_WIDTH = 88
_SETTINGS = ("file", "function", "replace", "with", "set", "remove", "raise", "lower", "to")
_ROLES = {
    "consequence": "follows from another failure; the reason only where nothing else failed",
    "teardown": "happens while the service is taken down; never the reason",
    "notice": "no failure by itself; tells the reason of one",
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """A fix: what to do, at which risk, the exact text that is set or replaced, the command that does it."""

    kind: str
    title: str
    risk: str
    detail: str
    limits: list[Clause]
    settings: list[tuple[str, str]]
    command: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one label says of a signature: prose, conditions, fixes or links; the others are empty."""

    label: str
    prose: str = ""
    clauses: tuple[Clause, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    links: tuple[str, ...] = ()


def outline(signature: Signature) -> list[Part]:
    """Take a signature; return what is said of it, without the parts that it has not."""
    one = signature
    parts = [
        Part("Why", _folded(one.cause)),
        Part("Not to be taken for", _folded(one.not_when)),
        Part("Matches", clauses=tuple(wording.conditions(one.match))),
        Part("Together with", clauses=tuple(wording.others(one.with_))),
        Part("Without", clauses=tuple(wording.others(one.without))),
        Part("Only when", clauses=tuple(wording.when(one.when))),
        Part("Releases that have the defect", clauses=tuple(wording.releases(one.releases))),
        Part("Role", _ROLES.get(one.role, "")),
        Part("Fixes, least change first", remedies=tuple(_remedy(one, fix) for fix in one.fixes)),
        Part("Explains", clauses=tuple(map(wording.explained, one.explains))),
        Part("References", links=one.references),
    ]
    return [part for part in parts if part.prose or part.clauses or part.remedies or part.links]


def describe(signature: Signature, width: int = _WIDTH) -> str:
    """Take a signature and a width in columns, of which at most 88 are used; return what it means, when it holds and
    what mends it, as plain text. Names, links and commands are not broken.
    """
    width = min(width, _WIDTH)
    lines = [signature.id, *wrap(signature.title, width)]
    for part in outline(signature):
        lines += ["", part.label]
        if part.prose:
            lines += _hung("  ", part.prose, width)
        for clause in part.clauses:
            lines += _clause(clause, "  ", width)
        for number, remedy in enumerate(part.remedies, 1):
            lines += _fix(number, remedy, width)
        lines += [f"  {link}" for link in part.links]
    return visible("\n".join(lines)) + "\n"


def _remedy(signature: Signature, fix: FixSpec) -> Remedy:
    """Read a fix; title and command that it leaves to its kind are those it has where nothing is known of the run."""
    from triage.fixes.plan import plan
    from triage.library.conditions import Situation
    from triage.library.template import fill_strictly
    from triage.model import Incident

    unknown = Situation({})
    planned = plan(replace(signature, fixes=(fix,)), unknown, Incident(""))[0]
    run = [fill_strictly(part, unknown)[0] for part in fix.command] or planned.command
    if fix.kind == "edit":
        run = ["triage", "patch", signature.id, "--check", "--unit", "UNIT"]
    return Remedy(
        fix.kind,
        fix.title or planned.title,
        wording.risks(fix.risk),
        _folded(fix.detail or ""),
        [*wording.when(fix.when), *wording.releases(fix.releases)],
        [(key, text) for key in _SETTINGS if key in fix.keys for text in _texts(fix.keys[key])],
        command(run) if run else "",
    )


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{package} {spans}" for package, spans in value.items()]
    return list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)]


def _fix(number: int, remedy: Remedy, width: int) -> list[str]:
    pad = " " * 5
    risk = f" ({remedy.risk})" if remedy.risk else ""
    lines = _hung(pad, remedy.title + risk, width)
    lines[0] = f"  {number}. {lines[0].lstrip()}"
    if remedy.detail:
        lines += _hung(pad, remedy.detail, width)
    for clause in remedy.limits:
        lines += _clause(Clause(("only for", *clause.words), clause.parts), pad, width)
    lines += [f"{pad}{key}: {text}" for key, text in remedy.settings]
    return [*lines, f"{pad}$ {remedy.command}"] if remedy.command else lines


def _clause(clause: Clause, pad: str, width: int) -> list[str]:
    words = " ".join(f'"{word}"' if _quotable(word) else word for word in clause.words)
    lines = _hung(pad, f"{words}:" if clause.parts and not words.endswith(":") else words, width)
    for inner in clause.parts:
        lines += _clause(inner, f"{pad}  ", width)
    return lines


def _quotable(word: str) -> bool:
    """Exact text in which a reader could lose the place where it ends."""
    return isinstance(word, Exact) and (" " in word or not word)


def _hung(pad: str, text: str, width: int) -> list[str]:
    return [f"{pad}{line}" for line in wrap(text, max(width - len(pad), 20))]


def _folded(text: str) -> str:
    return " ".join(text.split())
