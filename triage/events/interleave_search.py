"""The search for how the lines of tracebacks that were printed at once are dealt out: their order leaves a choice.

A beam search looks for the cheapest reading (see `interleave_cost`): at every line each open traceback that can take it
by its grammar is tried, and the best few readings are kept. Where the first readings disagree with themselves, the
search is run again with the facts of the best one at hand. Time is linear in the number of lines.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log

from triage.events.interleave import ANY, goes_on, onward
from triage.events.interleave_cost import Prices, State, Token
from triage.events.interleave_equal import CLOSE, NOBODY, deal_equal, story_of
from triage.events.traceback_shapes import CARET, EXCEPTION, FRAME, HEAD, REPEAT, SOURCE, TEXT
from triage.events.traceback_stack import AT_CHAIN, AT_HEAD, AT_MESSAGE, DONE, WAITING
from triage.records import dataclass, replace
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.events.interleave import Edges
    from triage.events.interleave_equal import Item, Story

# A first look keeps so many readings, and is enough where all tracebacks come out alike.
_QUICK = 4
# So many readings are kept; of a long region fewer, and only one search is made.
_BEAM = 128
_NARROW = 32
_LONG = 1200
# After so many states looked at, a few seconds, the search becomes a narrow one.
_WORK = 3_000_000
# And after so many in one log, whatever its regions are, the nearest reading is taken.
_BUDGET = 15_000_000
_GREEDY = 2
# So many tracebacks of the first reading are tried as the pattern of all.
_PATTERNS = 6
# Readings so much dearer than the best one are given up.
_MARGIN = 4.5
_OPEN = 64
_DROP_STACK = 6.0
_DROP_TEXT = 3.0
_SECOND_HEAD = 3.0
_UNFINISHED = 2.0
_SWITCH = 0.4
# Where two writers take strict turns, a change of writer is what is expected; of many any may be the next.
_STRICT_TURNS = -1.0
_RELUCTANCE = 0.3
_FEW = 6
# New text in a message is the less likely the less writers change.
_TEXT_TOO = 0.6
_STACKISH = frozenset({FRAME, SOURCE, CARET, REPEAT, EXCEPTION})


@dataclass(slots=True)
class _Reading:
    """A hypothesis: what it cost, the states of its tracebacks, who wrote last, the facts it used, how it came about.

    `stories` are hashes of all that each traceback has told so far: what another one told too is a fact. `mark` is a
    hash of the multiset of states and stories: readings with equal marks are interchangeable.
    """

    cost: float
    states: tuple[int, ...]
    stories: tuple[int, ...]
    last: int
    facts: frozenset[int]
    path: _Path | None
    mark: int


_Path = tuple[int, "_Path | None"]
# Cost, number of the reading it goes on from, owner of the line, the owner's state and story after it, facts used.
_Candidate = tuple[float, int, int, int, int, tuple[int, ...]]


def search_owners(items: Sequence[Item], carried: Sequence[Sequence[Item]], known: Edges) -> list[int]:
    """Take what `interleave.deal` takes; return what it returns."""
    prices = Prices(known)
    tokens = [prices.token(*item) for item in items]
    start = _start(prices, carried)
    switch = _switch_cost(tokens, len(carried))
    search = _Search(prices, switch, _QUICK if known.work <= _BUDGET else _GREEDY)
    reading = search.run(tokens, start)
    owners = _owners(reading)
    known.work += search.work
    if _alike(prices, tokens, reading, owners):
        return owners
    equal = deal_equal(items, carried, _stories(items, carried, owners))
    if equal is not None:
        return equal
    if known.work > _BUDGET:
        return owners
    search = _Search(prices, switch, _BEAM if len(tokens) <= _LONG else _NARROW)
    reading = search.run(tokens, start)
    owners = _owners(reading)
    if search.width == _BEAM and len(set(reading.stories)) > 1:
        owners = _reconsidered(search, tokens, start, owners)
    known.work += search.work
    return owners


def _alike(prices: Prices, tokens: Sequence[Token], reading: _Reading, owners: Sequence[int]) -> bool:
    """Whether all tracebacks came out whole and as the same one: then nothing is cheaper."""
    if len(set(reading.stories)) > 1 or any(prices.states[number].at in WAITING for number in reading.states):
        return False
    return not any(owner == NOBODY and token.kind in _STACKISH for owner, token in zip(owners, tokens, strict=True))


def _stories(items: Sequence[Item], carried: Sequence[Sequence[Item]], owners: Sequence[int]) -> list[Story]:
    """What tracebacks told by a first reading, what most of them told first."""
    lines = [[(kind, text) for kind, text, _ in own] for own in carried]
    for (kind, text, _), owner in zip(items, owners, strict=True):
        if owner == len(lines):
            lines.append([])
        if owner != NOBODY:
            lines[owner].append((kind, text))
    counts = Counter(story for own in lines if (story := story_of(own)) is not None)
    return [story for story, _ in counts.most_common()[:_PATTERNS]]


def _reconsidered(search: _Search, tokens: Sequence[Token], start: _Reading, owners: list[int]) -> list[int]:
    """Search again from what the first reading found out, and keep the cheapest reading.

    Ranks mostly fail alike: once with the facts that hold for two tracebacks or more, then with those of each
    traceback as if all others were like it.
    """
    best, facts = search.price(tokens, start, owners)
    counts = Counter(fact for own in facts for fact in own)
    seeds = [frozenset(fact for fact, count in counts.items() if count > 1)]
    seeds += sorted(dict.fromkeys(facts), key=len, reverse=True)[:_PATTERNS]
    for seed in seeds:
        if search.work > _WORK:
            break
        others = _owners(search.run(tokens, replace(start, facts=start.facts | seed)))
        if others != owners:
            found = search.price(tokens, start, others)[0]
            if found < best:
                best, owners = found, others
    return owners


def _start(prices: Prices, carried: Sequence[Sequence[Item]]) -> _Reading:
    facts: set[int] = set()
    states: list[int] = []
    stories: list[int] = []
    for lines in carried:
        at, story = prices.state(State(AT_HEAD)), 0
        for item in lines:
            token = prices.token(*item)
            step = prices.step(at, token)
            if token.kind == HEAD:
                at = prices.chained(at)
            elif step is not None:
                at = step.state
                facts.update(step.facts)
                if step.telling:
                    facts.add(goes_on(story))
                    story = onward(story, token.hash)
                    facts.add(story)
        states.append(at)
        stories.append(story)
    mark = sum(map(_mark, states, stories))
    return _Reading(0.0, tuple(states), tuple(stories), len(states) - 1, frozenset(facts), None, mark)


def _mark(state: int, story: int) -> int:
    """Return a number for a traceback's state and story, made to be added up.

    Hashes of tuples with one part in common differ by nearly the same whatever the other part is, so that sums of them
    are often equal by chance, with one seed of Python's hashes and not with the next; their squares are not.
    """
    mixed = hash((state, story))
    return mixed * mixed


def _switch_cost(tokens: Sequence[Token], carried: int) -> float:
    """Price a change of writer by how seldom it seems to happen: how often a frame is torn from its source line."""
    frames = torn = heads = 0
    for one, following in pairwise(tokens):
        heads += one.kind == HEAD
        if one.kind == FRAME:
            frames += 1
            torn += following.kind != SOURCE
    writers = max(2, heads + carried)
    if frames < _FEW:
        return _SWITCH
    # A line of another writer is a source line itself, four times in ten.
    stays = min(0.98, max(0.02, 1.0 - torn / frames / 0.6))
    return max(_STRICT_TURNS / (writers - 1), _RELUCTANCE * log(stays / (1.0 - stays) * (writers - 1)))


class _Search:
    """The beam search over one region."""

    def __init__(self, prices: Prices, switch: float, width: int) -> None:
        self._prices = prices
        self.width = width
        self._switch = switch
        self._text = _TEXT_TOO * switch
        self._told = prices.known.stories
        self._worst = 0.0
        self.work = 0

    def run(self, tokens: Sequence[Token], start: _Reading) -> _Reading:
        """Read the tokens from `start` on; return the cheapest reading."""
        readings = [start]
        for token in tokens:
            if token.kind == CLOSE:
                readings = [self._closed(reading) for reading in readings]
                continue
            candidates: list[_Candidate] = []
            self._worst = readings[0].cost + _MARGIN + _DROP_STACK
            for number, reading in enumerate(readings):
                if reading.cost > self._worst:
                    break
                self.work += len(reading.states)
                if token.kind == HEAD:
                    self._try_head(candidates, number, reading, token)
                else:
                    self._try(candidates, number, reading, token)
            candidates.sort(key=_cost)
            readings = _pruned(readings, candidates, self.width if self.work < _WORK else _NARROW)
        return min(readings, key=self._total)

    def price(
        self, tokens: Sequence[Token], start: _Reading, owners: Sequence[int]
    ) -> tuple[float, list[frozenset[int]]]:
        """Price a given reading from `start` on; return its cost and the facts that each traceback used."""
        states, stories = list(start.states), list(start.stories)
        used = set(start.facts)
        facts_of: list[set[int]] = [set() for _ in states]
        cost, last = 0.0, start.last
        done = self._prices.state(State(DONE))
        for token, owner in zip(tokens, owners, strict=True):
            if token.kind == CLOSE:
                states = [done if self._prices.states[at].at == AT_MESSAGE else at for at in states]
                continue
            if owner == NOBODY:
                cost += _DROP_STACK if token.kind in _STACKISH else 0.0
                continue
            if token.kind == HEAD:
                if owner == len(states):
                    states.append(self._prices.state(State(AT_HEAD)))
                    stories.append(0)
                    facts_of.append(set())
                else:
                    states[owner] = self._prices.chained(states[owner])
                    stories[owner] = onward(stories[owner], HEAD)
                last = owner
                continue
            step = self._prices.step(states[owner], token)
            if step is None:
                continue
            cost += step.base + (0.0 if owner == last else self._switch)
            cost += sum(t.used if t.fact in used else t.instead if t.other in used else t.new for t in step.terms)
            facts = step.facts
            if step.telling:
                before, story = goes_on(stories[owner]), onward(stories[owner], token.hash)
                if story not in used and story not in self._told:
                    forks = before in used or before in self._told
                    cost += step.telling + (step.forking if forks else 0.0) + (self._text if step.text else 0.0)
                facts = (*facts, story, before)
                stories[owner] = story
            facts_of[owner].update(facts)
            used.update(facts)
            last, states[owner] = owner, step.state
        return cost + self._unfinished(states), [frozenset(facts) for facts in facts_of]

    def _unfinished(self, states: Sequence[int]) -> float:
        return _UNFINISHED * sum(self._prices.states[number].at in WAITING for number in states)

    def _total(self, reading: _Reading) -> float:
        return reading.cost + self._unfinished(reading.states)

    def _closed(self, reading: _Reading) -> _Reading:
        done, all_states = self._prices.state(State(DONE)), self._prices.states
        states = tuple(done if all_states[number].at == AT_MESSAGE else number for number in reading.states)
        path = (NOBODY, reading.path)
        mark = sum(map(_mark, states, reading.stories))
        return _Reading(reading.cost, states, reading.stories, reading.last, reading.facts, path, mark)

    def _try_head(self, out: list[_Candidate], number: int, reading: _Reading, token: Token) -> None:
        chained = False
        if token.bare:
            for owner, at in enumerate(reading.states):
                if self._prices.states[at].at == AT_CHAIN:
                    cost = reading.cost + (0.0 if owner == reading.last else self._switch)
                    story = onward(reading.stories[owner], HEAD)
                    out.append((cost, number, owner, self._prices.chained(at), story, ()))
                    chained = True
        cost = reading.cost + (_SECOND_HEAD if chained else 0.0)
        out.append((cost, number, len(reading.states), self._prices.state(State(AT_HEAD)), 0, ()))

    def _try(self, out: list[_Candidate], number: int, reading: _Reading, token: Token) -> None:
        steps, used, last, so_far = token.steps, reading.facts, reading.last, reading.cost
        worst = self._worst
        text, told, stories = token.hash, self._told, reading.stories
        tried: set[tuple[int, int]] = set()
        for owner, at in enumerate(reading.states):
            step = steps[at] if at in steps else self._prices.step(at, token)
            if step is None:
                continue
            story = stories[owner]
            equal = (at, story)
            if equal in tried and owner != last:
                continue
            tried.add(equal)
            cost = so_far + step.base
            for fact, price, other, instead, new in step.terms:
                cost += price if fact in used else instead if other in used else new
            if owner != last:
                cost += self._switch
            facts = step.facts
            if step.telling:
                before = hash((story, ANY))
                story = hash((story, text))
                if story not in used and story not in told:
                    cost += step.telling + (step.forking if before in used or before in told else 0.0)
                    if step.text:
                        cost += self._text
                    facts = (*facts, story, before)
            if cost > worst:
                continue
            worst = min(worst, cost + _MARGIN)
            out.append((cost, number, owner, step.state, story, facts))
        self._worst = worst
        if not tried:
            cost = so_far + (_DROP_STACK if token.kind in _STACKISH else 0.0)
            out.append((cost, number, NOBODY, NOBODY, 0, ()))
        elif token.kind == TEXT:
            out.append((so_far + _DROP_TEXT, number, NOBODY, NOBODY, 0, ()))


def _cost(candidate: _Candidate) -> float:
    return candidate[0]


def _pruned(readings: list[_Reading], candidates: list[_Candidate], width: int) -> list[_Reading]:
    """The best candidates as readings, of interchangeable ones the cheapest only."""
    kept: list[_Reading] = []
    seen: set[tuple[int, int, int]] = set()
    for cost, number, owner, state, story, facts in candidates:
        old = readings[number]
        known, states, stories, mark, last = old.facts, old.states, old.stories, old.mark, old.last
        fresh = [fact for fact in facts if fact not in known]
        if owner != NOBODY:
            last = owner
            mark += _mark(state, story) - (_mark(states[owner], stories[owner]) if owner < len(states) else 0)
        key = (mark, state, len(known) + len(fresh))
        if key in seen:
            continue
        seen.add(key)
        if owner != NOBODY:
            states = (*states[:owner], state, *states[owner + 1 :])
            stories = (*stories[:owner], story, *stories[owner + 1 :])
        if fresh:
            known = known.union(fresh)
        kept.append(_Reading(cost, states, stories, last, known, (owner, old.path), mark))
        if len(kept) >= width:
            break
    return kept


def _owners(reading: _Reading) -> list[int]:
    owners: list[int] = []
    path = reading.path
    while path is not None:
        owners.append(path[0])
        path = path[1]
    owners.reverse()
    return owners
