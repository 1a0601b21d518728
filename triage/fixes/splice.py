"""Puts one piece of code where another stands, and proves by the syntax trees of both that nothing else changed."""

from __future__ import annotations

import ast
import warnings

from triage.fixes.pysource import LINE_END, Source, SourceError, Span, Token, fragment, read
from triage.records import dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def replaced(source: Source, at: Span, code: str) -> Source:
    """Put a piece of code where another stands and return the new module; only the tokens that differ are touched.

    Raises `SourceError` if the result does not compile or its syntax tree differs anywhere else.
    """
    old, new = source.tokens[slice(*at)], fragment(code)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    wide = head + tail == min(len(old), len(new))
    start, end = _gap(old, head, tail, wide)
    new_start, new_end = _gap(new, head, tail, wide)
    ending = LINE_END.search(source.text)
    middle = LINE_END.sub(ending.group() if ending else "\n", code[new_start:new_end])
    text = source.text[:start] + middle + source.text[end:]
    try:
        raw = source.bom + text.encode(source.encoding)
    except UnicodeEncodeError as error:
        raise SourceError(f"the replacement cannot be written in {source.encoding}") from error
    result = read(raw)
    compiles(result)
    old_span = (old[0].start, old[-1].end)
    new_span = (old_span[0], old_span[1] + len(text) - len(source.text))
    if not _same(_Place(source, old_span), source.tree, _Place(result, new_span), result.tree):
        raise SourceError("the code there is part of a larger expression that would change its meaning")
    return result


def compiles(source: Source) -> None:
    """Compile the module without running it. Raises `SourceError` if that fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source.raw, "<patched>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SourceError(f"the result does not compile: {error}") from error


def _common(one: Sequence[Token], other: Sequence[Token]) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a.text != b.text:
            break
        count += 1
    return count


def _gap(tokens: list[Token], head: int, tail: int, wide: bool) -> Span:
    """Return the offsets of what is left after `head` common tokens in front and `tail` behind.

    `wide` takes the white space around it too: where one side has no token left, the other's may need it.
    """
    if wide:
        start = tokens[head - 1].end if head else tokens[0].start
        return start, tokens[-tail].start if tail else tokens[-1].end
    return tokens[head].start, tokens[-1 - tail].end


@dataclass(slots=True)
class _Place:
    """A module and the span of its text in which it may differ from another."""

    source: Source
    span: Span

    def holds(self, node: object, last: int | None = None) -> bool:
        """Say whether a node, or its last so many bytes, stands inside the span."""
        line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if not isinstance(node, ast.AST) or line is None or end_line is None:
            return False
        end = self._offset(end_line, node.end_col_offset)  # type: ignore[attr-defined]
        start = end - last if last else self._offset(line, node.col_offset)  # type: ignore[attr-defined]
        return self.span[0] <= start and end <= self.span[1]

    def _offset(self, line: int, column: int) -> int:
        """Turn the tree's line from 1 and column in UTF-8 bytes into an offset of the text."""
        content = self.source.lines[line - 1]
        if not content.isascii():
            column = len(content.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        return self.source.starts[line - 1] + column


def _same(old: _Place, a: ast.AST, new: _Place, b: ast.AST) -> bool:
    """Say whether two trees are equal everywhere outside of the spans."""
    pairs: list[tuple[object, object]] = [(a, b)]
    while pairs:
        one, other = pairs.pop()
        if old.holds(one) and new.holds(other):
            continue
        if isinstance(one, list) and isinstance(other, list):
            left = [item for item in one if not old.holds(item)]
            right = [item for item in other if not new.holds(item)]
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif type(one) is not type(other):
            return False
        elif not isinstance(one, ast.AST):
            if repr(one) != repr(other):
                return False
        elif not (isinstance(one, ast.Attribute) and isinstance(other, ast.Attribute)):
            pairs += [(getattr(one, name, None), getattr(other, name, None)) for name in one._fields]
        elif one.attr == other.attr or (old.holds(one, len(one.attr)) and new.holds(other, len(other.attr))):
            pairs.append((one.value, other.value))
        else:
            return False
    return True
