"""The last words of a process: the last line that nobody knows and that says what is wrong, before its death.

Where nothing but "a child died" is left, such a line often names the cause (`setting membind: Invalid argument`). It is
a general fallback: whatever signature or row of knowledge fits comes first, and chatter is never taken for a reason.
"""

from __future__ import annotations

from triage.data import knowledge
from triage.fingerprint import fingerprint
from triage.lazy import regex
from triage.model import Failure, Incident
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.incident.attempts import Attempt

LAST_WORDS = "fallback/last-words"
"""The rule of a failure that is the last words of a process; it is found only after all others were matched."""
_LEVEL = 0.95
# An unexplained exit with one of these codes has its reason elsewhere: a signal leaves no words.
_SIGNALS = regex(r"-\d+")
_TEARDOWN = 3
_LONGEST = 600
# Output reaches the journal after systemd's own line that the process is gone, within so many lines.
_LATE = 20


def tell(incident: Incident, root: Failure) -> None:
    """Take an incident and its root; where the root is a mere exit, add what was called an error before it."""
    if root.kind not in ("unit", "exit"):
        return
    said = [f for f in incident.failures if f.rule == "message/error" and f.order < root.order + _LATE][-2:]
    for failure in said:
        root.text = f"{root.text[:1500]}\n{failure.text[:200]}"
        root.evidence = [*failure.evidence[-1:], *root.evidence]


def last_words(incident: Incident, attempt: Attempt) -> None:
    """Take an incident that failed; where its strongest failure only announces a death, add the last words."""
    failures = [f for f in incident.failures if f.level is not None and f.data.get("role") != "teardown"]
    if not failures:
        return
    strongest = min(failures, key=lambda f: (f.level if f.level is not None else 3.0, f.order))
    if strongest.level is None or strongest.level < _LEVEL or strongest.kind not in ("exit", "unit"):
        return
    exits = [f for f in failures if f.kind == "exit" and f.level is not None and f.level < _TEARDOWN]
    if any(_SIGNALS.fullmatch(f.data.get("code", "")) for f in exits):
        return
    if strongest.kind == "unit" and (strongest.data.get("signal") or "engine" not in incident.facts):
        return
    death = min(f.order for f in failures if f.fatal) if any(f.fatal for f in failures) else strongest.order
    telling = regex(knowledge("messages")["telling"])
    words = [
        (number, said, track.stream, track.rank)
        for track in attempt.tracks
        for number, said in track.words
        if number < death and telling.search(said.text[:_LONGEST])
    ]
    if not words:
        return
    number, said, stream, rank = max(words, key=lambda word: word[0])
    failure = Failure(
        id=f"f{len(incident.failures) + 1}",
        kind="message",
        rule=LAST_WORDS,
        fingerprint=fingerprint("message", LAST_WORDS, None, [], said.text),
        first=said.at,
        last=said.at,
        level=_LEVEL,
        ranks=[rank] if rank else [],
        text=said.text,
        evidence=[said],
        streams={stream},
        order=number,
    )
    failure.data["last"] = str(number)
    incident.failures.append(failure)
