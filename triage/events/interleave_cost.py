"""What a reading of interleaved tracebacks costs: the price of giving one line to one of the open tracebacks.

The cheapest reading is the one that needs the fewest distinct facts (minimum description length): a call edge that was
used before, a frame's source line that is known, a message that goes on as it did in another rank cost nothing. A frame
has one source line and one line of carets: the strongest fact of all. Costs were tuned on shredded real tracebacks.
"""

from __future__ import annotations

from functools import lru_cache

from triage.events.traceback_shapes import (
    BLANK,
    CARET,
    CAUSE,
    CHAIN,
    EXCEPTION,
    FRAME,
    HEAD,
    REPEAT,
    SOURCE,
    TEXT,
    exception_parts,
    frame_parts,
    may_be_exception,
)
from triage.events.traceback_stack import (
    AT_CARET,
    AT_CHAIN,
    AT_FRAME,
    AT_GROUP,
    AT_HEAD,
    AT_MESSAGE,
    AT_REPEAT,
    AT_SOURCE,
    DONE,
    WAITING,
)
from triage.lazy import regex
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from triage.events.interleave import Edges

NONE = -1
# Kinds of facts, the first member of a fact's key.
CALL, HAS_SOURCE, SOURCE_OF, HAS_CARET, CARET_OF, REPEATS, RAISES, RAISES_TYPE, GOES_ON = range(9)
_RAISED = regex(r"\s*raise (?:\w+\.){0,9}(\w+(?:Error|Exception))\(")
# No fact has this number.
NEVER = -1

NEW_CALL = 2.0
KNOWN_CALL = 0.2
NEW_STORY = 1.0
NAMED = 1.5
# Of calls in real tracebacks three in four are in the releases, of pairs of frames by chance one in seven.
RELEASED = 1.0
NOT_RELEASED = 0.5
AFTER_RAISE = 2.0
NEW_SOURCE = 0.5
OTHER_SOURCE = 4.0
MORE_SOURCE = 5.0
NEW_CARET = 0.5
OTHER_CARET = 3.0
LONG_CARET = 3.0
SHORT_CARET = 0.5
SOURCE_SKIPPED = 3.0
CARET_SKIPPED = 1.5
NEW_REPEAT = 1.0
NEW_RAISE = 1.0
RAISED_HERE = 0.5
RAISE_STATEMENT = 0.3
RAISE_OF_TYPE = 1.0
OTHER_CHAIN = 2.0
OTHER_RAISE = 2.0
ODD_EXCEPTION = 1.0
NO_FRAMES = 3.0
NEW_TEXT = 1.0
NEW_TOLD = 0.5
NEW_END = 0.01
FORK = 1.0
FORK_TEXT = 0.5
EXCEPTION_AS_TEXT = 3.0
OWN_TYPE_AS_TEXT = 4.0
CODE_AS_TEXT = 1.5


class State(NamedTuple):
    """Where one open traceback stands. All but `at` and `caused` are numbers of texts, NONE where there is none.

    `caused` says that what is being told has the exception before it as its direct cause.
    """

    at: int
    frame: int = NONE
    source: int = NONE
    type: int = NONE
    text: int = NONE
    caused: bool = False


class Term(NamedTuple):
    """A part of a price: `used` if the fact was used before, else `instead` if the other fact was, else `new`."""

    fact: int
    used: float
    other: int
    instead: float
    new: float


class Step(NamedTuple):
    """One way to give a line to a traceback: its price, the state that follows, the facts that it will have used.

    `telling` is the price of a line that makes the traceback differ from every one told so far, 0 where it cannot, and
    `forking` what is added to it where another one was equal up to here and has gone on.
    """

    base: float
    terms: tuple[Term, ...]
    state: int
    facts: tuple[int, ...]
    telling: float = 0.0
    forking: float = 0.0
    text: bool = False


@dataclass(slots=True)
class Token:
    """One line to be dealt out: its shape, its text, the text's number and hash; `bare` marks a head with no title.

    `steps` remembers by the state's number how a traceback takes this text.
    """

    kind: int
    id: int
    text: str
    hash: int
    bare: bool
    steps: dict[int, Step | None]


class Prices:
    """Numbers the texts, states and facts of a region and prices the steps. One instance serves one region."""

    def __init__(self, known: Edges) -> None:
        self.known = known
        self._ids: dict[str, int] = {}
        self._texts: list[str] = []
        self._tokens: dict[int, Token] = {}
        self._facts: dict[tuple[int, ...], int] = {}
        self._states: dict[State, int] = {}
        self.states: list[State] = []

    def token(self, kind: int, text: str, bare: bool = False) -> Token:
        """Take a line's shape and text; return it as a token."""
        number = self._id(text)
        old = self._tokens.get(number)
        if old is not None and old.kind == kind and old.bare == bare:
            return old
        made = self._tokens[number] = Token(kind, number, text, hash(text), bare, {})
        return made

    def state(self, state: State) -> int:
        """Take a state; return its number, which is its place in `states`."""
        number = self._states.get(state)
        if number is None:
            number = self._states[state] = len(self.states)
            self.states.append(state)
        return number

    def chained(self, number: int) -> int:
        """Take the number of the state of a traceback that has a chain line; return that of the one after the head."""
        return self.state(State(AT_HEAD, caused=self.states[number].caused))

    def _id(self, text: str) -> int:
        number = self._ids.get(text)
        if number is None:
            number = self._ids[text] = len(self._texts)
            self._texts.append(text)
        return number

    def _fact(self, *key: int) -> int:
        return self._facts.setdefault(key, len(self._facts))

    def step(self, number: int, token: Token) -> Step | None:
        """Return how a traceback in the state of that number takes the token; None where its grammar forbids it."""
        if number not in token.steps:
            token.steps[number] = self._step(self.states[number], token)
        return token.steps[number]

    def _made(self, base: float, terms: list[Term], state: State, facts: tuple[int, ...], telling: float = 0.0) -> Step:
        forking = FORK if telling == NEW_STORY else FORK_TEXT if telling else 0.0
        return Step(base, tuple(terms), self.state(state), facts, telling, forking, telling == NEW_TOLD)

    def _step(self, state: State, token: Token) -> Step | None:
        kind, at = token.kind, state.at
        if kind == FRAME:
            return self._frame(state, token) if at in WAITING and at != AT_CHAIN else None
        if kind == CHAIN:
            caused = State(AT_CHAIN, caused=token.text.startswith(CAUSE))
            # Another writer's record closes a message, but not the chain that it may be part of.
            return self._made(0.0, [], caused, ()) if at in (AT_MESSAGE, AT_GROUP, DONE) else None
        if at == AT_MESSAGE:
            return self._text(state, token)
        if kind == SOURCE:
            return self._source(state, token)
        if kind == CARET:
            return self._caret(state, token) if at == AT_SOURCE else None
        if kind == REPEAT and at in (AT_FRAME, AT_SOURCE, AT_CARET):
            fact = self._fact(REPEATS, state.frame, token.id)
            return self._made(0.0, [_new(fact, NEW_REPEAT)], state._replace(at=AT_REPEAT), (fact,))
        if kind in (EXCEPTION, TEXT) and at in WAITING and at != AT_CHAIN:
            return self._exception(state, token)
        if kind == BLANK and at == AT_CHAIN:
            return self._made(0.0, [], state, ())
        return None

    def _frame(self, state: State, token: Token) -> Step:
        call = self._fact(CALL, state.frame, token.id)
        terms = [*self._skipped(state), _new(call, self._call(state, token))]
        return self._made(0.0, terms, State(AT_FRAME, token.id, caused=state.caused), (call,), NEW_STORY)

    def _call(self, state: State, token: Token) -> float:
        """The price of a call that was not used before."""
        if (self._text_of(state.frame), token.text) in self.known.calls:
            return KNOWN_CALL
        if state.source == NONE:
            return NEW_CALL + self._released(state, token)
        source, cost = self._texts[state.source], NEW_CALL
        hint = _hint(token.text)
        if hint and hint in source.lower().replace("_", ""):
            cost -= NAMED
        if source.lstrip().startswith("raise "):
            cost += AFTER_RAISE
        return cost + self._released(state, token)

    def _released(self, state: State, token: Token) -> float:
        """What the published releases say of a call."""
        if state.frame == NONE:
            return 0.0
        agrees = self.known.released.agrees(self._texts[state.frame], token.text)
        return 0.0 if agrees is None else -RELEASED if agrees else NOT_RELEASED

    def _text_of(self, number: int) -> str:
        return self._texts[number] if number != NONE else ""

    def _skipped(self, state: State) -> list[Term]:
        """The price of going on without the frame's source or carets, which are known to exist."""
        if state.at == AT_FRAME:
            learned = self._text_of(state.frame) in self.known.sources
            return [_if(self._fact(HAS_SOURCE, state.frame), SOURCE_SKIPPED, learned)]
        if state.at == AT_SOURCE:
            learned = self._text_of(state.frame) in self.known.carets
            return [_if(self._fact(HAS_CARET, state.frame), CARET_SKIPPED, learned)]
        return []

    def _source(self, state: State, token: Token) -> Step | None:
        if state.at == AT_FRAME:
            has, of = self._fact(HAS_SOURCE, state.frame), self._fact(SOURCE_OF, state.frame, token.id)
            term = _one_of(of, has, self.known.sources.get(self._text_of(state.frame)), token.text, _SOURCE)
            return self._made(0.0, [term], state._replace(at=AT_SOURCE, source=token.id), (has, of))
        if state.at in (AT_SOURCE, AT_CARET):
            return self._made(MORE_SOURCE, [], state._replace(at=AT_SOURCE), ())
        return None

    def _caret(self, state: State, token: Token) -> Step:
        has, of = self._fact(HAS_CARET, state.frame), self._fact(CARET_OF, state.frame, token.id)
        term = _one_of(of, has, self.known.carets.get(self._text_of(state.frame)), token.text, _CARET)
        base = _misfit(token.text, self._text_of(state.source))
        return self._made(base, [term], state._replace(at=AT_CARET), (has, of))

    def _exception(self, state: State, token: Token) -> Step | None:
        if token.kind == TEXT and (state.at == AT_HEAD or not may_be_exception(token.text)):
            return None
        name = _type_of(token.text)
        number = self._id(name)
        raises = self._fact(RAISES, state.frame, token.id)
        of_type = self._fact(RAISES_TYPE, state.frame, number)
        cost = NEW_RAISE
        source = self._text_of(state.source)
        if "raise" in source:
            cost -= RAISE_STATEMENT + (RAISE_OF_TYPE if name.split("(")[0].rpartition(".")[2] in source else 0.0)
            # `raise X from y` ends what follows a direct cause, and a bare `raise X` does not.
            if " from None" not in source and (" from " in source) != state.caused:
                cost += OTHER_CHAIN
            raised = _RAISED.match(source)
            if raised is not None and raised[1] != name.split("(")[0].rpartition(".")[2]:
                cost += OTHER_RAISE
        base = (0.0 if token.kind == EXCEPTION else ODD_EXCEPTION) + (NO_FRAMES if state.at == AT_HEAD else 0.0)
        terms = [*self._skipped(state), Term(raises, 0.0, of_type, cost - RAISED_HERE, cost)]
        follows = State(AT_MESSAGE, state.frame, NONE, number, token.id)
        return self._made(base, terms, follows, (raises, of_type), NEW_END)

    def _text(self, state: State, token: Token) -> Step | None:
        if token.kind == HEAD:
            return None
        goes_on = self._fact(GOES_ON, state.text, token.id)
        base = 0.0
        if token.kind == EXCEPTION:
            same = self._id(_type_of(token.text)) == state.type
            base = EXCEPTION_AS_TEXT + (OWN_TYPE_AS_TEXT if same else 0.0)
        elif token.kind in (SOURCE, CARET, REPEAT):
            base = CODE_AS_TEXT
        follows = State(AT_MESSAGE, state.frame, NONE, state.type, token.id)
        return self._made(base, [_new(goes_on, NEW_TEXT)], follows, (goes_on,), NEW_TOLD)


_SOURCE = (NEW_SOURCE, OTHER_SOURCE)
_CARET = (NEW_CARET, OTHER_CARET)


def _new(fact: int, price: float) -> Term:
    return Term(fact, 0.0, NEVER, 0.0, price)


def _if(fact: int, price: float, learned: bool) -> Term:
    return Term(fact, price, NEVER, 0.0, price if learned else 0.0)


def _one_of(fact: int, has: int, learned: str | None, text: str, prices: tuple[float, float]) -> Term:
    """A frame has one source line and one line of carets: the same again is free, another one dear."""
    new, other = prices
    if learned is not None:
        new = 0.0 if learned == text else other
    return Term(fact, 0.0, has, other, new)


def _misfit(carets: str, source: str) -> float:
    """The price of carets that do not lie under the source line, or do not end with it as they mostly do."""
    start = len(carets) - len(carets.lstrip(" "))
    if len(carets) > len(source) or source[start] == " ":
        return LONG_CARET
    return 0.0 if len(carets) == len(source) else SHORT_CARET


def _type_of(text: str) -> str:
    parts = exception_parts(text)
    return parts[0] if parts is not None else ""


@lru_cache(maxsize=4096)
def _hint(frame: str) -> str:
    """What a caller's source line is likely to hold: the function's name; for a dunder the file's."""
    parts = frame_parts(frame)
    if parts is None:
        return ""
    name = parts[2].rpartition(".")[2]
    if name.startswith(("__", "<")):
        steps = parts[0].rsplit("/", 2)
        name = steps[-1].partition(".")[0]
        if name == "__init__" and len(steps) > 1:
            name = steps[-2]
    name = name.lower().replace("_", "")
    return name if len(name) > 2 else ""
