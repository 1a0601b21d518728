"""The report as one HTML file: no script, nothing loaded from elsewhere, every text escaped."""

from __future__ import annotations

from pathlib import Path

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.report.items import Block, Item, Section, View

_SPANS = regex("`([^`\n]+)`")
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
<footer>{footer}</footer>
</body>
</html>
"""


def render(view: View) -> str:
    """Take a view; return it as one self-contained HTML page."""
    style = (Path(__file__).with_name("report.css")).read_text(encoding="utf-8")
    body = "\n".join(_block(block) for block in view.blocks)
    title = _escaped(view.blocks[0].sentence[:200] if view.blocks else "triage")
    return _PAGE.format(title=title, style=style, body=body, footer=_escaped(view.tool))


def _block(block: Block) -> str:
    head = f'<h2><span class="sign">{_escaped(block.outcome)}</span> {_escaped(block.sentence)}</h2>'
    groups: list[list[Section]] = []
    for section in block.sections:
        if not groups or groups[-1][0].group != section.group:
            groups.append([])
        groups[-1].append(section)
    body = "".join(f'<dl class="{_escaped(group[0].group)}">{"".join(map(_section, group))}</dl>\n' for group in groups)
    body += "".join(_details(section) for section in block.details)
    return f'<article class="{_escaped(block.outcome)}">\n{head}\n{body}</article>'


def _section(section: Section) -> str:
    return f"<div><dt>{_escaped(section.label)}</dt><dd>{_items(section.items)}</dd></div>\n"


def _details(section: Section) -> str:
    items = _items(section.items)
    return f"<details><summary>{_escaped(section.label)}</summary>{items}</details>\n"


def _items(items: list[Item]) -> str:
    parts: list[str] = []
    table: list[str] = []
    for item in items:
        if item.at:
            table.append(f'<tr><th>{_escaped(item.at)}</th><td class="{item.kind}">{_escaped(item.text)}</td></tr>')
            continue
        if table:
            parts.append(f"<table>{''.join(table)}</table>")
            table = []
        parts.append(_item(item))
    if table:
        parts.append(f"<table>{''.join(table)}</table>")
    return "".join(parts)


def _item(item: Item) -> str:
    text = _escaped(item.text)
    if item.kind == "command":
        return f"<pre><code>{text}</code></pre>"
    if item.kind == "link":
        return f'<p><a href="{text}" rel="noreferrer noopener">{text}</a></p>'
    if item.kind not in ("log", "place"):
        text = _SPANS.sub(r"<code>\1</code>", text)
    return f'<p class="{item.kind}">{text}</p>'


def _escaped(text: str) -> str:
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(char, entity)
    return text
