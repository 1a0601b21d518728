"""Pieces of a page as docutils nodes. All text enters as text nodes, which the writer escapes: none of it is markup."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from triage.report.text import visible
from triage.report.wording import Exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triage.report.wording import Clause

_SPANS = re.compile("`([^`\n]+)`")
_LINK = re.compile(r"https://[^\s<>\"]+")


def inline(text: str) -> list[nodes.Node]:
    """Take prose of a signature; return it with what stands between backticks as code."""
    parts = _SPANS.split(visible(text))
    return [code(part) if number % 2 else nodes.Text(part) for number, part in enumerate(parts) if part]


def code(text: str) -> nodes.literal:
    """Take text; return it as code within a line."""
    shown = visible(text)
    return nodes.literal(shown, shown)


def paragraph(*children: str | nodes.Node | Sequence[nodes.Node], classes: Sequence[str] = ()) -> nodes.paragraph:
    """Take prose and nodes; return a paragraph of them."""
    made = nodes.paragraph(classes=list(classes))
    for child in children:
        made += inline(child) if isinstance(child, str) else child
    return made


def section(title: str, *children: nodes.Node, name: str = "") -> nodes.section:
    """Take a title and what stands below it; return the section, its anchor made of `name` or the title."""
    made = nodes.section(ids=[nodes.make_id(name or title) or "section"], names=[])
    heading = nodes.title()
    heading += inline(title)
    made += [heading, *children]
    return made


def block(
    text: str, language: str = "text", marked: Sequence[int] = (), classes: Sequence[str] = ()
) -> nodes.literal_block:
    """Take lines of code or of a log, and the numbers (from 1) of those to mark; return them as a block."""
    made = nodes.literal_block(text, text, language=language, classes=list(classes))
    if marked:
        made["highlight_args"] = {"hl_lines": list(marked)}
    return made


def listed(items: Iterable[nodes.Node | Sequence[nodes.Node]], classes: Sequence[str] = ()) -> nodes.bullet_list:
    """Take the contents of items; return a list of them."""
    made = nodes.bullet_list(classes=list(classes))
    for content in items:
        item = nodes.list_item()
        item += content
        made += item
    return made


def clauses(found: Iterable[Clause]) -> nodes.bullet_list:
    """Take conditions; return them as a list, those that they are made of below them."""
    return listed([_clause(one) for one in found])


def _clause(one: Clause) -> list[nodes.Node]:
    text = words(one.words)
    if not one.parts:
        return [paragraph(text)]
    last = "" if one.words[-1].endswith(":") else ":"
    return [paragraph(text, last), clauses(one.parts)]


def words(found: Sequence[str]) -> list[nodes.Node]:
    """Take the words of a condition; return them, exact text as code."""
    made: list[nodes.Node] = []
    for word in found:
        if made:
            made.append(nodes.Text(" "))
        made.append(code(word) if isinstance(word, Exact) else nodes.Text(visible(word)))
    return made


def page(name: str, text: list[nodes.Node] | str) -> addnodes.pending_xref:
    """Take a page's name (from the root) and a text; return a link to it. The build warns if there is no such page."""
    made = addnodes.pending_xref(
        "", refdomain="std", reftype="doc", reftarget=f"/{name}", refexplicit=True, refwarn=True
    )
    label = nodes.inline()
    label += inline(text) if isinstance(text, str) else text
    made += label
    return made


def link(url: str) -> nodes.Node:
    """Take an address; return a link to it, or the bare text if it is no https address."""
    shown = visible(url)
    return nodes.reference(shown, shown, refuri=url) if _LINK.fullmatch(url) else code(url)


def table(heads: Sequence[str], rows: Iterable[Sequence[Sequence[nodes.Node]]], widths: Sequence[int]) -> nodes.table:
    """Take column heads, rows of cells and the columns' relative widths; return a table."""
    group = nodes.tgroup(cols=len(heads))
    group += [nodes.colspec(colwidth=width) for width in widths]
    group += nodes.thead("", _row([[nodes.Text(head)] for head in heads]))
    body = nodes.tbody()
    body += [_row(cells) for cells in rows]
    group += body
    made = nodes.table(classes=["wide", "colwidths-given"])
    made += group
    return made


def _row(cells: Sequence[Sequence[nodes.Node]]) -> nodes.row:
    made = nodes.row()
    for cell in cells:
        entry = nodes.entry()
        entry += cell if cell and isinstance(cell[0], nodes.Body) else paragraph(cell)
        made += entry
    return made
