"""What must be in a text for an expression to match, and how a person reads the expression.

A compiled pack says both of its own expressions; only of others Python's parser has to be asked.
"""

from __future__ import annotations

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Longer texts are matched in their first and last part: nothing decisive stands in the middle of megabytes.
TEXT_LIMIT = 32_768
# So long may an expression take with one text.
REGEX_SECONDS = 0.25

_KNOWN: dict[str, tuple[tuple[str, ...], str]] = {}
# More than all packs have that a host is likely to hold.
_MOST = 20_000


def know(said: Mapping[str, tuple[Sequence[str], str]]) -> None:
    """Take what a pack says of its expressions: for each its literals, and how it is read."""
    if len(_KNOWN) < _MOST:
        _KNOWN.update((regex, (tuple(literals), text)) for regex, (literals, text) in said.items())


def literals_of(regex: str) -> tuple[str, ...]:
    """Return what `triage.library.literals.literals_of` does."""
    if regex in _KNOWN:
        return _KNOWN[regex][0]
    from triage.library.literals import literals_of as derived

    return derived(regex)


def spoken(regex: str) -> str:
    """Return what `triage.library.spoken.spoken` does."""
    if regex in _KNOWN:
        return _KNOWN[regex][1]
    from triage.library.spoken import spoken as derived

    return derived(regex)


def weight(literals: Sequence[str]) -> int:
    """Return how telling a set of alternatives is: the length of its shortest."""
    return min(map(len, literals), default=0)
