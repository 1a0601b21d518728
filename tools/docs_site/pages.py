"""What the tests read out of the pages: their blocks of code, with the comment that stands above each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^>]*?) -->\n)?```(?P<language>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A block of a page; `note` is the text of the HTML comment right above it, '' if there is none."""

    note: str
    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """Take the path of a page below docs/; return its blocks in order."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return [Block(found["note"] or "", found["language"], found["text"]) for found in _FENCE.finditer(text)]
