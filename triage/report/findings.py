"""The first half of a view: which run, what failed in it, why, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triage.report.items import Item, Section
from triage.report.names import command, frame, places, ranks
from triage.report.sentence import diagnoses, first_line, happened, head, named, phase_name, reason_of
from triage.report.text import one_line, visible
from triage.report.times import clock, span
from triage.report.wording import risks

if TYPE_CHECKING:
    from triage.model import Diagnosis, ExceptionInfo, Failure, Fix, Frame, Incident

_MESSAGE_LINES, _CHAIN, _FIXES, _OTHERS = 40, 3, 4, 3
# How another exception of the chain is tied to the one that is shown: printed before it, and after it.
_BEFORE = {"cause": "caused by", "context": "in handling", "remote": "quoted", "group": "in a group"}
_AFTER = {"cause": "led to", "context": "then came", "remote": "quoted by", "group": "in a group"}
# The facts that tell one service from another, in this order; sizes of 1 say nothing.
_SIZES = ("tp_size", "pp_size", "dp_size", "ep_size", "nnodes")
_FACTS = ("attention_backend", "quantization", "disaggregation_mode", "device", "host.gpu")
_UNSAID = (None, "", "null", "none", "auto", "cuda", 1, "1")


def run(incident: Incident, root: Failure | None, local: bool) -> list[Section]:
    """Take an incident and its root failure; return which run of which service it is, and how far it came."""
    by_file = root is not None and root.first.cursor is None
    attempts = incident.attempts.count
    parts = [
        f"attempt {attempts} of {attempts}" if attempts > 1 else "",
        span(incident.started, incident.ended, incident.zoned, local),
    ]
    rows = [
        ("run", ", ".join(filter(None, parts))),
        ("source", one_line(incident.source) if "/" in incident.source and not by_file else ""),
        ("service" if incident.facts.get("engine") else "where", _engine(incident)),
        ("reached", _reached(incident, local)),
    ]
    return [Section(label, [Item("prose", text)], "run") for label, text in rows if text]


def _engine(incident: Incident) -> str:
    facts = incident.facts
    engine = facts.get("engine")
    release = facts.get(str(engine)) or "(release unknown)" if engine else None
    hosts = list(dict.fromkeys(member.host for member in incident.members if member.host))
    where = f" on {', '.join(hosts[:4])}" + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "") if hosts else ""
    parts = [f"{engine} {release}{where}"] if engine else [where.strip()] if where else []
    parts += [f"{name}={facts[name]}" for name in _SIZES if facts.get(name) not in _UNSAID]
    parts += [f"{name}={facts[name]}" for name in _FACTS if facts.get(name) not in _UNSAID]
    if facts.get("model_path"):
        parts.append(f"model={facts['model_path']}")
    return one_line(", ".join(parts))


def _reached(incident: Incident, local: bool) -> str:
    parts = [phase_name(incident.phase)] if incident.phase else []
    if incident.ready is not None:
        parts.append(f"ready at {clock(incident.ready, incident.zoned, local)}")
    elif incident.phase and incident.phase not in ("ready", "serving"):
        parts.append("never ready")
    end = incident.exit
    if end is not None:
        if end.code is not None:
            parts.append(f"exit status {end.code}")
        if end.signal:
            parts.append(f"killed by {end.signal}")
        if end.result and end.result not in ("exit-code", "signal", "success"):
            parts.append(f"systemd says {end.result}")
    return one_line(", ".join(parts))


def failure(incident: Incident, root: Failure | None, brief: bool) -> list[Section]:
    """Take an incident and its root failure; return what failed and where, or what could have been the root.

    The headline is left out where the sentence above has said all of it.
    """
    suspects = _suspects(incident)
    if root is None:
        return [*_candidates(incident), *suspects]
    found, headline = _places(root), _headline(root, brief)
    if not found or [item.text.replace(": ", " raised ", 1) for item in headline] != [happened(root)]:
        found.insert(0, Section("failed", headline, "failure"))
    note = {
        "inferred": "Lines of several ranks were mixed: which rank these belong to is inferred.",
        "partial": "A part of the traceback is missing in the log.",
    }.get(root.assembly)
    if note:
        found.append(Section("note", [Item("quiet", note)], "failure"))
    if root.exception is not None and root.exception.chain:
        found.append(Section("chain", _chain(root.exception), "failure"))
    reason = reason_of(incident, root)
    if reason is not None:
        found.append(Section("because", [Item("strong", head(reason, 400), lines=2)], "failure"))
    return [*found, *suspects]


def _suspects(incident: Incident) -> list[Section]:
    silent = [found for found in incident.failures if found.role == "suspect"]
    return [
        Section("suspect", [Item("prose", f"{ranks(found.ranks) or 'a process'}: {head(found, 400)}")], "failure")
        for found in silent[:2]
    ]


def _headline(root: Failure, brief: bool) -> list[Item]:
    who = ranks(root.ranks)
    if root.first.rank and len(root.ranks) > 1:
        who += f" ({one_line(root.first.rank)} first)"
    times = f", {root.count:,} times" if root.count > max(len(root.ranks), 1) else ""
    message = root.exception.message if root.exception else root.text
    items = [Item("strong", f"{who}{times}: {head(root, 400)}" if who else head(root, 400) + times, lines=3)]
    rest = [line for line in message.split("\n") if line.strip()]
    shown = first_line(message)
    rest = rest[rest.index(shown) + 1 :] if shown in rest else []
    if root.exception is not None:
        rest += root.exception.notes
        items += [Item("log", visible(line.rstrip())) for line in _bounded(rest, brief)]
    return items


def _chain(exception: ExceptionInfo) -> list[Item]:
    links = [
        Item(
            "log", named(link.type, link.message, 400), (_BEFORE if number < exception.place else _AFTER)[link.relation]
        )
        for number, link in enumerate(exception.chain[:_CHAIN])
    ]
    more = len(exception.chain) - _CHAIN
    return [*links, Item("quiet", f"and {more} more")] if more > 0 else links


def _bounded(lines: list[str], brief: bool) -> list[str]:
    most = 2 if brief else _MESSAGE_LINES
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def _places(root: Failure) -> list[Section]:
    frames: list[Frame] = (root.exception.frames if root.exception else []) or root.frames
    label = "raised in" if root.kind == "exception" else "stack"
    items = [Item("place", frame(found)) for found in places(frames)]
    rows = ((label, items[:1]), ("called by", items[1:]))
    return [Section(name, found, "failure") for name, found in rows if found]


def _candidates(incident: Incident) -> list[Section]:
    able = [
        found for found in incident.failures if found.role not in ("unrelated", "suspect") and found.level is not None
    ]
    able.sort(key=lambda found: (found.level or 0.0, found.order))
    items = [Item("log", head(found, 400), ranks(found.ranks, 3) or found.kind) for found in able[:3]]
    if not items:
        return [Section("failed", [Item("strong", "No root found, and nothing that could be one.")], "failure")]
    return [Section("failed", [Item("strong", "No root found. It could be one of these:"), *items], "failure")]


def cause(incident: Incident, root: Failure | None) -> list[Section]:
    """Take an incident and its root failure; return why it failed, how sure that is, and what else it could be."""
    known = diagnoses(incident, root)
    if not known:
        return []
    best = known[0]
    text = [Item("strong", one_line(best.title))]
    text += [Item("prose", visible(part), lines=4) for part in best.cause.strip().split("\n\n") if part.strip()]
    found = [Section("cause", text, "cause"), *_certainty(best)]
    others = [
        Item("prose", one_line(f"{other.signature} ({other.confidence}): {other.title}"), lines=1)
        for other in known[1 : 1 + _OTHERS]
    ]
    if others:
        found.append(Section("or", others, "cause"))
    return found


def _certainty(best: Diagnosis) -> list[Section]:
    rows = [
        (best.confidence, "matched " + ", ".join(best.matched) if best.matched else ""),
        ("unchecked", ", ".join(text for text in best.unconfirmed if not (best.release and " release " in text))),
        ("missing", ", ".join(best.missing)),
        ("release", best.release),
        ("not when", best.not_when if best.confidence == "possible" else ""),
    ]
    return [
        Section(label, [Item("prose", one_line(text), lines=0 if label == "release" else 2)], "cause")
        for label, text in rows
        if text
    ]


def fixes(incident: Incident, root: Failure | None, brief: bool) -> list[Section]:
    """Take an incident and its root failure; return what to do, in order, with the commands that do it.

    Fixes that don't apply here are left out while there are others.
    """
    found: dict[tuple[str, str], Fix] = {}
    for diagnosis in diagnoses(incident, root):
        for fix in diagnosis.fixes:
            found.setdefault((fix.title, str(fix.command)), fix)
    able = [fix for fix in found.values() if fix.applies != "no"] or list(found.values())
    most = _FIXES if brief and len(able) > _FIXES + 1 else len(able)
    sections = [Section(f"fix {number}", _fix(fix), "fixes") for number, fix in enumerate(able[:most], 1)]
    if len(able) > most:
        sections[-1].items.append(Item("quiet", f"and {len(able) - most} more fixes, see --all-failures"))
    return sections


def _fix(fix: Fix) -> list[Item]:
    risk = risks(name for name in fix.risk if name != "none")
    items = [Item("strong", one_line(f"{fix.title} ({risk})" if risk else fix.title))]
    if fix.detail:
        items.append(Item("prose", visible(fix.detail.strip()), lines=1 if fix.command else 2))
    if fix.command:
        items.append(Item("command", command(fix.command)))
    if fix.why and fix.applies != "yes":
        word = {"no": "Does not apply", "unknown": "Not sure that it applies"}[fix.applies]
        items.append(Item("quiet", one_line(f"{word}: {fix.why}"), lines=2))
    return items
