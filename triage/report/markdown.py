"""The report as Markdown, made to be put into an issue: nothing in it from a log can act as markup.

Text of a log stands in code spans and fences that are longer than any run of backticks in it; in prose every word that
Markdown, or GitHub's mentions, links and mathematics, could take for markup becomes a code span.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.report.items import Block, Item, Section, View

_SPANS = regex("(?<!`)`([^`]+)`(?!`)")
_RUNS = regex("`+")
_MARKUP = regex(r"[`*\[\]<>~|#@\\&$^]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|://|\bwww\.|^:\w+:$")
_OPENS = regex(r"[-+=]+$|\d{1,9}[.)]$")


def render(view: View) -> str:
    """Take a view; return it as GitHub-flavoured Markdown, which ends with a newline."""
    parts = [_block(block) for block in view.blocks]
    return "\n".join([*parts, _prose(view.tool)]) + "\n"


def _block(block: Block) -> str:
    lines = [f"### {_prose(block.sentence)}", ""]
    group = None
    for section in block.sections:
        if group not in (None, section.group) and lines[-1]:
            lines.append("")
        group = section.group
        lines += _section(section)
    for section in block.details:
        lines += ["", f"<details><summary>{section.label}</summary>", "", *_fenced(section.items), "", "</details>"]
    return "\n".join(lines) + "\n"


def _section(section: Section) -> list[str]:
    lines: list[str] = []
    logs: list[Item] = []
    for item in section.items:
        if item.kind == "log" and len(section.items) > 1:
            logs.append(item)
            continue
        lines += _flushed(logs)
        lines += _lines(item)
    lines += _flushed(logs)
    while lines and not lines[-1].strip():
        lines.pop()
    lines[-1:] = [line.rstrip() for line in lines[-1:]]
    label = f"- **{_prose(section.label)}**"
    if lines and lines[0]:
        return [f"{label} {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])]
    return [label, *(f"  {line}".rstrip() for line in lines)]


def _flushed(logs: list[Item]) -> list[str]:
    if not logs:
        return []
    lines = ["", *_fenced(logs), ""]
    logs.clear()
    return lines


def _lines(item: Item) -> list[str]:
    if item.kind == "command":
        return ["", *_fence([item.text], "sh"), ""]
    if item.kind == "link":
        return [f"<{item.text}>  "]
    if item.kind in ("log", "place"):
        return [f"{_code(item.at)} {_code(item.text)}  " if item.at else f"{_code(item.text)}  "]
    before = f"{_code(item.at)} " if item.at else ""
    words = [_prose(part) for part in item.text.split("\n") if part.strip()]
    if item.kind == "strong" and words:
        return [f"{before}**{words[0]}**  ", *(f"{part}  " for part in words[1:])]
    return [f"{before if not number else ''}{part}  " for number, part in enumerate(words)]


def _fenced(items: list[Item]) -> list[str]:
    width = min(max((len(item.at) for item in items), default=0), 40)
    lines = [f"{item.at:{width}}  {item.text}" if width else item.text for item in items]
    return _fence([part.rstrip() for line in lines for part in line.split("\n")], "text")


def _fence(lines: list[str], language: str) -> list[str]:
    longest = max((len(run) for line in lines for run in _RUNS.findall(line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [f"{fence}{language}", *lines, fence]


def _code(text: str) -> str:
    text = " ".join(text.split())
    longest = max(map(len, _RUNS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""


def _prose(text: str) -> str:
    """Take text of one line; return it with what stands between backticks, and what could be markup, in code spans."""
    parts = _SPANS.split(text)
    return " ".join(filter(None, (_code(part) if number % 2 else _words(part) for number, part in enumerate(parts))))


def _words(text: str) -> str:
    found: list[tuple[bool, str]] = []
    for number, word in enumerate(text.split()):
        code = bool(_MARKUP.search(word)) or (not number and bool(_OPENS.match(word)))
        if code and found and found[-1][0]:
            found[-1] = (True, f"{found[-1][1]} {word}")
        else:
            found.append((code, word))
    return " ".join(_code(word) if code else word for code, word in found)
