"""Peels stacked prefixes off a line, from the outside in, until none is left.

The prefixes are rows of `triage/knowledge/prefixes.yaml`. Those that a single line of text can look like count only
once `triage.lines.learn` has voted for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from triage.data import knowledge
from triage.lines.clock import Clock, Reading
from triage.lines.ranks import from_process
from triage.lines.said import NO_RANK, Merger, Origin, Said

_SORTS = {"transport": 0, "writer": 1, "record": 2}
_IN_STREAM = ("host", "ident", "pid", "name", "ip", "pod", "container", "out", "where", "rank")
_RECORD = 2
_PLACES = 4
_UNSEEN = Said()
_MOST = 12
_KEPT = 8192
_UNIT = r"[\w@:.\\-]+\.(?:service|scope|socket|mount|target|timer|slice|device|swap|path)"
# Units under whose name `-o with-unit` prints what is said about others.
_MANAGERS = ("user@", "systemd-coredump@", "systemd-journald.service", "systemd-oomd.service")
_IS_UNIT = re.compile(_UNIT)
_ABOUT_UNIT = re.compile(rf"(?P<named>{_UNIT}): |[A-Z][a-z]+(?: [a-z]+){{0,2}} (?P<done>{_UNIT})(?: - |\.|$)")

Match = Callable[[str, int], "re.Match[str] | None"]
_Try = tuple[int, "str | None", Match, "dict[str, Said | None]", "Callable[[str], Reading] | None", "Row"]
Known = tuple[Said, "float | None", bool]
"""What is known of a line before its prefixes are read: what was said, its time, whether that has a zone."""


@dataclass(slots=True, eq=False)
class Row:
    """One prefix. `level` is 0 for a transport, 1 for a writer's label, 2 for a record head.

    `first` holds the characters that can stand at its first places; beyond it, and where it is empty, any can.
    """

    id: str
    level: int
    match: Match
    stamped: bool
    stamp: str
    learn: str | None
    at_least: float
    first: tuple[frozenset[str], ...]
    need: str | None
    trust: int
    keep: bool
    suffix: re.Pattern[str] | None
    ident: str | None
    samples: list[tuple[str, dict[str, Any]]]

    def may_begin(self, text: str) -> bool:
        """Say whether the prefix can begin with these characters, of which the last may be cut off."""
        return all(char in allowed or char > "\x7f" for char, allowed in zip(text, self.first, strict=False))


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of knowledge, in the order in which they are tried."""
    table = knowledge("prefixes")
    parts: dict[str, str] = table["parts"]

    def pattern(text: str) -> re.Pattern[str]:
        for _ in range(3):
            text = re.sub(r"<<(\w+)>>", lambda found: parts[found[1]], text)
        return re.compile(text)

    found = []
    for row in table["rows"]:
        regex = pattern(row["regex"])
        found.append(
            Row(
                id=row["id"],
                level=_SORTS[row["sort"]],
                match=regex.match,
                stamped="stamp" in regex.groupindex,
                stamp=row.get("stamp", "none"),
                learn=row.get("learn"),
                at_least=row.get("at_least", 0.0),
                first=_first(row.get("first", "")),
                need=row.get("need"),
                trust=row.get("trust", NO_RANK - 1),
                keep=row.get("keep", False),
                suffix=re.compile(row["suffix"]) if "suffix" in row else None,
                ident=row.get("ident"),
                samples=[(line, said) for line, said in row["samples"]],
            )
        )
    return tuple(found)


def _first(sets: str) -> tuple[frozenset[str], ...]:
    """Read a row's `first`: sets of characters as in a regex, one for each of the first places."""
    ascii_chars = [chr(code) for code in range(128)]
    found = []
    for one in re.findall(r"\[\^?\]?[^\]]*\]|\\.|[^\[\\]", sets):
        pattern = re.compile(one)
        found.append(frozenset(char for char in ascii_chars if pattern.fullmatch(char)))
    return tuple(found)


def clock() -> Clock:
    """Return a clock for a new log."""
    table = knowledge("prefixes")
    return Clock(table["months"], table["zones"])


@dataclass(slots=True)
class Learned:
    """Which rows that need a vote are in use in this log, and the hosts and names that they may hold.

    `hosts` are the hosts of the journal's shapes, `names` those of the rows that repeat a name, by row.
    """

    rows: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)
    everything: bool = False

    def admits(self, row: Row, groups: dict[str, str | None]) -> bool:
        """Say whether this match of the row is a prefix and not mere text."""
        if self.everything or row.learn is None or row.learn == "share":
            return True
        if row.learn == "hosts":
            return groups["pid"] is not None or groups["host"] in self.hosts
        return name_in(groups) in self.names.get(row.id, ())


def name_in(groups: dict[str, str | None]) -> str:
    """Return the name that a row with `learn: names` repeats."""
    return " ".join(groups[key] or "" for key in ("pod", "container", "ident") if key in groups)


class Peeler:
    """Peels the lines of one log. Its attributes hold what the last call of `peel` found.

    `rest` is where the text begins, `said`, `time` and `zoned` what all prefixes say, `outer` and `outer_time` what
    those before the first record head say. `margin` is where a prefix of the journal ended, 0 without one; `cut` where
    one that can stand before a piece of a line ended (None without one), with what was said up to there.
    """

    def __init__(self, learned: Learned, clock: Clock, merger: Merger) -> None:
        self.learned = learned
        self.clock = clock
        self.said = self.outer = self.cut_said = Said()
        self.time: float | None = None
        self.outer_time: float | None = None
        self.zoned = False
        self.rest = self.margin = 0
        self.cut: int | None = None
        self.partial = False
        self.suffix: re.Pattern[str] | None = None
        self.hits: list[tuple[Row, re.Match[str]]] | None = None
        self._merger = merger
        self._by_first: dict[str, list[_Try]] = {}
        self._memos: dict[Row, dict[str, Said | None]] = {}
        self._speakers: dict[str, Origin] = {
            ident: origin for origin, idents in knowledge("prefixes")["speakers"].items() for ident in idents
        }
        self._levels: dict[str, int] = knowledge("prefixes")["levels"]
        self.refresh()

    def refresh(self) -> None:
        """Take note that `learned` has changed."""
        self._by_first.clear()
        learned = self.learned
        self._memos = {
            row: {} for row in rows() if row.learn is None or learned.everything or row.id in learned.rows
        }

    def _candidates(self, first: str) -> list[_Try]:
        kinds = self.clock.kinds
        found = [
            (row.level, row.need, row.match, self._memos[row], kinds[row.stamp] if row.stamped else None, row)
            for row in self._memos
            if row.may_begin(first)
        ]
        if len(self._by_first) > _KEPT:
            self._by_first.clear()
        self._by_first[first] = found
        return found

    def peel(self, text: str, position: int, known: Known, level: int = 0) -> None:
        """Take a line, where to begin, and what is known of it already; peel what stands there.

        Stops after the prefix of a piece of a line. `level` is the least level that may still come: after a record head
        only record heads can follow.
        """
        by_first = self._by_first
        seconds = self.clock.seconds
        sums = self._merger.sums
        said, time, zoned = known
        uptime: str | None = None
        self.suffix = self.cut = None
        self.partial = False
        self.margin = 0
        outer, outer_time = said, time
        for _ in range(_MOST):
            first = text[position : position + _PLACES]
            if not first:
                break
            candidates = by_first.get(first)
            if candidates is None:
                candidates = self._candidates(first)
            for row_level, need, match, memo, read, row in candidates:
                if row_level < level or (need is not None and need not in text):
                    continue
                found = match(text, position)
                if found is None:
                    continue
                end = found.end()
                # Without the time few prefixes of a log differ.
                if read is None:
                    key = text[position:end]
                else:
                    start, stop = found.span("stamp")
                    key = text[stop:end] if start == position else text[position:start] + text[stop:end]
                one = memo.get(key, _UNSEEN)
                if one is _UNSEEN:
                    if len(memo) > _KEPT:
                        memo.clear()
                    one = memo[key] = self._say(row, found)
                if one is not None:
                    break
            else:
                break
            if self.hits is not None:
                self.hits.append((row, found))
            if read is not None:
                stamp = text[start:stop]
                if time is None:
                    time = seconds.get(stamp)
                    if time is None:
                        time, zoned = read(stamp)
                        if time is None and row.stamp == "uptime":
                            uptime = stamp
                    if uptime is not None and time is not None:
                        self.clock.tie(uptime, time)
                elif row_level == _RECORD and stamp not in seconds:
                    read(stamp)
            said = sums.get((said, one)) or self._merger.add(said, one)
            if row.suffix is not None:
                self.suffix = row.suffix
            if row.keep:
                break
            position = end
            level = row_level
            if level < _RECORD:
                outer, outer_time = said, time
                if one.journal:
                    self.margin = position
                if row.id == "cri":
                    self.cut, self.cut_said, self.partial = position, said, one.partial
                    if one.partial:
                        break
        self.said, self.time, self.zoned, self.rest = said, time, zoned, position
        self.outer, self.outer_time = outer, outer_time

    def _say(self, row: Row, found: re.Match[str]) -> Said | None:
        groups = found.groupdict()
        if not self.learned.admits(row, groups):
            return None
        ident = groups.get("ident") or groups.get("name") or groups.get("container") or row.ident
        unit, origin = self._speaker(ident, groups.get("pid")) if row.level == 0 else (None, "service")
        rank, trust = _rank(row, groups)
        parts = [groups[key] or "" for key in _IN_STREAM if key in groups] if row.level < _RECORD else []
        pid = groups.get("pid")
        return Said(
            stream=":".join(parts),
            host=groups.get("pod") or groups.get("ip") or groups.get("host"),
            unit=unit,
            pid=int(pid) if pid and pid.isdigit() else None,
            ident=ident,
            rank=rank,
            trust=trust,
            severity=self._severity(groups),
            origin=origin,
            named=row.level == 0 and bool(parts or row.ident),
            record=row.level == _RECORD,
            partial=groups.get("flag") == "P",
            journal=row.learn == "hosts",
        )

    def _severity(self, groups: dict[str, str | None]) -> int | None:
        pri = groups.get("pri")
        return int(pri) & 7 if pri else self._levels.get(groups.get("level") or "")

    def _speaker(self, ident: str | None, pid: str | None) -> tuple[str | None, Origin]:
        """Return the unit that an identifier of a text journal names, and who speaks under it."""
        if ident is None:
            return None, "service"
        if ident == "kernel" and pid is None:
            return None, "kernel"
        if ident in self._speakers:
            return None, self._speakers[ident]
        if ident.startswith("(") and ident.endswith(")"):
            return None, "manager"
        last = ident.rpartition("/")[2]
        if not _IS_UNIT.fullmatch(last):
            return None, "service"
        if last == "init.scope" or (last == ident and last.startswith(_MANAGERS)):
            return None, "manager"
        return last, "service"


def _rank(row: Row, groups: dict[str, str | None]) -> tuple[str | None, int]:
    labels = (groups.get("labels") or "").strip()
    if labels:
        return labels, row.trust
    if groups.get("gpu"):
        return f"gpu{groups['gpu']}", row.trust
    if groups.get("rank"):
        return f"rank{groups['rank']}", row.trust
    name = from_process(groups.get("name") or "")
    return name, row.trust if name else NO_RANK


def unit_in(text: str) -> str | None:
    """Take a line of systemd's; return the unit it is about (`x.service: Failed ..`, `Started x.service - ..`)."""
    found = _ABOUT_UNIT.match(text)
    return (found["named"] or found["done"]) if found else None
