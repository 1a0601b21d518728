"""What came after a failure: what followed from it, how other attempts went."""

from __future__ import annotations

from triage.data import knowledge
from triage.records import dataclass
from triage.report.items import Item, Section
from triage.report.names import ranks
from triage.report.sentence import head
from triage.report.text import one_line
from triage.report.times import stamp
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Failure, Incident

_ON_SCREEN, _IN_ALL, _EARLIER, _WIDTH = 4, 12, 2, 160
_DULL, _LAST, _NAMES = 3, 9, 18
_SIGQUIT, _RESTART = "sglang/sigquit", "systemd/restart"
_SAYS_NOTHING = ("later", "unit-result")


@dataclass(slots=True)
class _Row:
    tells: int
    order: int
    what: str
    why: str
    count: int
    ranks: list[str]


def aftermath(incident: Incident, root: Failure | None, local: bool, screen: bool) -> list[Section]:
    """Take an incident and its root failure; return what followed from it, and what other attempts did.

    On a screen what followed takes four lines at most: what tells most, in the order in which it happened.
    """
    found = []
    followers = _followers(incident, root, screen) if root else []
    if followers:
        found.append(Section("then", followers, "lines"))
    earlier = incident.attempts.count - 1
    if earlier > 0:
        found.append(Section("earlier", _earlier(incident, earlier), "lines"))
    again = stamp(incident.attempts.restarted, incident.zoned, local)
    if again:
        found.append(
            Section("later", [Item("prose", f"started again at {again}, too short a time ago to tell")], "lines")
        )
    return found


def came_up(incident: Incident) -> list[Section]:
    """Take an incident in which nothing failed; return what failed before it came up, the latest attempts only."""
    if not incident.attempts.failed:
        return []
    lines = [Item("log", one_line(text)) for text in incident.attempts.earlier[-_EARLIER:]]
    return [Section("earlier", lines, "lines")]


def why(rule: str) -> str:
    """Take the rule by which a failure follows from another one; return it in words, "" where there are none."""
    return str(knowledge("roles")["words"].get(rule, ""))


def _followers(incident: Incident, root: Failure, screen: bool) -> list[Item]:
    """One item for each kind of failure that followed, equal ones of several ranks folded."""
    kinds: dict[tuple[str, str], list[Failure]] = {}
    for other in incident.failures:
        if other.role in ("consequence", "teardown"):
            kinds.setdefault((_what(other), _reason(other, incident, root)), []).append(other)
    rows = [
        _Row(_tells(found[0]), found[0].order, what + _times(found), why, len(found), _ranks(found))
        for (what, why), found in kinds.items()
    ]
    given_up = any(other.rule == "systemd/start-limit" for other in incident.failures)
    if incident.exit is not None and incident.exit.restarts is not None and not given_up:
        after = max((row.order for row in rows), default=0) + 1
        rows.append(_Row(_tells_of(_RESTART, "unit"), after, "restart scheduled", "", 0, []))
    rows.sort(key=lambda row: (row.tells, row.order))
    if screen:
        rows = [row for row in rows if row.tells < _LAST] or rows
    most = _ON_SCREEN if screen else _IN_ALL
    kept = rows if len(rows) <= most else rows[: most - 1]
    rest = sum(row.count for row in rows[len(kept) :])
    items = [
        Item("log", f"{row.what}{row.why}", _who(row.ranks), keep=len(row.why))
        for row in sorted(kept, key=lambda row: row.order)
    ]
    if rest:
        items.append(Item("quiet", f"and {rest:,} more {'failure' if rest == 1 else 'failures'}, see --all-failures"))
    return items


def _ranks(found: list[Failure]) -> list[str]:
    return list(dict.fromkeys(rank for one in found for rank in one.ranks))


def _who(labels: list[str]) -> str:
    """Return the ranks, or only how many, where their names would leave no room for what they did."""
    named = ranks(labels, 3)
    return named if len(named) <= _NAMES else f"{len(labels)} ranks"


def _times(found: list[Failure]) -> str:
    count = sum(one.count for one in found)
    return f", {count:,} times" if count > max(len(_ranks(found)), 1) else ""


def _what(failure: Failure) -> str:
    words = knowledge("follower_words")["words"].get(failure.rule, ())
    return next((filled for filled in (_filled(text, failure.data) for text in words) if filled), head(failure, _WIDTH))


def _reason(failure: Failure, incident: Incident, root: Failure) -> str:
    """Return why it followed, where that says something: ` (a child process failed)`."""
    rule = failure.because.rule if failure.because else ""
    if rule == "unit-result" and _own_kill(failure, incident, root):
        rule = "tree-killed"
    said = why(rule) if rule not in _SAYS_NOTHING else ""
    return f" ({said})" if said else ""


def _filled(text: str, data: dict[str, str]) -> str:
    try:
        return one_line(text.format_map(data))
    except KeyError:
        return ""


def _own_kill(failure: Failure, incident: Incident, root: Failure) -> bool:
    """Say whether SIGKILL is the engine's own doing: SGLang ends its process tree with it when a child fails."""
    killed = failure.data.get("signal") == "SIGKILL" and root.kind != "kernel"
    return killed and any(other.rule == _SIGQUIT for other in incident.failures)


def _tells(failure: Failure) -> int:
    return _LAST if failure.role == "teardown" else _tells_of(failure.rule, failure.kind)


def _tells_of(rule: str, kind: str) -> int:
    tells = knowledge("follower_words")["tells"]
    return int(tells.get(rule, tells.get(kind, _DULL)))


def _earlier(incident: Incident, earlier: int) -> list[Item]:
    tail = {True: ", failed in the same way", False: ", not all failed in the same way:", None: ""}
    same = incident.attempts.same_fingerprint
    attempts = "1 attempt" if earlier == 1 else f"{earlier:,} attempts"
    items = [Item("prose", f"{attempts} before this one{tail[same]}")]
    if same is False:
        items += [Item("log", one_line(text)) for text in incident.attempts.earlier[-_EARLIER:]]
    return items
