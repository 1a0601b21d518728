"""Python source that is changed without being run: decoded, parsed and tokenised, with bytes kept exactly.

Code is compared by tokens, so white space, line breaks and comments inside an expression do not matter.
"""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
import warnings

from triage.lazy import regex
from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MAX_BYTES = 4_000_000
"""The largest module that is read; the largest in SGLang and vLLM have 0.4 MB."""

MODULE = "<module>"
"""Python's own name for code outside of all functions, as tracebacks print it."""

LINE_END = regex(r"\r\n|\r|\n")
_SKIPPED = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_OPENING = frozenset(filter(None, (getattr(tokenize, name, None) for name in ("FSTRING_START", "TSTRING_START"))))
_CLOSING = frozenset(filter(None, (getattr(tokenize, name, None) for name in ("FSTRING_END", "TSTRING_END"))))

Function = ast.FunctionDef | ast.AsyncFunctionDef
Span = tuple[int, int]


class SourceError(Exception):
    """The text cannot be read as Python, or a replacement in it would not be what was asked for."""


@dataclass(slots=True)
class Token:
    """One token that means something: comparable text, first and last offset in the text, line from 1."""

    text: str
    start: int
    end: int
    line: int


@dataclass(slots=True)
class Source:
    """A module: its bytes, its text without byte order mark, where its lines start, its syntax tree and tokens."""

    raw: bytes
    encoding: str
    bom: bytes
    text: str
    starts: list[int]
    lines: list[str]
    tree: ast.Module
    tokens: list[Token] = field(repr=False)


def read(raw: bytes) -> Source:
    """Take a module's bytes; return it parsed. Raises `SourceError` where Python could not read it either."""
    if len(raw) > MAX_BYTES:
        raise SourceError(f"it has {len(raw):,} bytes, more than the {MAX_BYTES:,} that are read")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        bom = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        encoding = encoding.removesuffix("-sig")
        text = raw[len(bom) :].decode(encoding)
        if bom + text.encode(encoding) != raw:
            raise SourceError(f"its encoding {encoding} does not give the same bytes back")
        starts, lines = _lines(text)
        plain = "\n".join(lines)
        return Source(raw, encoding, bom, text, starts, lines, _parsed(plain), list(_tokens(plain, starts)))
    except (SyntaxError, ValueError, LookupError, tokenize.TokenError) as error:
        raise SourceError(f"this Python cannot parse it: {error}") from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("its code is nested too deeply to be parsed") from error


def fragment(code: str) -> list[Token]:
    """Take an expression or a simple statement; return its tokens, with offsets in `code`.

    Raises `ValueError` if it is no Python, or more than one logical line.
    """
    if "\r" in code:
        raise ValueError("it holds a carriage return")
    try:
        body = _parsed(code).body
        tokens = list(_tokens(code, _lines(code)[0]))
    except (SyntaxError, tokenize.TokenError, RecursionError, MemoryError) as error:
        raise ValueError(f"no Python expression or simple statement: {error}") from error
    while tokens and tokens[-1].text == "\n":
        tokens.pop()
    if not body or any(token.text == "\n" for token in tokens) or hasattr(body[0], "body"):
        raise ValueError("more than one logical line, or none")
    return tokens


def functions(source: Source, dotted: str) -> list[Span]:
    """Return first and last line of every function of that qualified name (`Class.method`), decorators included.

    `<locals>.` may be left out. There are several where code is defined twice (branches, overloads, properties).
    """
    if dotted == MODULE:
        return [(1, len(source.lines))]
    wanted = dotted.replace("<locals>.", "")
    return [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or node.lineno)
        for name, node in _definitions(source.tree.body, "")
        if name == wanted
    ]


def function_names(source: Source) -> list[str]:
    """Return the qualified names of all functions, in the order in which they stand."""
    return [name for name, _ in _definitions(source.tree.body, "")]


def occurrences(source: Source, code: str, spans: Iterable[Span]) -> list[Span]:
    """Return where a piece of code stands in these spans of lines, as pairs of token numbers (first, last + 1)."""
    wanted, found, tokens = [token.text for token in fragment(code)], [], source.tokens
    for first, last in spans:
        inside = [number for number, token in enumerate(tokens) if first <= token.line <= last]
        if not inside:
            continue
        number, stop = inside[0], inside[-1] + 2 - len(wanted)
        while number < stop:
            if tokens[number].text == wanted[0] and _stands(tokens, number, wanted):
                found.append((number, number + len(wanted)))
                number += len(wanted)
            else:
                number += 1
    return sorted(set(found))


def nearest(source: Source, code: str, spans: Sequence[Span]) -> tuple[int, str] | None:
    """Return line and text of the expression in these spans that is most like `code`, None where none is near."""
    from rapidfuzz import fuzz, process

    try:
        kind = type(ast.parse(code.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None
    candidates: dict[str, int] = {}
    for node in ast.walk(source.tree):
        if type(node) is kind and isinstance(node, ast.expr) and any(a <= node.lineno <= b for a, b in spans):
            candidates.setdefault(_unparsed(node), node.lineno)
    best = process.extractOne(code, candidates.keys(), scorer=fuzz.ratio, score_cutoff=65)
    return (candidates[best[0]], best[0]) if best else None


def _unparsed(node: ast.expr) -> str:
    try:
        return ast.unparse(node)[:500]
    except (ValueError, RecursionError):
        return ""


def _lines(text: str) -> tuple[list[int], list[str]]:
    starts, lines, begin = [], [], 0
    for match in LINE_END.finditer(text):
        starts.append(begin)
        lines.append(text[begin : match.start()])
        begin = match.end()
    return [*starts, begin], [*lines, text[begin:]]


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _tokens(text: str, starts: list[int]) -> Iterator[Token]:
    """Yield the tokens that mean something; an f-string is one token on every Python."""
    depth, begin = 0, (0, 0)
    lines = text.split("\n")
    for kind, string, first, last, _ in tokenize.generate_tokens(io.StringIO(text).readline):
        if kind in _OPENING:
            depth, begin = depth + 1, begin if depth else first
        elif kind in _CLOSING:
            depth -= 1
            if depth == 0:
                start, end = starts[begin[0] - 1] + begin[1], starts[last[0] - 1] + last[1]
                yield Token(_between(lines, begin, last), start, end, begin[0])
        elif depth or kind in _SKIPPED or (kind == tokenize.NEWLINE and not string):
            continue
        elif kind == tokenize.NEWLINE:
            yield Token("\n", starts[first[0] - 1] + first[1], starts[first[0] - 1] + first[1], first[0])
        else:
            start, end = starts[first[0] - 1] + first[1], starts[last[0] - 1] + last[1]
            yield Token(_plain(string) if kind == tokenize.STRING else string, start, end, first[0])


def _between(lines: list[str], first: Span, last: Span) -> str:
    part = lines[first[0] - 1 : last[0]]
    part[-1] = part[-1][: last[1]]
    part[0] = part[0][first[1] :]
    return "\n".join(part)


def _plain(string: str) -> str:
    """Take a string token; return it in one spelling, so that quotes and prefixes do not matter."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(ast.literal_eval(string))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return string


def _definitions(body: Iterable[ast.AST], prefix: str) -> Iterator[tuple[str, Function]]:
    stack = [(node, prefix) for node in reversed(list(body))]
    while stack:
        node, above = stack.pop()
        if isinstance(node, Function | ast.ClassDef):
            name = f"{above}{node.name}"
            if isinstance(node, Function):
                yield name, node
            above = f"{name}."
        stack += [
            (child, above)
            for child in reversed(list(ast.iter_child_nodes(node)))
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
        ]


def _stands(tokens: list[Token], at: int, wanted: list[str]) -> bool:
    return all(tokens[at + step].text == text for step, text in enumerate(wanted))
