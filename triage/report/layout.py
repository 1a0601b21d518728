"""Sets a view as lines of a given width: labels in one column, what they say in the next."""

from __future__ import annotations

from triage.report.text import columns, middle, wrap
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.report.items import Block, Item, Section, View

Span = tuple[str, str]
"""A text and the name of its style: an outcome, or `label`, `at` or an item's kind."""

NARROWEST = 20
_SIGNS = {"failed": "✗", "degraded": "!", "starting": "…", "healthy": "✓"}
_LABEL, _GAP, _INDENT = 9, 2, 2
_STACKED = 50
_PROSE = 96
_AT = 26
_NARROW_LOG = 24
_SCREEN = 40


def lay_out(view: View, width: int, screen: bool = False) -> list[list[Span]]:
    """Take a view, a width in columns and whether it is for a screen; return its lines.

    No line is wider, save commands and links, which are never cut or wrapped so that they can be copied. On a screen
    a block that is longer than 40 lines loses what its items say may be left out.
    """
    width = max(width, NARROWEST)
    lines: list[list[Span]] = []
    previous: Block | None = None
    for block in view.blocks:
        if previous is not None and (block.sections or previous.sections):
            lines.append([])
        whole = _block(block, width, screen, tight=False)
        lines += _block(block, width, screen, tight=True) if screen and len(whole) > _SCREEN else whole
        previous = block
    return lines


def _block(block: Block, width: int, screen: bool, tight: bool) -> list[list[Span]]:
    said = wrap(block.sentence, min(width, _PROSE + _LABEL) - _INDENT)
    signs = [_SIGNS.get(block.outcome, "-"), *(" " * (len(said) - 1))]
    lines: list[list[Span]] = [[(f"{sign} {line}", block.outcome)] for sign, line in zip(signs, said, strict=True)]
    group = None
    for section in block.sections:
        if section.group != group:
            lines.append([])
            group = section.group
        lines += _section(section, width, tight or (screen and section.terse))
    return lines


def _section(section: Section, width: int, tight: bool) -> list[list[Span]]:
    items = [item for item in section.items if not (tight and item.spare)]
    label = middle(section.label, _LABEL)
    stacked = width < _STACKED
    left = _INDENT * 2 if stacked else _INDENT + _LABEL + _GAP
    at = min(max((columns(item.at) for item in items if item.at), default=0), _AT)
    lines: list[list[Span]] = []
    for number, item in enumerate(items):
        lines += (
            _copied(item, left, width, number)
            if item.kind in ("command", "link")
            else _item(item, left, width, at, tight)
        )
    start = " " * _INDENT + label
    if not lines:
        return []
    if stacked:
        return [[(start, "label")], *lines]
    text, style = lines[0][0]
    lines[0] = [(start + " " * (left - columns(start)), "label"), (text[left:], style), *lines[0][1:]]
    return lines


def _copied(item: Item, left: int, width: int, number: int) -> list[list[Span]]:
    """Set a command or link on one line of its own, a little further in than the prose that it follows."""
    inside = left + (_INDENT if item.kind == "command" and number else 0)
    if number and inside + columns(item.text) > width:
        inside = _INDENT * 2
    return [[(" " * inside + item.text, item.kind)]]


def _item(item: Item, left: int, width: int, at: int, tight: bool) -> list[list[Span]]:
    left += _INDENT if item.inside else 0
    indent = " " * left
    if item.at and width - left - at - _GAP >= _NARROW_LOG:
        before = middle(item.at, at)
        before += " " * (at - columns(before) + _GAP)
        texts = _texts(item, width - left - at - _GAP, tight)
        hanging = " " * (left + at + _GAP)
        first: list[Span] = [(indent + before, "at"), (texts[0], item.kind)]
        rest: list[list[Span]] = [[(hanging + text, item.kind)] for text in texts[1:]]
        return [first, *rest]
    above: list[list[Span]] = [[(indent + middle(item.at, width - left), "at")]] if item.at else []
    return above + [[(indent + text, item.kind)] for text in _texts(item, width - left, tight)]


def _texts(item: Item, width: int, tight: bool) -> list[str]:
    if item.kind == "log":
        return [middle(line, width, item.keep) for line in item.text.split("\n")]
    width = min(width, _PROSE)
    lines = wrap((tight and item.short) or item.text, width)
    if len(lines) > 1 and lines[-1] == "…" and lines[-2].endswith("."):
        lines[-2:] = [lines[-2][:-1] + "…"]
    if tight and item.lines and len(lines) > item.lines:
        lines = lines[: item.lines]
        lines[-1] = _unfinished(lines[-1], width)
    return lines


def _unfinished(line: str, width: int) -> str:
    while columns(line) > width - 2 and " " in line:
        line = line.rpartition(" ")[0]
    return line[: width - 2].rstrip(" .,;:") + " …" if columns(line) <= width - 2 else middle(line, width)
