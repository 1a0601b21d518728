"""Fixes that change a setting: flags of the launch command, environment variables, directives of a unit."""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.library.flags import fact_of, spelt
from triage.library.template import fill_strictly
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.library.conditions import Situation

Planned = tuple[str, str, "list[str] | None", str]

_NUMBER = regex(r"\d{1,12}(?:\.\d{1,6})?\Z")
_SHOWN = regex(r"[\w./:@+,=-]{1,60}\Z")
_VERBS = {"set": "Set", "remove": "Remove", "raise": "Raise", "lower": "Lower"}


def flags(keys: dict[str, Any], situation: Situation) -> Planned:
    """Return title, detail, command (none) of a change of launch flags, and why nothing is left to do if so."""
    verb = next(verb for verb in _VERBS if verb in keys)
    wanted = [
        spelt(fill_strictly(one, situation)[0], situation.facts, given=verb in ("set", "raise", "lower"))
        for one in keys[verb]
    ]
    titles = [f"{_VERBS[verb]} {one.text}" for one in wanted]
    details, done = [], []
    for one in wanted:
        detail, already = _change(verb, one.text, situation)
        details.append(f"{detail} ({one.note})" if one.note else detail)
        done.append(already)
    gone = "; ".join(one.gone for one in wanted if one.gone)
    return "; ".join(titles), "; ".join(details), None, gone or ("; ".join(done) if all(done) else "")


def environment(keys: dict[str, Any], situation: Situation, unit: str | None) -> Planned:
    """Return the same for environment variables."""
    removed = list(keys.get("remove", ()))
    pairs = [fill_strictly(one, situation)[0].partition("=") for one in keys.get("set", ())]
    done = bool(pairs) and all(str(situation.facts.get(f"env.{name}")) == value for name, _, value in pairs)
    if removed:
        where = (
            f"`systemctl edit {unit}`: UnsetEnvironment={' '.join(removed)}" if unit else f"unset {' '.join(removed)}"
        )
        return f"Unset {' and '.join(removed)}", where, None, ""
    titles = [f"{name}={value}" for name, _, value in pairs]
    if unit:
        lines = "; ".join(f"Environment={_unit_quoted(title)}" for title in titles)
        detail = f"`systemctl edit {unit}`, under [Service]: {lines}" if lines else ""
    else:
        detail = "; ".join(f"export {name}={_shell_quoted(value)}" for name, _, value in pairs)
    title = f"Set {' and '.join(titles)}" if titles else "Change the environment"
    return title, detail, None, "it is already set so" if done else ""


def unit_settings(keys: dict[str, Any], situation: Situation, unit: str | None) -> Planned:
    """Return the same for directives of a unit."""
    lines = [fill_strictly(one, situation)[0] for one in keys.get("set", ())]
    if not lines:
        return "Change the unit", "", None, ""
    command = ["systemctl", "edit", unit] if unit else None
    section = "Unit" if all(line.partition("=")[0] in _UNIT_SECTION for line in lines) else "Service"
    return f"Set {'; '.join(lines)}", f"Under [{section}] of the unit: {'; '.join(lines)}", command, ""


# Directives of systemd.unit(5); all others that a service needs stand under [Service].
_UNIT_SECTION = frozenset(
    [
        "After",
        "Before",
        "Requires",
        "Wants",
        "BindsTo",
        "PartOf",
        "Conflicts",
        "RequiresMountsFor",
        "StartLimitIntervalSec",
        "StartLimitBurst",
    ]
)


def _change(verb: str, text: str, situation: Situation) -> tuple[str, str]:
    """Return what to do with a flag of the launch command, from its present value, and why it is done if it is."""
    name, equals, value = text.partition("=")
    present = situation.facts.get(fact_of(name))
    now = _shown(present)
    if verb == "set":
        done = str(present).lower() == value.lower() if equals else present is True
        change = (
            f"add {name} {value}".rstrip() if now is None else f"set {name} to {value}" if equals else f"add {name}"
        )
        return f"In the launch command {change}{_now(now)}", f"{name} is already {now}" if done else ""
    if verb == "remove":
        gone = present is False
        return f"In the launch command leave out {name}{_now(now)}", f"{name} is not set" if gone else ""
    goal = value or _step(verb, present)
    to = f" to {value}" if value else f", for instance to {goal}" if goal else ""
    return f"In the launch command {verb} {name}{_now(now)}{to}", _beyond(verb, value, present, name)


def _shown(present: object) -> str | None:
    if isinstance(present, bool):
        return str(present).lower()
    text = str(present)
    return text if present is not None and _SHOWN.match(text) else None


def _now(now: str | None) -> str:
    return f" (now {now})" if now is not None else ""


def _step(verb: str, present: object) -> str:
    """Return a sensible next value: five hundredths for a share, half or double for a count."""
    if isinstance(present, bool) or not isinstance(present, (int, float)) or present <= 0:
        return ""
    if 0 < present < 1:
        share = present - 0.05 if verb == "lower" else present + 0.05
        return f"{share:.2f}" if 0.05 <= share <= 0.98 else ""
    if isinstance(present, float):
        return ""
    return str(present // 2) if verb == "lower" and present > 1 else str(present * 2) if verb == "raise" else ""


def _beyond(verb: str, value: str, present: object, name: str) -> str:
    if isinstance(present, bool) or not isinstance(present, (int, float)) or not _NUMBER.match(value):
        return ""
    past = present <= float(value) if verb == "lower" else present >= float(value)
    return f"{name} is already {present}" if past else ""


def _unit_quoted(text: str) -> str:
    """Quote for a unit file: blanks and backslashes need it, `%` is a specifier (systemd.syntax(7))."""
    text = text.replace("%", "%%")
    return text if re.fullmatch(r"[\w./:@+,=%-]+", text) else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shell_quoted(text: str) -> str:
    if "$" in text:
        return text
    import shlex

    return shlex.quote(text)
