"""Where to go from a report: how to read on in the log, and which command gets the part of it that is missing.

A value from a log enters a command only where it is what it must be, by a strict pattern, and quoted.
"""

from __future__ import annotations

import re
import time

from triage.lazy import regex
from triage.lines.clock import days
from triage.report.items import Item, Section
from triage.report.names import command
from triage.report.sentence import diagnoses
from triage.report.times import iso, stamp
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Failure, Incident, Position

_LINKS = 2
# What led to a failure and what came of it stand within so many seconds before and after it.
_BEFORE, _AFTER = 600, 60
_UNIT = regex(r"[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]{0,254}")
_HOST = regex(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
# RFC 1123 names, as Kubernetes takes them; what docker compose makes of a service's name and a number.
_POD = regex(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_COMPOSE = regex(r"([a-z0-9][a-z0-9_.-]{0,62}?)[-_]\d{1,4}")
_LINK = regex(r"https://[\w.-]+(?:/[\w.~:/?#@!$&()*+,;=%-]*)?", re.ASCII)
_PACKED = (".gz", ".xz", ".zst", ".bz2", ".journal", ".export")
_STAMP = regex(r"([A-Za-z]{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d+)?", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def read_on(incident: Incident, at: Position) -> list[str]:
    """Take an incident and a position in it; return the command that opens the log there, [] where none can."""
    if at.cursor is not None:
        unit = _unit(incident)
        if not unit or not at.time or not 0 < at.time < 1e11:
            return []
        host, where = _journal(incident)
        words = ["journalctl", *where, "-u", unit, f"--since=@{int(at.time)}"]
        return ["ssh", f"ssh://{host}" if ":" in host else host, command(words)] if host else words
    if not _is_file(at.source) or at.source.startswith("-") or at.source.endswith(_PACKED):
        return []
    return ["less", f"+{at.line}" if at.line is not None else f"+{at.offset}P", at.source]


def next_steps(incident: Incident, root: Failure | None) -> list[Section]:
    """Take an incident and its root failure; return where to read more, or how to get what is missing to tell."""
    known = diagnoses(incident, root)
    sure = bool(known) and known[0].confidence != "possible"
    found = []
    if (root is not None and (not sure or _bare(root))) or (root is None and incident.outcome == "failed"):
        found.append(Section("next", _missing(incident, root), "more"))
    if sure:
        more = [Item("command", command(["triage", "explain", known[0].signature]))]
        links = [link for link in known[0].references if _LINK.fullmatch(link)][:_LINKS]
        more += [Item("link", link, spare=number > 0) for number, link in enumerate(links)]
        found.append(Section("more", more, "more"))
    return found


def _bare(root: Failure) -> bool:
    """Say whether it is an exception of which the log has no traceback, nor anything else that makes it certain."""
    certain = any(known.confidence == "certain" for known in root.diagnoses)
    return root.exception is not None and not root.exception.frames and not certain


def _missing(incident: Incident, root: Failure | None) -> list[Item]:
    items = []
    if root is not None:
        said = "No traceback was read. " if _bare(root) else ""
        more = _more(incident, root)
        if more:
            host = root.first.host or ""
            where = f"On {host}, this" if _HOST.fullmatch(host) and not more.startswith("kubectl") else "This"
            restarted = " (with --previous once the container has restarted)" if more.startswith("kubectl") else ""
            items += [Item("prose", f"{said}{where} gets more of the log{restarted}:"), Item("command", more)]
        elif not _whole(incident, root):
            wanted = "Give triage the log from a few minutes before the failure to the end of it."
            items.append(Item("prose", said + wanted))
    if not diagnoses(incident, root):
        again = _again(incident)
        text = "To see all that failed, and what is known:" if again else "To see what is known:"
        commands = [found for found in (again, ["triage", "signatures", "list"]) if found]
        items += [Item("prose", text), *(Item("command", command(found)) for found in commands)]
    return items


def _whole(incident: Incident, root: Failure) -> bool:
    """Say whether the log seems to hold all: the start of the engine, and of an exception the traceback."""
    return "engine" in incident.facts and not (root.exception is not None and not root.exception.frames)


def _more(incident: Incident, root: Failure) -> str:
    """Return the command that prints more of the log around a failure, by what carried it here; "" where none can."""
    at, unit = root.first, _unit(incident)
    if _is_journal(incident.source):
        return ""
    if at.carrier in ("kubectl-prefix", "stern"):
        return _kubectl(at)
    if at.carrier == "compose":
        return _compose(at)
    if at.cursor is None and not at.carrier.startswith("journal-"):
        return ""
    when = _around(at)
    if unit:
        return command(["triage", "journal", unit, *when])
    if at.pid is None or at.pid < 2 or root.kind in ("unit", "kernel"):
        return ""
    return command(["journalctl", f"_PID={at.pid}", *when, "-o", "short-precise", "--no-pager"]) + " | triage"


def _kubectl(at: Position) -> str:
    if not _POD.fullmatch(at.host or "") or not _POD.fullmatch(at.ident or ""):
        return ""
    since = iso(int(at.time - _BEFORE), True) if at.time is not None and at.zoned else None
    when = [f"--since-time={since}"] if since else []
    return command(["kubectl", "logs", at.host or "", "-c", at.ident or "", "--timestamps", *when]) + " | triage"


def _compose(at: Position) -> str:
    found = _COMPOSE.fullmatch(at.ident or "")
    if not found:
        return ""
    since = iso(int(at.time - _BEFORE), at.zoned) if at.time is not None else None
    when = [f"--since={since}"] if since else []
    return command(["docker", "compose", "logs", "--no-color", "--timestamps", *when, found[1]]) + " | triage"


def _around(at: Position) -> list[str]:
    """Return the options of journalctl, and of triage, for the time around a failure, in the zone of its stamps."""
    moment = at.time if at.time is not None else _dated(at.stamp)
    if moment is None:
        return []
    since, until = (stamp(moment + shift, at.zoned, False) for shift in (-_BEFORE, _AFTER))
    return ["--since", since, "--until", until] if since and until else []


def _dated(text: str) -> float | None:
    """Take a stamp without a year; return its time in the last year in which that day has come."""
    found = _STAMP.fullmatch(text)
    if not found or found[1].lower() not in _MONTHS:
        return None
    month, (day, hour, minute, second) = _MONTHS.index(found[1].lower()) + 1, map(int, found.groups()[1:])
    today = time.localtime()
    year = today.tm_year - ((month, day) > (today.tm_mon, today.tm_mday))
    while (month, day) == (2, 29) and days(year, 3, 1) - days(year, 2, 1) == 28:
        year -= 1
    return float(days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second)


def _again(incident: Incident) -> list[str]:
    unit = _unit(incident)
    if unit and _is_journal(incident.source):
        host, where = _journal(incident)
        return ["triage", "journal", unit, *(["-H", host] if host else []), *where, "--all-failures"]
    logs = incident.sources or [incident.source]
    if not all(map(_is_file, logs)):
        return []
    return ["triage", "logs", "--all-failures", *(["--"] if any(log.startswith("-") for log in logs) else []), *logs]


def _unit(incident: Incident) -> str | None:
    units = [member.unit for member in incident.members if member.unit and _UNIT.fullmatch(member.unit)]
    return units[0] if units else None


def _journal(incident: Incident) -> tuple[str, list[str]]:
    """Return the host that was read over ssh, "" where none was, and the options that make journalctl, and triage, read
    the journal that the incident was read from (`triage.sources.source.journal_name` gives its name).
    """
    place = incident.source.partition(" ")[2]
    user = ["--user"] if place.partition(" ")[0] == "--user" else []
    place = place.partition(" ")[2] if user else place
    if place.startswith("ssh://"):
        return place[len("ssh://") :], user
    places = place.split(", ")
    if all(one.endswith((".journal", ".journal~")) for one in places):
        return "", [*user, *(word for one in places for word in ("--file", one))]
    if "/" in place:
        return "", [*user, "-D", place]
    return "", [*user, "-M", place] if place else user


def _is_journal(source: str) -> bool:
    return source.partition(" ")[0] == "journal"


def _is_file(source: str) -> bool:
    return source != "stdin" and not _is_journal(source) and ("/" in source or "." in source)
