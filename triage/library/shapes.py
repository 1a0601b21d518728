"""Shapes of values: each reads a YAML node into plain data or says what is wrong with it, and has a JSON Schema.

Plain data is what JSON holds: text, numbers, true/false, None, lists and dicts. What `read` returned without a problem
can be kept as JSON and need not be checked again.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.library.nodes import Node, Scalar, Sequence
from triage.library.problems import Problem
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DURATION = regex(r"(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|min|m|h)?")
_WHOLE = regex(r"-?(0|[1-9]\d{0,17})")
_NUMBER = regex(r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?")
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, None: 1.0}


class Findings:
    """Collects the problems of one file, and the line of every field that was read."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.lines: dict[str, int] = {}

    def add(self, node: Node, at: str, message: str, hint: str = "") -> None:
        """Note a problem of `node`, whose path of keys is `at`."""
        self.problems.append(Problem(self.file, node.line, at, message, hint, node.column))


class Shape:
    """A kind of value."""

    name = "value"

    def read(self, node: Node, at: str, found: Findings) -> Any:
        """Return the node's plain data, or report what is wrong: what is then returned means nothing."""
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the value."""
        raise NotImplementedError


class Text(Shape):
    """Text, which must be quoted where YAML would read it as something else or cut it at a `#`."""

    name = "text"

    def __init__(
        self,
        pattern: str | None = None,
        *,
        says: str = "",
        limit: int = 4000,
        check: Callable[[str], str] | None = None,
        free: bool | None = None,
    ) -> None:
        """Take the pattern that all of the text must match and how to call it; `check` returns what is wrong or ''.

        In `free` text (where neither is given, unless said otherwise) a comment may well be a part of it that is lost.
        """
        self.pattern, self.says, self.limit, self.check = pattern, says, limit, check
        self._fits = regex(pattern) if pattern else None
        self.free = not (pattern or check) if free is None else free

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Scalar):
            return found.add(node, at, f"must be {self.name}, not {called(node)}")
        text = node.text
        if node.plain:
            if node.reading != "text":
                return found.add(node, at, f"YAML reads {text!r} as {node.reading}, not as text", "put it in quotes")
            if node.comment and self.free:
                return found.add(node, at, "the text is cut at ' #'", "put it in quotes, also where a comment is meant")
        if not text or text.isspace():
            return found.add(node, at, "is empty")
        if len(text) > self.limit:
            return found.add(node, at, f"longer than {self.limit} characters")
        if self._fits is not None and not self._fits.fullmatch(text):
            return found.add(node, at, f"{text!r} is not {self.says or self.pattern}")
        if self.check and (wrong := self.check(text)):
            return found.add(node, at, wrong)
        return text

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": self.limit}
        if self.pattern:
            schema["pattern"] = f"^(?:{self.pattern})$"
        return schema


class Choice(Shape):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.name = "one of " + ", ".join(words)

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Scalar) or node.text not in self.words:
            said = repr(node.text) if isinstance(node, Scalar) else called(node)
            close = closest(node.text, self.words) if isinstance(node, Scalar) else ""
            return found.add(node, at, f"must be {self.name}, not {said}", close)
        return node.text

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.words)}


class Truth(Shape):
    """`true` or `false`, in these spellings only."""

    name = "true or false"

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Scalar) or not node.plain or node.text not in ("true", "false"):
            return found.add(node, at, f"must be {self.name}")
        return node.text == "true"

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Number(Shape):
    """A decimal number."""

    name = "a number"

    def __init__(self, *, whole: bool = False) -> None:
        self.whole = whole
        self.name = "a whole number" if whole else "a number"
        self._fits = _WHOLE if whole else _NUMBER

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Scalar) or not node.plain or not self._fits.fullmatch(node.text):
            return found.add(node, at, f"must be {self.name}")
        return float(node.text) if "." in node.text else int(node.text)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer" if self.whole else "number"}


class Duration(Shape):
    """A span of time such as `30s`, `5min` or `250ms`, read as seconds."""

    name = "a duration such as 30s"

    def read(self, node: Node, at: str, found: Findings) -> Any:
        match = _DURATION.fullmatch(node.text) if isinstance(node, Scalar) else None
        if match is None:
            return found.add(node, at, f"must be {self.name}")
        return float(match[1]) * _SECONDS[match[2]]

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [{"type": "string", "pattern": f"^(?:{_DURATION.pattern})$"}, {"type": "number", "minimum": 0}]
        }


class Null(Shape):
    """`null`, in this spelling only."""

    name = "null"

    def read(self, node: Node, at: str, found: Findings) -> Any:
        if not isinstance(node, Scalar) or not node.plain or node.text != "null":
            found.add(node, at, "must be null")

    def schema(self) -> dict[str, Any]:
        return {"type": "null"}


class Value(Shape):
    """Text, unless it is written without quotes and is one of the other shapes (a truth value, a number, null)."""

    def __init__(self, text: Text | Choice, *others: Shape) -> None:
        self.text, self.others = text, others
        self.name = " or ".join(shape.name for shape in (*others, text))

    def read(self, node: Node, at: str, found: Findings) -> Any:
        for shape in self.others:
            quiet = Findings(found.file)
            value = shape.read(node, at, quiet)
            if not quiet.problems:
                return value
        return self.text.read(node, at, found)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [shape.schema() for shape in (*self.others, self.text)]}


def called(node: Node) -> str:
    """Return what a node is, in words."""
    if isinstance(node, Scalar):
        return "nothing" if node.reading == "nothing" and node.plain else repr(node.text[:60])
    return "a list" if isinstance(node, Sequence) else "a mapping"


def closest(word: str, known: Iterable[str]) -> str:
    """Return a question that names the known word which `word` may have been meant for, or ''."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1, 0.7)
    return f"did you mean {near[0]!r}?" if near else ""
