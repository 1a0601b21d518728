"""A signature's fixes as they apply here: in words, as a command where one does it, and whether they fit at all."""

from __future__ import annotations

from triage.fixes.settings import environment, flags, unit_settings
from triage.lazy import regex
from triage.library.conditions import check
from triage.library.releases import ask, contains, in_words, release_of
from triage.library.template import fill, fill_strictly
from triage.model import Fix
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.library.conditions import Situation
    from triage.library.signature import FixSpec, Signature
    from triage.model import Incident

Applies = Literal["yes", "no", "unknown"]

_PYTHON = regex(r"/[\w./+-]{1,300}\Z")
# systemd.unit(5): what a unit's name may consist of.
_UNIT = regex(r"[A-Za-z0-9:_.\\@-]{1,255}\.(?:service|scope|slice)\Z")
# Kinds of which the detail is what to type or to write into a file.
_COPIED = ("env", "unit")
_VERBS = {"install": "Install", "upgrade": "Update to", "downgrade": "Go back to"}


def plan(signature: Signature, situation: Situation, incident: Incident) -> list[Fix]:
    """Return a signature's fixes in its order, those that do not apply here last."""
    found = [_fix(spec, signature, situation, incident) for spec in signature.fixes]
    return sorted(found, key=lambda fix: fix.applies == "no")


def unit_of(incident: Incident) -> str | None:
    """Return the unit that an incident is of, None if there is none or several, or its name is no unit's name."""
    names = {member.unit for member in incident.members if member.unit}
    name = names.pop() if len(names) == 1 else ""
    return name if _UNIT.match(name) and not name.startswith("-") else None


def _fix(spec: FixSpec, signature: Signature, situation: Situation, incident: Incident) -> Fix:
    applies, why = _applies(spec, situation)
    title, detail, command, done = _by_kind(spec, signature, situation, incident)
    if done and applies != "no":
        applies, why = "no", done
    said = fill(spec.detail, situation) if spec.detail else ""
    copied = spec.kind in _COPIED
    if spec.command:
        parts = [fill_strictly(part, situation) for part in spec.command]
        command = [part for part, _ in parts] if all(whole for _, whole in parts) else None
        copied = copied or not detail
        detail = detail or " ".join(part for part, _ in parts)
    return Fix(
        kind=spec.kind,
        title=fill(spec.title, situation) if spec.title else title,
        detail=_joined([said], detail) if copied else _joined([detail, said]),
        command=command,
        risk=list(spec.risk),
        applies=applies,
        why=why,
    )


def _joined(sentences: list[str], copied: str = "") -> str:
    """Join sentences, each with its full stop, and a text to copy, which none may follow."""
    return " ".join(filter(None, [*(f"{one.rstrip('.')}." for one in sentences if one), copied]))


def _applies(spec: FixSpec, situation: Situation) -> tuple[Applies, str]:
    """Say whether a fix's own conditions hold, and why not or what would tell."""
    unknown: list[str] = []
    for one in check(spec.when, situation):
        if one.state is False:
            return "no", one.needed.replace("would match", "applies") or one.phrase
        if one.state is None:
            unknown.append(one.phrase)
    for package, ranges in spec.releases.items():
        version = release_of(situation.facts, package)
        span = " or ".join(ranges)
        inside = contains(ranges, version)
        if inside is False:
            return "no", f"for {package} {span}; this is {in_words(version)}"
        if inside is None:
            unknown.append(
                f"for {package} {span}; `{ask(package, situation.facts.get('python'))}` tells which one runs"
            )
    return ("unknown", "; ".join(unknown)) if unknown else ("yes", "")


def _by_kind(
    spec: FixSpec, signature: Signature, situation: Situation, incident: Incident
) -> tuple[str, str, list[str] | None, str]:
    """Return title, detail and command of a fix, and why it is already done if it is."""
    unit = unit_of(incident)
    keys = spec.keys
    if spec.kind == "edit":
        detail = f"In {keys['file']}, {keys['function']}: replace `{keys['replace']}` by `{keys['with']}`"
        command = ["triage", "patch", signature.id]
        if unit:
            return "Patch the installed code", detail, [*command, "--apply", "--unit", unit], ""
        # Which folder is changed is the operator's to say: a path out of a log never enters the command.
        package = keys["file"].partition("/")[0]
        shown = f"`{' '.join(command)} --check --target DIR` shows the change"
        detail += f". {shown}; DIR is the Location of `pip show {package}`"
        return "Patch the installed code", detail, None, ""
    if spec.kind == "flag":
        return flags(keys, situation)
    if spec.kind == "env":
        return environment(keys, situation, unit)
    if spec.kind == "unit":
        return unit_settings(keys, situation, unit)
    if spec.kind == "config":
        settings = "; ".join(fill_strictly(one, situation)[0] for one in keys.get("set", ()))
        place = fill(keys["file"], situation) if "file" in keys else ""
        return "Change the configuration", f"{place}: {settings}" if place and settings else place or settings, None, ""
    if keys.get("to"):
        return _packages(spec, situation)
    return spec.kind.capitalize(), "", None, ""


def _packages(spec: FixSpec, situation: Situation) -> tuple[str, str, list[str] | None, str]:
    wanted = {package: "" if spec_ == "any" else spec_ for package, spec_ in spec.keys["to"].items()}
    names = [f"{package}{versions}" for package, versions in wanted.items()]
    python = situation.facts.get("python")
    pip = [python, "-m", "pip"] if isinstance(python, str) and _PYTHON.match(python) else ["pip"]
    there = {package: release_of(situation.facts, package) for package in wanted}
    done = all(wanted[package] and contains([wanted[package]], version) for package, version in there.items())
    have = ", ".join(f"{package} {in_words(version)}" for package, version in there.items() if version is not None)
    title = f"{_VERBS[spec.kind]} {' and '.join(names)}"
    # Without a range pip leaves what is there as it is.
    newer = ["--upgrade"] if spec.kind == "upgrade" and not all(wanted.values()) else []
    command = [*pip, "install", *newer, *names]
    return title, f"Now {have}" if have else "", command, f"{have} is already there" if done else ""
