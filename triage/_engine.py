"""Finds many literals at once: hyperscan where it is installed, else the standard library; equal results, by test."""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Finder = "Callable[[bytes], list[int]]"

_GRAM = 4


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


def by_hyperscan(needles: Sequence[bytes], hyperscan: object) -> Callable[[bytes], list[int]]:
    """Return a finder that scans all literals in one pass of hyperscan's literal mode."""
    database = hyperscan.Database()  # type: ignore[attr-defined]
    database.compile(
        expressions=list(needles), ids=list(range(len(needles))), elements=len(needles), flags=0, literal=True
    )

    def find(data: bytes) -> list[int]:
        ends: set[int] = set()

        def note(_: int, __: int, end: int, ___: int, ____: object) -> None:
            ends.add(end)

        database.scan(data, match_event_handler=note)
        return sorted(ends)

    return find


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
