"""YAML text as nodes that know their place and how they were written.

PyYAML's own constructors forget both, and turn `off`, `0x1F` or `2025-01-01` into something that is no text. Built from
the parser's events, so that depth and size are bounded before anything is nested; anchors, aliases and tags, which a
signature has no use for, are refused.
"""

from __future__ import annotations

from functools import cache

from triage.lazy import regex
from triage.records import dataclass, field
from triage.typed import Any, Literal

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 24

Reading = Literal["text", "true/false", "number", "nothing", "date", "merge key", "special"]

_READINGS: dict[str, Reading] = {
    "bool": "true/false",
    "int": "number",
    "float": "number",
    "null": "nothing",
    "timestamp": "date",
    "merge": "merge key",
}
_COMMENT = regex(r"\s+#")


@dataclass(slots=True)
class Scalar:
    """A scalar. `reading` is what YAML 1.1 makes of it, `comment` says that a comment follows it on its line."""

    line: int
    column: int
    text: str
    plain: bool
    reading: Reading = "text"
    comment: bool = False


@dataclass(slots=True)
class Sequence:
    """A list of nodes."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    """Pairs of key and value in the order in which they were written; a key may stand there twice."""

    line: int
    column: int
    entries: list[tuple[Node, Node]] = field(default_factory=list)


Node = Scalar | Sequence | Mapping


class SourceError(Exception):
    """The text is no YAML that a signature may be written in; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int = 0, column: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.hint = message, line, column, hint


def documents(raw: bytes) -> list[Node]:
    """Take a file's bytes; return the root node of each of its documents.

    Raises `SourceError` for what is no UTF-8, no YAML, too large, too deep, or uses anchors, aliases or tags.
    """
    if len(raw) > MAX_BYTES:
        raise SourceError(f"larger than {MAX_BYTES // 1024} KiB")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError("not UTF-8", raw.count(b"\n", 0, error.start) + 1) from None
    import yaml

    try:
        return _build(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        said = error.problem or error.context or "not valid YAML"
        raise SourceError(f"no valid YAML: {said}", line, column, _hint(said)) from None
    except yaml.YAMLError as error:
        place = getattr(error, "position", None)
        line = text.count("\n", 0, place) + 1 if isinstance(place, int) else 0
        raise SourceError(f"no valid YAML: {str(error).splitlines()[0]}", line) from None


def _hint(said: str) -> str:
    if "mapping values" in said or "cannot start any token" in said or "expected ':'" in said:
        return "put the text in quotes"
    if "tab" in said:
        return "indent with blanks"
    return ""


def _build(text: str) -> list[Node]:
    import yaml

    lines = text.split("\n")
    roots: list[Node] = []
    open_nodes: list[Sequence | Mapping] = []
    keys: list[Node | None] = []
    count = 0
    ends = (yaml.SequenceEndEvent, yaml.MappingEndEvent)
    # Asked for its events directly: `yaml.parse` looks at each event twice.
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    while (event := parser.get_event()) is not None:
        kind = type(event)
        if kind in ends:
            open_nodes.pop()
            keys.pop()
            continue
        if not issubclass(kind, yaml.NodeEvent):
            continue
        start = event.start_mark
        line, column = start.line + 1, start.column + 1
        count += 1
        if count > MAX_NODES:
            raise SourceError(f"more than {MAX_NODES} values", line, column)
        if event.anchor is not None:  # an alias has one too
            raise SourceError("anchors and aliases are not allowed", line, column, "write the value out, or in quotes")
        if event.tag is not None:
            raise SourceError(
                f"tags are not allowed: {event.tag}", line, column, "put text that begins with ! in quotes"
            )
        if kind is yaml.ScalarEvent:
            if event.style:
                node: Node = Scalar(line, column, event.value, False)
            else:
                node = Scalar(line, column, event.value, True, _reading(event.value), _commented(lines, event.end_mark))
            _place(node, roots, open_nodes, keys)
            continue
        parent = Sequence(line, column) if kind is yaml.SequenceStartEvent else Mapping(line, column)
        _place(parent, roots, open_nodes, keys)
        if len(open_nodes) >= MAX_DEPTH:
            raise SourceError(f"nested deeper than {MAX_DEPTH}", line, column)
        open_nodes.append(parent)
        keys.append(None)
    return roots


def _commented(lines: list[str], end: Any) -> bool:
    return end.line < len(lines) and bool(_COMMENT.match(lines[end.line], end.column))


def _place(node: Node, roots: list[Node], open_nodes: list[Sequence | Mapping], keys: list[Node | None]) -> None:
    if not open_nodes:
        roots.append(node)
        return
    parent = open_nodes[-1]
    if isinstance(parent, Sequence):
        parent.items.append(node)
    elif (key := keys[-1]) is None:
        keys[-1] = node
    else:
        parent.entries.append((key, node))
        keys[-1] = None


@cache
def _resolvers() -> dict[str, list[tuple[str, Any]]]:
    import yaml

    found: dict[str, list[tuple[str, Any]]] = yaml.SafeLoader.yaml_implicit_resolvers
    return found


def _reading(text: str) -> Reading:
    for tag, pattern in _resolvers().get(text[:1], ()):
        if pattern.match(text):
            return _READINGS.get(tag.rpartition(":")[2], "special")
    return "text"
