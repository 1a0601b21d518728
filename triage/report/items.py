"""The words of a view: items in sections in blocks. Every text in them is visible text, with nothing hidden in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.model import Outcome

ItemKind = Literal["prose", "strong", "quiet", "log", "place", "command", "link"]


@dataclass(slots=True)
class Item:
    """One text of a section.

    `prose` may be wrapped; `strong` and `quiet` are prose that is more or less important. `place` is a place in code.
    `log` is one line of a log, cut in the middle where it does not fit; `at` stands before it and says where it was
    found.
    `command` is to be copied and `link` to be followed: neither is ever cut or wrapped. On a terminal prose ends
    after `lines` lines; 0 is no limit.
    """

    kind: ItemKind
    text: str
    at: str = ""
    lines: int = 0


@dataclass(slots=True)
class Section:
    """What one label says. Sections of one `group` stand together."""

    label: str
    items: list[Item]
    group: str


@dataclass(slots=True)
class Block:
    """What is shown of one service. Without `sections` its sentence says it all.

    `details` is for formats that have room: the whole stack, the processes, the facts.
    """

    outcome: Outcome
    sentence: str
    sections: list[Section] = field(default_factory=list)
    details: list[Section] = field(default_factory=list)


@dataclass(slots=True)
class View:
    """What is shown of a report: the services that need care first, and who says so."""

    blocks: list[Block]
    tool: str
