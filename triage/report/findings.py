"""The first part of a view: which run of what it is, and what failed in it."""

from __future__ import annotations

from triage.data import knowledge
from triage.report.items import Item, Section
from triage.report.names import frame, places, ranks, release
from triage.report.onward import read_on
from triage.report.sentence import first_line, head, named, phase_name, reason_of, service
from triage.report.text import one_line, visible
from triage.report.times import clock, span
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import ExceptionInfo, Failure, Frame, Incident

_MESSAGE_LINES, _CHAIN, _LONG = 40, 3, 400
# How another exception of the chain is tied to the one that is shown: printed before it, and after it.
_BEFORE = {"cause": "caused by", "context": "in handling", "remote": "quoted", "group": "in a group"}
_AFTER = {"cause": "led to", "context": "then came", "remote": "quoted by", "group": "in a group"}
# The facts that tell one service from another, in this order; sizes of 1 say nothing.
_SIZES = ("tp_size", "pp_size", "dp_size", "ep_size", "nnodes")
_FACTS = ("attention_backend", "quantization", "disaggregation_mode", "device", "host.gpu")
_UNSAID = (None, "", "null", "none", "auto", "cuda", 1, "1")


def run(incident: Incident, root: Failure | None, local: bool) -> list[Section]:
    """Take an incident and its root failure; return which run of which service it is, and how far it came."""
    attempts = incident.attempts.count
    parts = [
        f"attempt {attempts} of {attempts}" if attempts > 1 else "",
        span(incident.started, incident.ended, incident.zoned, local),
    ]
    rows = [
        ("run", ", ".join(filter(None, parts))),
        ("source", _source(incident, root)),
        ("service" if incident.facts.get("engine") else "where", _engine(incident)),
        ("reached", _reached(incident, local)),
    ]
    return [Section(label, [Item("prose", text)], "run") for label, text in rows if text]


def _source(incident: Incident, root: Failure | None) -> str:
    """Return where it was read, unless that is said by the sentence or by the command to read on."""
    source = incident.source
    if source in ("", "-", "stdin", "journal", "journal --user", service(incident)):
        return ""
    return "" if root is not None and source in read_on(incident, root.first) else one_line(source)


def _engine(incident: Incident) -> str:
    facts = incident.facts
    engine = facts.get("engine")
    running = release(facts, str(engine)) if engine else ""
    hosts = list(dict.fromkeys(member.host for member in incident.members if member.host))
    where = f" on {', '.join(hosts[:4])}" + (f" and {len(hosts) - 4} more" if len(hosts) > 4 else "") if hosts else ""
    parts = [f"{engine} {running}{where}"] if engine else [where.strip()] if where else []
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


def failure(incident: Incident, root: Failure | None, screen: bool) -> list[Section]:
    """Take an incident and its root failure; return what failed and where, or what could have been the root.

    The headline is left out where the sentence above has said all of it.
    """
    suspects = _suspects(incident)
    if root is None:
        return [*_roots(incident), *suspects]
    found = _places(root)
    headline, message = _headline(root), _message(root, screen)
    if headline or message:
        found.insert(0, Section("failed" if headline else "message", headline + message, "failure"))
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
        found.append(Section("because", [Item("strong", head(reason, _LONG), lines=2)], "failure"))
    return [*found, *suspects]


def _suspects(incident: Incident) -> list[Section]:
    silent = [found for found in incident.failures if found.role == "suspect"]
    return [
        Section("suspect", [Item("prose", f"{ranks(found.ranks) or 'a process'}: {head(found, _LONG)}")], "failure")
        for found in silent[:2]
    ]


def _headline(root: Failure) -> list[Item]:
    """Return what failed, as far as the sentence above has not said it: all of a long message, which rank was first."""
    said = head(root, _LONG)
    told = said == head(root)
    first = one_line(root.first.rank) if root.first.rank and len(root.ranks) > 1 else ""
    times = f"{root.count:,} times" if root.count > max(len(root.ranks), 1) else ""
    if told:
        who = ", ".join(filter(None, (f"{first} first of {len(root.ranks)} ranks" if first else "", times)))
    else:
        who = ", ".join(filter(None, (ranks(root.ranks) + (f" ({first} first)" if first else ""), times)))
    text = ": ".join(filter(None, (who, "" if told else said)))
    return [Item("strong", text, lines=3)] if text else []


def _message(root: Failure, screen: bool) -> list[Item]:
    """Return what an exception says below the first line of its message, without what every such exception says."""
    common = tuple(knowledge("noise")["boilerplate"])
    lines = [line for line in _rest(root) if not line.lstrip().startswith(common)]
    return [Item("log", visible(line.rstrip())) for line in _bounded(lines, screen)]


def _rest(root: Failure) -> list[str]:
    """Return what an exception says after the first line of its message."""
    if root.exception is None:
        return []
    message = root.exception.message
    lines = [line for line in message.split("\n") if line.strip()]
    shown = first_line(message)
    return (lines[lines.index(shown) + 1 :] if shown in lines else []) + root.exception.notes


def _chain(exception: ExceptionInfo) -> list[Item]:
    links = [
        Item(
            "log",
            named(link.type, link.message, _LONG),
            (_BEFORE if number < exception.place else _AFTER)[link.relation],
        )
        for number, link in enumerate(exception.chain[:_CHAIN])
    ]
    more = len(exception.chain) - _CHAIN
    return [*links, Item("quiet", f"and {more} more")] if more > 0 else links


def _bounded(lines: list[str], screen: bool) -> list[str]:
    """Return the lines of a message, of many its beginning and its end: libraries put the reason there."""
    most = 2 if screen else _MESSAGE_LINES
    if len(lines) <= most + 1:
        return lines
    return [*lines[: most // 2], f"… {len(lines) - most} more lines", *lines[-most // 2 :]]


def _places(root: Failure) -> list[Section]:
    frames: list[Frame] = (root.exception.frames if root.exception else []) or root.frames
    label = "raised in" if root.kind == "exception" else "stack"
    items = [Item("place", frame(found)) for found in places(frames)]
    rows = ((label, items[:1]), ("called by", items[1:]))
    return [Section(name, found, "failure") for name, found in rows if found]


def _roots(incident: Incident) -> list[Section]:
    able = [
        found for found in incident.failures if found.role not in ("unrelated", "suspect") and found.level is not None
    ]
    able.sort(key=lambda found: (found.level or 0.0, found.order))
    items = [Item("log", head(found, _LONG), ranks(found.ranks, 3) or found.kind) for found in able[:3]]
    if not items:
        return [Section("failed", [Item("strong", "Nothing was found that could be the root.")], "failure")]
    return [Section("failed", [Item("strong", "It could be one of these:"), *items], "failure")]
