"""YAML text as nodes that know their place and how they were written.

PyYAML's own constructors forget both, and turn `off`, `0x1F` or `2025-01-01` into something that is no text. Built from
the parser's events, so that depth and size are bounded before anything is nested; anchors, aliases and tags, which a
signature has no use for, are refused.
"""

from __future__ import annotations

from functools import cache

from triage.lazy import regex
from triage.library.nodes import Mapping, Node, Reading, Scalar, Sequence
from triage.library.simple import simple
from triage.typed import Any

MAX_BYTES = 256 * 1024
MAX_NODES = 20_000
MAX_DEPTH = 24

_READINGS: dict[str, Reading] = {
    "bool": "true/false",
    "int": "number",
    "float": "number",
    "null": "nothing",
    "timestamp": "date",
    "merge": "merge key",
}
_COMMENT = regex(r"\s+#")


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
        text = raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise SourceError("not UTF-8", raw.count(b"\n", 0, error.start) + 1) from None
    if (root := simple(text)) is not None:
        return [root]
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

    lines = text.split("\n") if "#" in text else []
    roots: list[Node] = []
    inside = roots  # what the next node belongs to; of a mapping keys and values in turn
    above: list[tuple[list[Node], Mapping | None]] = []
    mapping: Mapping | None = None
    count = 0
    ends = {yaml.SequenceEndEvent, yaml.MappingEndEvent}
    nodes = {yaml.ScalarEvent, yaml.SequenceStartEvent, yaml.MappingStartEvent, yaml.AliasEvent}
    # Asked for its events directly: `yaml.parse` looks at each event twice.
    parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    while (event := parser.get_event()) is not None:
        kind = type(event)
        if kind not in nodes:
            if kind in ends:
                if mapping is not None:
                    mapping.entries = list(zip(inside[::2], inside[1::2], strict=True))
                inside, mapping = above.pop()
            continue
        start = event.start_mark
        line, column = start.line + 1, start.column + 1
        count += 1
        if count > MAX_NODES:
            raise SourceError(f"more than {MAX_NODES} values", line, column)
        if event.anchor is not None:  # an alias has one too
            raise SourceError("anchors and aliases are not allowed", line, column, "write the value out, or in quotes")
        if event.tag is not None:
            hint = "put text that begins with ! in quotes"
            raise SourceError(f"tags are not allowed: {event.tag}", line, column, hint)
        if kind is yaml.ScalarEvent:
            value = event.value
            if event.style:
                inside.append(Scalar(line, column, value, False))
            else:
                comment = bool(lines) and _commented(lines, event.end_mark)
                inside.append(Scalar(line, column, value, True, _reading(value), comment))
            continue
        if len(above) >= MAX_DEPTH:
            raise SourceError(f"nested deeper than {MAX_DEPTH}", line, column)
        above.append((inside, mapping))
        if kind is yaml.SequenceStartEvent:
            node = Sequence(line, column)
            inside.append(node)
            inside, mapping = node.items, None
        else:
            mapping = Mapping(line, column)
            inside.append(mapping)
            inside = []
    return roots


def _commented(lines: list[str], end: Any) -> bool:
    return end.line < len(lines) and bool(_COMMENT.match(lines[end.line], end.column))


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
