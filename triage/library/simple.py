"""Reads the simple YAML in which nearly all signatures are written, without PyYAML.

Loading PyYAML and asking it for its events takes half of the time of reading signatures for the first time. What is
read here is one document of mappings and lists whose scalars and flow collections each stand on one line. Where a text
holds anything else, or anything wrong, the answer is None: PyYAML reads it, or says what is wrong. A test holds both to
the same nodes.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.library.nodes import Mapping, Node, Reading, Scalar, Sequence
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re

# No node has less than one character, so that `source.MAX_NODES` holds too.
MAX_LENGTH = 20_000
# Of rows and of flow collections each: together not more than `source.MAX_DEPTH`.
MAX_DEPTH = 12

_KEY = r"([A-Za-z_][\w.-]{0,80})"
# Written so that `re` passes over most text by its fastest loops: up to one sign, or one class.
_QUOTED = r""""([^"]*(?<!\\)|[^"\\]*(?:\\["\\nt][^"\\]*)*)"|'([^']*(?:''[^']*)*)'"""
# No sign in a plain scalar means anything to YAML where it stands. Of numbers only those that everyone reads alike.
# It takes the blanks behind it too: what could stop before or behind a blank would be tried for each of many.
_PLAIN = r"(?:[^\W\d]|/)[^:#]*(?:(?::(?=[^ ])|(?<=[^ ])#)[^:#]*)*|(?:[1-9]\d{0,8}|0) *"
_FLOW_PLAIN = r"(?:[^\W\d]|/)[\w./+=()*-]*(?: +[\w./+=()*-]+)*|[1-9]\d{0,8}|0"
_ROW = regex(rf"( *)(- +)?(?:{_KEY}:(?: +|$))?(?:(?:(?:{_QUOTED}) *|({_PLAIN}))$)?")
_ENTRY = regex(rf"(?:{_KEY}: +)?(?:(?:{_QUOTED}|({_FLOW_PLAIN})) *(, *|[\]}}]))?")
_AFTER = regex(r" *(, *|[\]}])")
_ESCAPE = regex(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_DIGITS = frozenset("0123456789")
_READINGS: dict[str, Reading] = {
    **dict.fromkeys(("null", "Null", "NULL"), "nothing"),
    **{
        spelt: "true/false"
        for word in ("yes", "no", "true", "false", "on", "off")
        for spelt in (word, word.title(), word.upper())
    },
}


class _OtherError(Exception):
    """The text is not as simple as that."""


def simple(text: str) -> Node | None:
    """Take the text of a YAML file; return its root node, None where PyYAML has to be asked."""
    # What is not printable: tabs, other line ends, and what YAML does not allow.
    if len(text) > MAX_LENGTH or not text.replace("\n", "").isprintable():
        return None
    try:
        return _Rows().read(text)
    except _OtherError:
        return None


class _Rows:
    """Reads row by row: each is an element of a list, an entry of a mapping, or both."""

    def __init__(self) -> None:
        self.around: list[tuple[int, Sequence | Mapping]] = []  # the collections that a row may belong to, by indent
        self.key: Scalar | None = None  # stood alone on the row before: its value is on the next

    def read(self, text: str) -> Node:
        around = self.around
        root: Node | None = None
        for line, row in enumerate(text.split("\n"), 1):
            found = _ROW.match(row)
            if found is None:
                raise _OtherError
            blank, dash, name = found.group(1, 2, 3)
            if not (dash or name):
                if row.strip(" ")[:1] in ("", "#"):
                    continue
                raise _OtherError
            indent = len(blank)
            kind: type[Sequence | Mapping] = Sequence if dash else Mapping
            # Most rows stand under one of their kind.
            if self.key or not around or around[-1][0] != indent or type(around[-1][1]) is not kind:
                self.place(line, indent, kind)
                root = root or around[0][1]
            if dash and name:
                indent += len(dash)
                self.enter(indent, Mapping(line, indent + 1))
            key = Scalar(line, indent + 1, name, True, _READINGS.get(name, "text")) if name else None
            value: Node
            if (found.lastindex or 0) > 3:
                value = _leaf(found, line, 4)
            elif (at := found.end()) < len(row):
                value, end = _flow(line, row, at, 0)
                if row[end:].strip(" "):
                    raise _OtherError
            elif key:
                self.key = key
                continue
            else:
                raise _OtherError
            self.put(key, value)
        if root is None or self.key:
            raise _OtherError
        return root

    def place(self, line: int, indent: int, kind: type[Sequence | Mapping]) -> None:
        """Find the collection that a row belongs to, or begin it."""
        around = self.around
        if around and not self.key:
            while around[-1][0] > indent:
                around.pop()
                if not around:
                    raise _OtherError
            if kind is Mapping and len(around) > 1 and type(around[-1][1]) is Sequence:
                around.pop()
            if around[-1][0] != indent or type(around[-1][1]) is not kind:
                raise _OtherError
            return
        # A list may stand as far to the left as the key that it belongs to.
        least = around[-1][0] + (kind is Mapping) if around else 0
        if indent < least or (indent and not around):
            raise _OtherError
        self.enter(indent, kind(line, indent + 1))

    def enter(self, indent: int, node: Sequence | Mapping) -> None:
        """Begin a collection inside the innermost one."""
        if len(self.around) >= MAX_DEPTH:
            raise _OtherError
        if self.around:
            self.put(self.key, node)
            self.key = None
        self.around.append((indent, node))

    def put(self, key: Scalar | None, node: Node) -> None:
        """Add a value to the innermost collection."""
        above = self.around[-1][1]
        if isinstance(above, Sequence):
            above.items.append(node)
        elif key:
            above.entries.append((key, node))
        else:
            raise _OtherError


def _flow(line: int, row: str, at: int, depth: int) -> tuple[Node, int]:
    """Read a collection in brackets; return it and where it ends."""
    begins = row[at : at + 1]
    if depth >= MAX_DEPTH or begins not in ("[", "{"):
        raise _OtherError
    node = Sequence(line, at + 1) if begins == "[" else Mapping(line, at + 1)
    after = ","
    at += 1
    while after[0] == ",":
        found = _ENTRY.match(row, at)
        if found is None:
            raise _OtherError
        name, after = found.group(1, 5)
        value: Node
        if after:
            value, end = _leaf(found, line, 2), found.end()
        else:
            value, end = _flow(line, row, found.end(), depth + 1)
            ends = _AFTER.match(row, end)
            if ends is None:
                raise _OtherError
            after, end = ends[1], ends.end()
        if (name is None) is isinstance(node, Mapping):
            raise _OtherError
        if isinstance(node, Mapping):
            node.entries.append((Scalar(line, at + 1, name, True, _READINGS.get(name, "text")), value))
        else:
            node.items.append(value)
        at = end
    if after != ("]" if begins == "[" else "}"):
        raise _OtherError
    return node, at


def _leaf(found: re.Match[str], line: int, group: int) -> Scalar:
    """Return the scalar that a row or an entry holds; `group` is the first of the three that may have it."""
    double, single, plain = found.group(group, group + 1, group + 2)
    if plain is not None:
        text = plain.rstrip(" ")
        reading = "number" if text[0] in _DIGITS else _READINGS.get(text, "text")
        return Scalar(line, found.start(group + 2) + 1, text, True, reading)
    if single is not None:
        return Scalar(line, found.start(group + 1), single.replace("''", "'"), False)
    if "\\" in double:
        double = _ESCAPE.sub(_unescaped, double)
    return Scalar(line, found.start(group), double, False)


def _unescaped(found: re.Match[str]) -> str:
    if found[1] not in _ESCAPES:
        raise _OtherError
    return _ESCAPES[found[1]]
