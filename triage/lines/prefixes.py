"""Peels stacked prefixes off a line, from the outside in, until none is left.

The prefixes are rows of `triage/knowledge/prefixes.yaml`. Those that a single line of text can look like count only
once `triage.lines.learn` has voted for them.
"""

from __future__ import annotations

from triage.lines.rows import RECORD, Learned, Row, beginning, rows
from triage.lines.said import Said
from triage.lines.saying import Sayings
from triage.typed import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence

    from triage.lines.clock import Clock, Reading
    from triage.lines.rows import Match
    from triage.lines.said import Merger

Known: TypeAlias = "tuple[Said, float | None, bool]"
"""What is known of a line before its prefixes are read: what was said, its time, whether that has a zone."""

Head: TypeAlias = "tuple[Said, float, int]"
"""The head of a record: what it says, its time, where it ends."""

_Memo: TypeAlias = "dict[str, Said | None]"
_Try: TypeAlias = "tuple[int, Match, _Memo, Callable[[str], Reading] | None, Row]"
_Quick: TypeAlias = "tuple[int, int, str, _Memo, Callable[[str], Reading] | None, Row]"
_Begun: TypeAlias = "tuple[int, int, str, int, _Memo]"
_Tries: TypeAlias = "tuple[tuple[_Try, ...], ...]"

_MOST = 12
_PLACES = 4
_LONGEST = 200
_KEPT = 8192
_UNSEEN = Said()


class Peeler:
    """Peels the lines of one log. Its attributes hold what the last call of `peel` found.

    `rest` is where the text begins, `said`, `time` and `zoned` what all prefixes say, `outer` and `outer_time` what
    those before the first record head say. `stamp` is one that gave no time, as it says no year. `margin` is where a
    prefix of the journal ended, 0 without one; `cut` where one that can stand before a piece of a line ended (None
    without one), with what was said up to there. `hits`, unless None, collects the matches.
    """

    def __init__(self, learned: Learned, clock: Clock, merger: Merger) -> None:
        self.clock = clock
        self.said = self.outer = self.cut_said = Said()
        self.time: float | None = None
        self.outer_time: float | None = None
        self.zoned = False
        self.stamp = ""
        self.rest = self.margin = 0
        self.cut: int | None = None
        self.partial = False
        self.suffix: re.Pattern[str] | None = None
        self.hits: list[tuple[Row, re.Match[str]]] | None = None
        self._learned = learned
        self._sayings = Sayings(learned)
        self._merger = merger
        self._memos: dict[Row, _Memo] = {}
        self._seconds = clock.seconds
        # What may begin with some characters: for each level what may come from there on, and the quick way.
        self._by_first: dict[str, tuple[_Tries, _Quick | None]] = {}
        self._late: list[tuple[str, Row]] = []
        # The short way: heads of records by the characters that they begin with, what was said by those behind which
        # nothing more can be peeled, and the words of lines that take the long way.
        self._heads: dict[str, _Begun] = {}
        self._plain: dict[str, Said] = {}
        self._words: list[str] = []
        self.refresh()

    def refresh(self) -> None:
        """Take note that `learned` has changed."""
        self._by_first.clear()
        self._heads.clear()
        self._plain.clear()
        self._memos = {row: {} for row in rows() if self._learned.uses(row)}
        self._late = [(row.need, row) for row in self._memos if row.need is not None]
        self._words = [word for word, row in self._late if row.level == RECORD]
        self._foreign = self._learned.foreign

    def peel(self, text: str, position: int, known: Known, level: int = 0, *, tried: bool = False) -> None:
        """Take a line, where to begin, and what is known of it already; peel what stands there.

        Stops after the prefix of a piece of a line. `level` is the least level that may still come: after a record head
        only record heads can follow. `tried` says that `plain_head` found nothing in the line.
        """
        if not position and not tried and self.hits is None:
            head = self.plain_head(text)
            if head is not None:
                self.take(head, known)
                return
        by_first = self._by_first
        seconds = self.clock.seconds
        sums = self._merger.sums
        hits = self.hits
        said, time, zoned = known
        uptime: str | None = None
        self.suffix = self.cut = None
        self.partial = False
        self.margin = 0
        self.stamp = ""
        outer, outer_time = said, time
        if self._foreign and not position:
            position = self._after_foreign(text)
        late: tuple[_Try, ...] = ()
        for literal, late_row in self._late:
            if literal in text:
                late += (self._try(late_row),)
        for _ in range(_MOST):
            first = text[position : position + _PLACES]
            if not first:
                break
            candidates, quick = by_first.get(first) or self._candidates(first)
            tries = candidates[level]
            if not tries and not late:
                break
            one: Said | None = None
            if quick is not None and hits is None:
                at, stop, mark, memo, read, row = quick
                stop += position
                stamp = text[position + at : stop]
                if stamp in seconds and row.level >= level:
                    end = text.find(mark, stop, stop + _LONGEST) + len(mark)
                    one = memo.get(text[position : position + at] + text[stop:end])
            if one is None:
                for row_level, match, memo, read, row in tries + late if late else tries:
                    if row_level < level:
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
                        stamp = text[start:stop]
                        key = text[position:start] + text[stop:end]
                    one = memo.get(key, _UNSEEN)
                    if one is _UNSEEN:
                        if len(memo) > _KEPT:
                            memo.clear()
                        one = memo[key] = self._sayings.read(row, found)
                    if one is not None:
                        break
                else:
                    break
                if hits is not None:
                    hits.append((row, found))
            level = row.level
            if read is not None:
                if time is None:
                    time = seconds.get(stamp)
                    if time is None:
                        time, zoned = read(stamp)
                        if time is None and row.stamp == "uptime":
                            uptime = stamp
                        elif time is None and row.stamp == "month":
                            self.stamp = stamp
                    if uptime is not None and time is not None:
                        self.clock.tie(uptime, time)
                elif level == RECORD and stamp not in seconds:
                    read(stamp)
            said = sums.get((said, one)) or self._merger.add(said, one)
            if row.suffix is not None:
                self.suffix = row.suffix
            if row.keep:
                break
            position = end
            if level < RECORD:
                outer, outer_time = said, time
                if one.journal:
                    self.margin = position
                if row.id == "cri":
                    self.cut, self.cut_said, self.partial = position, said, one.partial
                    if one.partial:
                        break
        self.said, self.time, self.zoned, self.rest = said, time, zoned, position
        self.outer, self.outer_time = outer, outer_time

    def _after_foreign(self, text: str) -> int:
        for pattern in self._foreign:
            found = pattern.match(text)
            if found is not None:
                return found.end()
        return 0

    def plain_head(self, text: str) -> Head | None:
        """Take a line; return the head of a record that begins it, if it was peeled before and nothing else is behind
        it: the short way for most lines of most logs.
        """
        head = self._heads.get(text[:_PLACES])
        if head is None:
            return None
        at, stop, mark, size, memo = head
        seconds = self._seconds.get(text[at:stop])
        if seconds is None:
            return None
        for word in self._words:
            if word in text:
                return None
        end = text.find(mark, stop, stop + _LONGEST) + size
        key = text[stop : end + _PLACES]
        one = self._plain.get(key)
        if one is not None:
            return one, seconds, end
        one = memo.get(text[:at] + text[stop:end])
        if one is None:
            return None
        tries = self._records_at(text, end)
        if tries:
            return self._second(text, (one, seconds, end), tries[0])
        if len(self._plain) > _KEPT:
            self._plain.clear()
        self._plain[key] = one
        return one, seconds, end

    def _second(self, text: str, head: Head, one_try: _Try) -> Head | None:
        """Take off another head without a time behind the first one, as uvicorn's behind SGLang's."""
        _, match, memo, read, row = one_try
        found = match(text, head[2]) if read is None and _is_plain(row) else None
        if found is None:
            return None
        end = found.end()
        more = memo.get(text[head[2] : end])
        if more is None or self._records_at(text, end):
            return None
        return self._merger.sums.get((head[0], more)) or self._merger.add(head[0], more), head[1], end

    def _records_at(self, text: str, at: int) -> tuple[_Try, ...]:
        """Return the heads of records that may stand there."""
        first = text[at : at + _PLACES]
        return (self._by_first.get(first) or self._candidates(first))[0][RECORD] if first else ()

    def take(self, head: Head, known: Known) -> None:
        """Do as `peel` with what `plain_head` found in a line."""
        one, seconds, self.rest = head
        said, time, zoned = known
        self.outer, self.outer_time, self.zoned = said, time, zoned
        self.said = self._merger.sums.get((said, one)) or self._merger.add(said, one)
        self.time = seconds if time is None else time
        self.suffix = self.cut = None
        self.partial = False
        self.margin = 0
        self.stamp = ""

    def begins_record(self, text: str) -> bool:
        """Take a line; return whether it begins with the head of a record that was peeled before, in any second that
        was seen before: whatever else it says then, no prefix of a transport does.
        """
        head = self._heads.get(text[:_PLACES])
        if head is None or text[head[0] : head[1]] not in self._seconds:
            return False
        at, stop, mark, size, memo = head
        return memo.get(text[:at] + text[stop : text.find(mark, stop, stop + _LONGEST) + size]) is not None

    def others(self, texts: Sequence[str]) -> Iterator[tuple[int, bool]]:
        """Take lines; yield the numbers, from 0, of those that need a closer look, with whether `begins_record` holds:
        where it does not, and where an object of JSON may end the line. A line that is peeled before the next one is
        taken counts as peeled before.
        """
        # Many lines of a second begin alike.
        begun: set[str] = set()
        stop = size = 0
        mark = ""
        for number, text in enumerate(texts):
            begins = text[: text.find(mark, stop) + size] in begun
            if not begins and self.begins_record(text):
                begins = True
                _, stop, mark, size, _ = self._heads[text[:_PLACES]]
                begun.add(text[: text.find(mark, stop) + size])
            if not begins or text[-1:] == "}":
                yield number, begins

    def _candidates(self, first: str) -> tuple[_Tries, _Quick | None]:
        fitting = [row for row in beginning(first) if row in self._memos]
        quick: _Quick | None = None
        for row in fitting:
            if row.quick is not None and quick is None:
                spec = row.quick
                read = self.clock.kinds[row.stamp or "none"]
                quick = spec.at, spec.at + spec.length, spec.end, self._memos[row], read, row
        if len(self._by_first) > _KEPT:
            self._by_first.clear()
            self._heads.clear()
        if quick is not None and _is_plain(quick[5]) and quick[5] is fitting[0] and not self._foreign:
            at, stop, mark, memo, _, _ = quick
            self._heads[first] = at, stop, mark, len(mark), memo
        tries = [self._try(row) for row in fitting]
        levels = tuple(tuple(one for one in tries if one[0] >= level) for level in range(RECORD + 1))
        found = self._by_first[first] = levels, quick
        return found

    def _try(self, row: Row) -> _Try:
        return row.level, row.match, self._memos[row], self.clock.kinds[row.stamp] if row.stamp else None, row


def _is_plain(row: Row) -> bool:
    """Whether the row is a head of records that is taken off and leaves the end of the line as it is."""
    return row.level == RECORD and row.suffix is None and not row.keep
