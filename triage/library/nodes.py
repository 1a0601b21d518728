"""The nodes of a YAML text: they know their place and how they were written."""

from __future__ import annotations

from triage.records import dataclass, field
from triage.typed import Literal

Reading = Literal["text", "true/false", "number", "nothing", "date", "merge key", "special"]


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
