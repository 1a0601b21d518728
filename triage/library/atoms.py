"""What a signature cannot match without, for looking it up, and the lines that must be looked for on its behalf."""

from __future__ import annotations

import re

from triage.library.expressions import weight
from triage.library.literals import MAX_ALTERNATIVES, MIN_LENGTH, literals_of, piece_of
from triage.patterns import LinePattern
from triage.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.library.signature import LinePart, Match, Signature

Names = tuple[str, ...] | None
LEVELS = {"root": 1.0, "consequence": 2.0, "teardown": 3.0, "notice": None}


class Atoms(NamedTuple):
    """For each kind of trace, names of which a matching failure has at least one; None where any may do.

    `types` are last parts of exception types, `texts` literals in folded text, `files` base names of frames' files,
    `kinds` kinds of failures.
    """

    types: Names = None
    texts: Names = None
    files: Names = None
    kinds: Names = None


def atoms(match: Match) -> list[Atoms]:
    """Take a match; return alternatives, one of which a failure must satisfy for it to match."""
    parts: list[Atoms] = []
    if match.exception:
        parts.append(Atoms(types=tuple([name.rpartition(".")[2] for name in match.exception])))
    parts.extend([Atoms(texts=_literal(text)) for text in (match.message, match.message_is) if text])
    if match.message_re:
        parts.append(Atoms(texts=literals_of(match.message_re) or None))
    parts.extend([Atoms(files=_file(frame.path)) for frame in match.frames])
    if match.native:
        parts.append(Atoms(kinds=("native", "exit", "exception"), texts=_literal(match.native.message or "")))
    if match.log:
        parts.append(Atoms(texts=_part_literals(match.log.parts[-1]) or None))
    if match.unit:
        parts.append(Atoms(kinds=("unit", "exit")))
    if match.kernel:
        parts.append(Atoms(kinds=("kernel",)))
    if match.silence:
        parts.append(Atoms(kinds=("silence",)))
    found = [_joined(parts)]
    branches = [atoms(one) for one in match.all]
    if match.any:
        branches.append([alternative for one in match.any for alternative in atoms(one)])
    for alternatives in branches:
        # What would grow too large is left out: that only makes the signature a candidate more often.
        if len(found) * len(alternatives) <= MAX_ALTERNATIVES:
            found = [_joined([one, other]) for one in found for other in alternatives]
    return list(dict.fromkeys(found))


def line_patterns(signature: Signature) -> list[LinePattern]:
    """Return the lines that must be found for a signature to be testable, each with the level of its role.

    Only where lines are all there is to a match do they make a failure; lines asked for beside something else, before
    the last of a sequence, or elsewhere in the attempt are notices.
    """
    found: list[LinePattern] = []
    role = None if signature.role == "root" else signature.role
    for part, decisive in _asked(signature):
        literals = _part_literals(part)
        if not literals:
            continue
        found.append(
            LinePattern(
                id=f"{signature.id}#{len(found)}",
                literals=literals,
                regex=part.line_re or _folded_regex(part.line or "", literals[0]),
                level=LEVELS[signature.role] if decisive else None,
                role=role if decisive else "notice",
            )
        )
    return found


def _asked(signature: Signature) -> Iterator[tuple[LinePart, bool]]:
    yield from _walk(signature.match, True)
    for other in (*signature.with_, *signature.without):
        yield from _walk(other.match, False)


def _walk(match: Match, decisive: bool) -> Iterator[tuple[LinePart, bool]]:
    decisive = decisive and _only_lines(match)
    if match.log:
        *before, last = match.log.parts
        yield from ((part, False) for part in before)
        yield last, decisive
    for one in (*match.any, *match.all):
        yield from _walk(one, decisive)
    for one in match.negated:
        yield from _walk(one, False)


def _only_lines(match: Match) -> bool:
    asks = (match.exception, match.message, match.message_is, match.message_re, match.frames, match.native)
    return not any((*asks, match.unit, match.kernel, match.silence)) and all(map(_only_lines, match.all))


def _literal(text: str) -> Names:
    piece = piece_of(text)
    return (piece,) if len(piece) >= MIN_LENGTH else None


def _part_literals(part: LinePart) -> tuple[str, ...]:
    return literals_of(part.line_re) if part.line_re else _literal(part.line or "") or ()


def _folded_regex(line: str, literal: str) -> str | None:
    """Return a regex for a line that its literal does not cover; text of several lines is told by its literal alone."""
    if literal == line or "\n" in line.strip():
        return None
    return r"\s+".join(map(re.escape, line.split()))


def _file(path: str) -> Names:
    name = path.rpartition("/")[2]
    return None if "*" in name or not name else (name,)


def _joined(parts: list[Atoms]) -> Atoms:
    """Return the most telling of what all of the parts need, trace by trace."""
    if len(parts) == 1:
        return parts[0]
    return Atoms(
        types=_narrowest(part.types for part in parts),
        texts=max((part.texts for part in parts if part.texts), key=weight, default=None),
        files=_narrowest(part.files for part in parts),
        kinds=_narrowest(part.kinds for part in parts),
    )


def _narrowest(sets: Iterable[Names]) -> Names:
    return min((names for names in sets if names), key=len, default=None)
