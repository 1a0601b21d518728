"""Tests of the reader of simple YAML: what it reads is what PyYAML reads, and what it does not read PyYAML is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from triage.data import folder
from triage.library.simple import MAX_DEPTH, MAX_LENGTH, simple
from triage.library.source import SourceError, _build

_PACKAGED = sorted(Path(folder("signatures")).rglob("*.yaml"))
_PIECES = (
    "\n", "\n  ", "\n    ", "\n- ", "\n  - ", " ", "  ", "\t", ": ", ":", "- ", "-", "? ", ", ", ",", "[", "]", "{", "}",
    '"', "'", "''", "\\", '\\"', "\\n", "\\x41", "#", " #", "|", ">", ">-", "&a ", "*a", "!t ", "%", "@", "`", "---", "...",
    "a", "b c", "key", "on", "null", "~", "0", "1", "007", "1.5", "0x1F", "12:30", "2025-01-01", "<<", "=", "/srv/x.py",
    "\u00e9", "\u2028", "\u00a0", "\ufeff", "\U0001f600", "\r", "\x85", "https://a.b/c#d", "a:b", "(x) = y*", "\x00",
)  # fmt: skip


def _both(text: str) -> tuple[object, object]:
    try:
        asked: object = _build(text)
    except (yaml.YAMLError, SourceError):
        asked = "wrong"
    return simple(text), asked


def _agrees(text: str) -> bool:
    found, asked = _both(text)
    return found is None or [found] == asked


def test_packaged_signatures_are_simple_and_read_as_pyyaml_reads_them() -> None:
    """Nearly all packaged signatures are read without PyYAML, to the very same nodes."""
    texts = [path.read_text(encoding="utf-8") for path in _PACKAGED]
    assert all(map(_agrees, texts))
    assert sum(simple(text) is not None for text in texts) > 0.95 * len(texts)


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_any_text_is_read_as_pyyaml_reads_it_or_not_at_all(text: str) -> None:
    """Of what is put together from YAML's signs nothing is read otherwise."""
    assert _agrees(text)


@given(st.sampled_from(_PACKAGED), st.data())
def test_altered_signatures_are_read_as_pyyaml_reads_them_or_not_at_all(path: Path, data: st.DataObject) -> None:
    """One change anywhere in a signature makes no difference between the two."""
    text = path.read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text)))
    gone = data.draw(st.integers(0, 3))
    assert _agrees(text[:at] + data.draw(st.sampled_from(_PIECES)) + text[at + gone :])


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb:\n  c: x y\n  d: [p, 'q, r', \"s\\\\t\\n\"]\n",
        "a:\n- b: 1\n  c: {d: on, e: null}\n- f: x\ng: yes\n",
        "# a comment\n\na:\n  # another\n  - x\n  - y: [[1, 2], {z: w}]\n\n",
        "- a: https://x.y/#z\n-   b: it''s\n    c: 'it''s'\n",
        "\u00e9t\u00e9: \u00fcber\n",
        "a: 0\nb: 17\n",
    ],
)
def test_simple_texts_are_read(text: str) -> None:
    """Mappings, lists, quoted and plain scalars, flow collections and comments between rows are read."""
    found, asked = _both(text)
    assert found is not None or not text.isascii()
    assert found is None or [found] == asked


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a:", "a:\n", "a: |\n  b\n", "a: >-\n  b\n", "a: b\n  c\n", 'a: "b\n  c"\n', "a: &x b\n", "a: *x\n",
        "a: !t b\n", "a: b # c\n", "a:\tb\n", "a: b\r\n", "---\na: b\n", "a: b\n---\nc: d\n", "? a\n: b\n", "a: ~\n",
        "a: 1.5\n", "a: 0x1F\n", "a: 2025-01-01\n", "a: -1\n", "<<: {a: b}\n", "a: [b]c\n", "a: [b\n", "a: {b}\n",
        "a: [b,]\n", "a: b: c\n", "a: '\\x'\nb: \"\\x41\"\n", 'a: "\\q"\n', "a:\n  b: c\n d: e\n", "a: b\n  c: d\n",
        "- a\nb: c\n", "a: b\n- c\n", "a:\n b: c\n  d: e\n", "a: 'b' c\n", 'a: "b\\"\n', " a: b\n",
    ],
)  # fmt: skip
def test_all_else_is_left_to_pyyaml(text: str) -> None:
    """What is not simple, or wrong, is not read."""
    assert simple(text) is None


def test_deep_and_long_texts_are_left_to_pyyaml() -> None:
    """Limits of depth and size are PyYAML's reader's to tell."""
    assert simple("a: " + "[" * (MAX_DEPTH + 1) + "b" + "]" * (MAX_DEPTH + 1)) is None
    assert simple("".join("  " * depth + "a:\n" for depth in range(MAX_DEPTH + 1)) + "  " * 99 + "b: c") is None
    assert simple("a: " + "b" * MAX_LENGTH) is None
