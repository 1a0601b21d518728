"""Votes on the prefixes that a single line of text can look like.

In a CI log, `<time> Attempted locations:` looks like a journal line of the host `Attempted`, and a sentence with a `|`
like docker compose. So such a prefix counts only if it stands on many lines, with the same host or name again.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from triage.data import knowledge
from triage.lazy import compile_once
from triage.lines.foreign import foreign
from triage.lines.prefixes import Known, Peeler
from triage.lines.rows import Learned, Row, name_in, rows
from triage.lines.said import Merger, Said
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.lines.clock import Clock

JSON = "json"
_ENOUGH = 3
_FOREIGN_TRIES = 5
_MOST_WEAK = 0.9
_OF_ALL = 0.02
_JOURNAL_SHARE = 0.5
_JSON_SHARE = 0.3


class Votes:
    """Looks at lines and decides which rows `learned` shall hold; what was decided stays."""

    def __init__(self, learned: Learned, clock: Clock) -> None:
        self._learned = learned
        self._clock = clock
        self._looked = 0
        self._peeler = Peeler(Learned(everything=True, hosts=learned.hosts), clock, Merger())
        keys = "|".join(re.escape(key.split(".")[0]) for key in knowledge("prefixes")["json"]["text"])
        self._json = compile_once(rf'(?:data: )?\{{\s*"(?:.*")?(?:{keys})"\s*:', re.DOTALL)

    def count(self, texts: Sequence[str]) -> bool:
        """Take the texts of some lines in order; return whether anything new was learned."""
        texts = list(filter(str.strip, texts))
        found: dict[Row, list[tuple[int, dict[str, str | None]]]] = {}
        objects: list[int] = []
        peeler = self._peeler
        nothing: Known = (Said(), None, False)
        # Most lines of most logs begin a record, and then nothing else that would need a vote.
        others: list[int] = []
        for index, begins in peeler.others(texts):
            text = texts[index]
            if not begins:
                others.append(index)
            peeler.hits = []
            peeler.peel(text, 0, nothing)
            for row, match in peeler.hits:
                if row.learn is not None:
                    found.setdefault(row, []).append((index, match.groupdict()))
            if text.endswith("}") and self._json.match(text, peeler.rest):
                objects.append(index)
        changed = False
        for row, hits in found.items():
            if row.learn == "hosts":
                changed |= self._hosts(row, hits, len(texts))
            elif row.learn == "names":
                changed |= self._names(row, hits, len(texts))
            elif _stands([index for index, _ in hits], len(texts), row.at_least):
                changed |= self._accept(row.id)
        if _stands(objects, len(texts), _JSON_SHARE):
            changed |= self._accept(JSON)
        return self._foreign(texts, others) or changed

    def begins_record(self, text: str) -> bool:
        """Take a line; return whether it is known to begin with the head of a record: nothing else can carry it."""
        return not self._learned.foreign and self._peeler.begins_record(text)

    def _foreign(self, texts: Sequence[str], others: Sequence[int]) -> bool:
        """Learn a prefix that is no row's, once, from the first lines; `others` are those that begin no record."""
        if self._learned.foreign or self._looked >= _FOREIGN_TRIES or JSON in self._learned.rows:
            return False
        self._looked += 1
        nothing: Known = (Said(), None, False)

        @cache
        def fresh() -> Peeler:
            return Peeler(self._learned, self._clock, Merger())

        def peel(text: str, at: int) -> int:
            peeler = fresh()
            peeler.peel(text, at, nothing)
            return peeler.rest

        self._learned.foreign = foreign(texts, peel, others)
        return bool(self._learned.foreign)

    def _accept(self, name: str) -> bool:
        new = name not in self._learned.rows
        self._learned.rows.add(name)
        return new

    def _hosts(self, row: Row, hits: list[tuple[int, dict[str, str | None]]], total: int) -> bool:
        sure = [hit for hit in hits if hit[1]["pid"] or hit[1]["ident"] == "kernel"]
        if not sure and len(hits) >= total * _MOST_WEAK:
            sure = hits
        if not _stands([index for index, _ in sure], total, _JOURNAL_SHARE) or len(sure) < total * _OF_ALL:
            return False
        counts = Counter(groups["host"] for _, groups in sure)
        hosts = {host for host, count in counts.items() if host and (count >= _ENOUGH or len(sure) == total)}
        new = not hosts <= self._learned.hosts
        self._learned.hosts |= hosts
        return self._accept(row.id) or new

    def _names(self, row: Row, hits: list[tuple[int, dict[str, str | None]]], total: int) -> bool:
        counts = Counter(name_in(groups) for _, groups in hits)
        names = {name for name, count in counts.items() if count >= _ENOUGH or (len(counts) == 1 and count == total)}
        if not _stands([index for index, groups in hits if name_in(groups) in names], total, row.at_least):
            return False
        known = self._learned.names.setdefault(row.id, set())
        new = not names <= known
        known |= names
        return self._accept(row.id) or new


def _stands(indexes: list[int], total: int, share: float) -> bool:
    """Say whether a prefix stands on enough of the lines between the first and the last that have it."""
    if not indexes:
        return False
    if len(indexes) == total:
        return True
    return len(indexes) >= _ENOUGH and len(indexes) >= share * (indexes[-1] - indexes[0] + 1)


def learnable() -> set[str]:
    """Return the rows that need a vote."""
    return {row.id for row in rows() if row.learn is not None} | {JSON}
