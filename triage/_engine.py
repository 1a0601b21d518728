"""Finds many literals at once: hyperscan where it is installed, else the standard library; equal results, by test."""

from __future__ import annotations

from functools import cache
from itertools import accumulate, pairwise, repeat
from operator import sub

from triage.data import knowledge
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_GRAM = 4
_PIECE = 7
_MISSES = 20_000


def finder(needles: Sequence[bytes]) -> Callable[[bytes], list[int]]:
    """Take literals; return a function from data to the offsets at which a hit of any of them ends, ascending.

    An offset is listed once. Nothing is found where there are no literals.
    """
    wanted = sorted({needle for needle in needles if needle})
    if not wanted:
        return lambda _: []
    try:
        import hyperscan
    except ImportError:
        return by_stdlib(wanted)
    # hyperscan's binding takes a literal for a C string.
    odd = by_stdlib([needle for needle in wanted if b"\0" in needle])
    usual = [needle for needle in wanted if b"\0" not in needle]
    if len(usual) == len(wanted):
        return by_hyperscan(usual, hyperscan)
    most = by_hyperscan(usual, hyperscan) if usual else by_stdlib([])
    return lambda data: sorted({*odd(data), *most(data)})


def by_hyperscan(needles: Sequence[bytes], hyperscan: Any) -> Callable[[bytes], list[int]]:
    """Return a finder that scans for a piece of each literal in one pass, and compares the literal where it hits.

    hyperscan tells literals apart by hashes of pairs of their last letters, and looks again where those fit. Among
    hundreds of literals the hashes of ordinary words fit so often that looking again took most of the time.
    """
    pieces: dict[bytes, list[tuple[bytes, int]]] = {}
    for needle in needles:
        at = _rarest(needle)
        piece = needle[at : at + _PIECE]
        pieces.setdefault(piece, []).append((needle, at + len(piece)))
    holders = list(pieces.values())
    scan = _scanner(list(pieces), hyperscan)
    misses = 0

    def find(data: bytes) -> list[int]:
        nonlocal misses, scan, holders
        ends: set[int] = set()

        def note(which: int, _: int, end: int, __: int, ___: object) -> None:
            nonlocal misses
            for needle, length in holders[which]:
                start = end - length
                if start >= 0 and data.startswith(needle, start):
                    ends.add(start + len(needle))
                else:
                    misses += 1

        scan(data, note)
        if misses > _MISSES:
            # Here pieces are part of what is written all the time; whole literals are not missed.
            misses, holders, scan = 0, [[(needle, len(needle))] for needle in needles], _scanner(needles, hyperscan)
        return sorted(ends)

    return find


def _scanner(literals: Sequence[bytes], hyperscan: Any) -> Callable[[bytes, Callable[..., None]], None]:
    database = hyperscan.Database()
    database.compile(
        expressions=list(literals), ids=list(range(len(literals))), elements=len(literals), flags=0, literal=True
    )
    return lambda data, note: database.scan(data, match_event_handler=note)


def _rarest(literal: bytes) -> int:
    """Return where the piece of a literal begins that shares least with what a service writes while it is well."""
    if len(literal) <= _PIECE:
        return 0
    text, pairs = _ordinary()
    sums = [0, *accumulate(map(pairs.get, pairwise(literal), repeat(0)))]
    shared = list(map(sub, sums[_PIECE - 1 :], sums))
    for at in sorted(range(len(shared)), key=shared.__getitem__):
        if literal[at : at + _PIECE] not in text:
            return at
    return 0


@cache
def _ordinary() -> tuple[bytes, dict[tuple[int, int], int]]:
    """Return what services write while they are well, and how often each pair of letters stands there."""
    text = "\n".join(knowledge("needles")["ordinary"]).encode()
    pairs: dict[tuple[int, int], int] = {}
    for pair in pairwise(text):
        pairs[pair] = pairs.get(pair, 0) + 1
    return text, pairs


def by_stdlib(needles: Sequence[bytes]) -> Callable[[bytes], list[int]]:
    """Return a finder that looks for few short pieces, of which every literal holds one, and then compares.

    `bytes.find` passes over a gigabyte a second, but once for each literal; hundreds of literals share few pieces.
    """
    pieces = _pieces(needles)

    def find(data: bytes) -> list[int]:
        ends: set[int] = set()
        for piece, holders in pieces:
            at = data.find(piece)
            while at >= 0:
                for needle, index in holders:
                    start = at - index
                    if start >= 0 and data.startswith(needle, start):
                        ends.add(start + len(needle))
                at = data.find(piece, at + 1)
        return sorted(ends)

    return find


def _pieces(needles: Iterable[bytes]) -> list[tuple[bytes, list[tuple[bytes, int]]]]:
    """Choose pieces greedily: the one that most of the literals left hold; return them with (literal, index) pairs."""
    left = set(needles)
    holders: dict[bytes, set[bytes]] = {}
    for needle in left:
        for at in range(max(1, len(needle) - _GRAM + 1)):
            holders.setdefault(needle[at : at + _GRAM], set()).add(needle)
    chosen: list[tuple[bytes, list[tuple[bytes, int]]]] = []
    while left:
        piece = max(holders, key=lambda each: (len(holders[each]), each))
        found = holders.pop(piece)
        chosen.append((piece, [(needle, needle.find(piece)) for needle in sorted(found)]))
        left -= found
        for other in [each for each, group in holders.items() if group & found]:
            holders[other] -= found
            if not holders[other]:
                del holders[other]
    return chosen
