"""The rows of `triage/knowledge/prefixes.yaml`, and which of them count in one log."""

from __future__ import annotations

from functools import cache, lru_cache

from triage.data import knowledge
from triage.lazy import compile_once, regex
from triage.lines.clock import Clock
from triage.lines.said import NO_RANK
from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

Match: TypeAlias = "Callable[[str, int], re.Match[str] | None]"
TRANSPORT, WRITER, RECORD = 0, 1, 2
_PART = regex(r"<<(\w+)>>")
_SETS = regex(r"\[(?:\\.|[^\]\\])+\]|\\.|[^\[\\]")
_ASCII = "".join(map(chr, range(128)))
_SORTS = {"transport": TRANSPORT, "writer": WRITER, "record": RECORD}


@dataclass(slots=True)
class Quick(Record):
    """Where a row's stamp stands and what ends the prefix, so that a stamp and a rest seen before need no regex."""

    at: int
    length: int
    end: str


@dataclass(slots=True, eq=False)
class Row:
    """One prefix. `level` is `TRANSPORT`, `WRITER` or `RECORD`.

    `first` holds the characters that can stand at its first places; beyond it, and where it is empty, any can.
    """

    id: str
    level: int
    regex: str
    stamp: str | None
    quick: Quick | None
    learn: str | None
    at_least: float
    first: tuple[frozenset[str], ...]
    need: str | None
    trust: int
    keep: bool
    suffix: re.Pattern[str] | None
    ident: str | None
    samples: list[tuple[str, dict[str, Any]]]
    compiled: Match | None = None

    @property
    def match(self) -> Match:
        """The regex's `match`; few rows are needed for one log, so each is compiled when it is."""
        if self.compiled is None:
            self.compiled = compile_once(self.regex).match
        return self.compiled

    def may_begin(self, text: str) -> bool:
        """Say whether the prefix can begin with these characters, of which the last may be cut off."""
        for char, allowed in zip(text, self.first, strict=False):
            if char not in allowed and char <= "\x7f":
                return False
        return True


@dataclass(slots=True)
class Learned(Record):
    """Which rows that need a vote are in use in this log, and the hosts and names that they may hold.

    `foreign` matches what stands before every line and is no row's prefix (`triage.lines.foreign`). `hosts` are the
    hosts of the journal's shapes, `names` those of the rows that repeat a name, by row.
    """

    rows: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)
    foreign: list[re.Pattern[str]] = field(default_factory=list)
    everything: bool = False

    def uses(self, row: Row) -> bool:
        """Say whether the row counts at all."""
        return row.learn is None or self.everything or row.id in self.rows

    def admits(self, row: Row, groups: dict[str, str | None]) -> bool:
        """Say whether this match of the row is a prefix and not mere text."""
        if self.everything or row.learn is None or row.learn == "share":
            return True
        if row.learn == "hosts":
            return groups["pid"] is not None or groups["ident"] == "kernel" or groups["host"] in self.hosts
        return name_in(groups) in self.names.get(row.id, ())


def name_in(groups: dict[str, str | None]) -> str:
    """Return the name that a row with `learn: names` repeats."""
    return " ".join(groups[key] or "" for key in ("pod", "container", "ident") if key in groups)


@cache
def rows() -> tuple[Row, ...]:
    """Return the rows of knowledge, in the order in which they are tried."""
    table = knowledge("prefixes")
    parts: dict[str, str] = table["parts"]
    return tuple(_row(row, parts) for row in table["rows"])


@lru_cache(maxsize=8192)
def beginning(text: str) -> tuple[Row, ...]:
    """Take a few characters; return the rows that need no literal and can begin with them."""
    # Beyond ASCII any character counts, so one stands for all.
    return tuple(row for row in _beginning(min(text[:1], "\x80")) if row.may_begin(text))


@cache
def _beginning(char: str) -> tuple[Row, ...]:
    return tuple(row for row in rows() if row.need is None and row.may_begin(char))


def clock() -> Clock:
    """Return a clock for a new log."""
    table = knowledge("prefixes")
    return Clock(table["months"], table["zones"])


def _row(row: dict[str, Any], parts: dict[str, str]) -> Row:
    whole = _PART.sub(lambda found: parts[found[1]], row["regex"])
    return Row(
        id=row["id"],
        level=_SORTS[row["sort"]],
        regex=whole,
        stamp=row.get("stamp", "none") if "(?P<stamp>" in whole else None,
        quick=Quick(**row["quick"]) if "quick" in row else None,
        learn=row.get("learn"),
        at_least=row.get("at_least", 0.0),
        first=tuple(_characters(one) for one in _SETS.findall(row.get("first", ""))),
        need=row.get("need"),
        trust=row.get("trust", NO_RANK - 1),
        keep=row.get("keep", False),
        suffix=regex(row["suffix"]) if "suffix" in row else None,
        ident=row.get("ident"),
        samples=[(line, said) for line, said in row["samples"]],
    )


@cache
def _characters(one: str) -> frozenset[str]:
    """Take a set of characters as a regex writes it; return those of ASCII that are in it."""
    return frozenset(compile_once(one).findall(_ASCII))
