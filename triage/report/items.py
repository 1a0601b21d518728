"""The words of a view: items in sections in blocks. Every text in them is visible text, with nothing hidden in it."""

from __future__ import annotations

from triage.records import dataclass, field
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from triage.model import Outcome

ItemKind = Literal["prose", "strong", "quiet", "log", "place", "command", "link"]


@dataclass(slots=True)
class Item:
    """One text of a section.

    `prose` may be wrapped; `strong` and `quiet` are prose that is more or less important. `place` is a place in code.
    `log` is one line of a log, cut in the middle where it does not fit; `at` stands before it and says where it was
    found.
    `command` is to be copied and `link` to be followed: neither is ever cut or wrapped. On a screen that is too small
    for all of a block, `short` stands for the text where there is one, and prose ends after `lines` lines; 0 is no
    limit; what is `spare` is left out. What belongs to the item above it stands further `inside`. Of a line that is
    cut the last `keep` characters stay.
    """

    kind: ItemKind
    text: str
    at: str = ""
    lines: int = 0
    short: str = ""
    inside: bool = False
    keep: int = 0
    spare: bool = False


@dataclass(slots=True)
class Section:
    """What one label says. Sections of one `group` stand together. One that is `terse` is short on any screen."""

    label: str
    items: list[Item]
    group: str
    terse: bool = False


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
