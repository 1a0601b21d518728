"""Checks of regexes and of lines that are looked for: too slow, or never found."""

from __future__ import annotations

import re

from triage.library import literals
from triage.library.lint import Checked, Issue, Validator
from triage.library.probe import too_slow
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class LeadingWildcard(Issue):
    """A regex that begins with `.*` matches from every place of a line: slow, and never needed in a search."""

    instead = "leave it out: regexes are searched"


class LeadingWildcards(Validator):
    """Finds regexes that begin with a wildcard."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, regex in one.regexes():
            if re.match(r"\^?(?:\((?:\?:|\?P<\w+>)?)*\.[*+]", regex):
                yield LeadingWildcard(one.problem(at, "begins with a wildcard"))


class NestedQuantifier(Issue):
    """A repeat inside a repeat, such as `(a+)+`, may take time that doubles with every character."""

    instead = "bound the outer one: {0,9}"


class CatastrophicPattern(Issue):
    """A text that anyone can write into a log makes it take longer than a match may: the signature goes untested."""

    instead = "let no two repeats take the same characters, and bound them: [^\\n]{0,200} for .*"


class SlowPattern(Issue):
    """On a long line it takes longer than a match may; then the signature goes untested, and the report says so."""

    severity = "warning"
    instead = "bound the repeats that can take the same characters: .{0,200} for .*, \\d{1,9} for \\d+"


class SlowPatterns(Validator):
    """Finds unbounded repeats in unbounded repeats by their form, and other slow regexes by trying them."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, regex in one.regexes():
            if _nested(literals.parsed(regex), inside=False):
                yield NestedQuantifier(one.problem(at, "has an unbounded repeat inside an unbounded repeat"))
            elif size := too_slow(regex):
                said = f"takes too long on a text of {size:,} characters that is made to look like it"
                kind = CatastrophicPattern if size < 4096 else SlowPattern
                yield kind(one.problem(at, said))


class NoLiteral(Issue):
    """A line that is looked for needs a literal of four characters or more, or it would never be found."""

    instead = "add words of the line that never change"


class NoLiterals(Validator):
    """Finds lines and regexes of `log:` that no scan can look for."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if key in ("line", "sequence") and len(literals.piece_of(value)) < literals.MIN_LENGTH:
                yield NoLiteral(one.problem(at, f"{value!r} is too short to be looked for"))
            if key == "line_re" and not literals.literals_of(value):
                yield NoLiteral(one.problem(at, f"no {literals.MIN_LENGTH} characters in a row are needed for a match"))


class SlowMessage(Issue):
    """A `message_re` without a literal is tried on every message of every failure."""

    severity = "warning"
    instead = "add what never changes"


class SlowMessages(Validator):
    """Finds regexes on messages that cannot be looked up."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if key == "message_re" and not literals.literals_of(value):
                yield SlowMessage(one.problem(at, "has no literal of four characters or more"))


def _nested(nodes: Any, *, inside: bool) -> bool:
    """Say whether a repeat without an upper bound holds another one, by the tree of Python's own regex parser."""
    for operator, argument in nodes:
        inner = list(_parts(argument))
        repeat = operator in literals.REPEATS
        unbounded = repeat and argument[1] == literals.UNBOUNDED
        if unbounded and inside:
            return True
        if any(_nested(part, inside=inside or unbounded) for part in inner):
            return True
    return False


def _parts(argument: Any) -> Iterator[Any]:
    """Yield the lists of nodes inside a node's argument."""
    if hasattr(argument, "data"):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for one in argument:
            yield from _parts(one)
