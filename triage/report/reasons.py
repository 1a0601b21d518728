"""The second part of a view: why it failed, how surely, and what to do about it."""

from __future__ import annotations

from triage.lazy import regex
from triage.report.items import Item, Section
from triage.report.names import command
from triage.report.sentence import diagnoses
from triage.report.text import one_line, sentences, visible
from triage.report.wording import risks
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Diagnosis, Failure, Fix, Incident

_FIXES, _OTHERS, _POSSIBLE, _SENTENCES = 4, 3, 4, 2
# How matching says that a fact or a release is not known.
_UNSEEN = regex(r"(\S+)(?: release)? not in the log \(wanted: (.*)\)")
# How a fix says which command tells the release.
_ASKS = regex(r"; `[^`]*` tells which one runs")


def cause(incident: Incident, root: Failure | None) -> list[Section]:
    """Take an incident and its root failure; return why it failed, how sure that is, and what else it could be.

    What is merely possible is listed and not told as the cause: each signature with what is missing to tell.
    """
    known = diagnoses(incident, root)
    if not known:
        return []
    best = known[0]
    if best.confidence == "possible":
        return [_possible(known)]
    said = best.cause.strip()
    text = [Item("strong", one_line(best.title))]
    if said:
        text.append(Item("prose", visible(said), short=visible(sentences(said, _SENTENCES))))
    found = [Section("cause", text, "cause"), *_certainty(best)]
    others = [
        Item("prose", one_line(f"{other.signature} ({other.confidence}): {other.title}"), lines=1)
        for other in known[1:]
        if best.confidence != "certain" or other.confidence != "likely"
    ]
    if others:
        found.append(Section("or", others[:_OTHERS], "cause"))
    return found


def _possible(known: list[Diagnosis]) -> Section:
    items = [Item("strong", "No signature is sure; possible:")]
    for one in known[:_POSSIBLE]:
        frames = [phrase for phrase in one.missing if phrase.startswith("frame ")]
        needed = ", ".join(_wanted(phrase) for phrase in [*one.missing, *one.unconfirmed] if phrase not in frames[1:])
        items.append(Item("prose", one_line(f"{one.signature}: {one.title}"), lines=1))
        if needed:
            items.append(Item("quiet", one_line(f"to tell: {needed}"), lines=1, inside=True))
    more = len(known) - _POSSIBLE
    also = f"{more} more. " if more > 0 else ""
    items.append(Item("quiet", f"{also}`triage explain ID` tells what it means and how to mend it."))
    return Section("possible", items, "cause", terse=True)


def _wanted(phrase: str) -> str:
    """Take what is missing of a match or of its conditions; return what would have to be there."""
    phrase = phrase.replace(" (the log has no traceback)", "")
    found = _UNSEEN.fullmatch(phrase)
    return f"{found[1]} {found[2]}" if found else phrase


def _certainty(best: Diagnosis) -> list[Section]:
    rows = [
        (best.confidence, "matched " + ", ".join(best.matched) if best.matched else ""),
        ("unchecked", ", ".join(text for text in best.unconfirmed if not (best.release and " release " in text))),
        ("release", best.release),
    ]
    return [
        Section(label, [Item("prose", one_line(text), lines=0 if label == "release" else 1)], "cause")
        for label, text in rows
        if text
    ]


def fixes(incident: Incident, root: Failure | None, screen: bool) -> list[Section]:
    """Take an incident and its root failure; return what to do, in order, with the commands that do it.

    Fixes that don't apply here are left out while there are others, and so are those of signatures that are less sure
    than the best one. What is merely possible mends nothing.
    """
    known = [diagnosis for diagnosis in diagnoses(incident, root) if diagnosis.fixes]
    best = known[0].confidence if known else "possible"
    found: dict[tuple[str, str], tuple[Fix, bool]] = {}
    for diagnosis in known:
        if diagnosis.confidence in ("certain", best) and best != "possible":
            for fix in diagnosis.fixes:
                found.setdefault((fix.title, str(fix.command)), (fix, "`" in diagnosis.release))
    able = [(fix, asked) for fix, asked in found.values() if fix.applies != "no"] or list(found.values())
    most = _FIXES if screen and len(able) > _FIXES + 1 else len(able)
    sections = [Section(f"fix {n}", _fix(fix, asked), "fixes") for n, (fix, asked) in enumerate(able[:most], 1)]
    if len(able) > most:
        sections[-1].items.append(Item("quiet", f"and {len(able) - most} more fixes, see --all-failures"))
    return sections


def _fix(fix: Fix, asked: bool) -> list[Item]:
    """Make the items of a fix; with `asked` the command that tells the release stands above already."""
    risk = risks(name for name in fix.risk if name != "none")
    items = [Item("strong", one_line(f"{fix.title} ({risk})" if risk else fix.title))]
    if fix.detail:
        items.append(Item("prose", visible(fix.detail.strip())))
    if fix.command:
        items.append(Item("command", command(fix.command)))
    if fix.why and fix.applies != "yes":
        word = {"no": "Does not apply", "unknown": "Not sure that it applies"}[fix.applies]
        reason = _ASKS.sub("", fix.why) if asked else fix.why
        items.append(Item("quiet", one_line(f"{word}: {reason}"), lines=2))
    return items
