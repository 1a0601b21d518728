"""The report as a page: self-contained, and inert."""

import re
from html.parser import HTMLParser

import pytest

from triage.report import render

OWN = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "article",
    "h2",
    "span",
    "dl",
    "div",
    "dt",
    "dd",
    "p",
    "table",
    "tr",
    "th",
    "td",
    "pre",
    "code",
    "a",
    "details",
    "summary",
    "footer",
}
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "class", "href", "rel"}


class Page(HTMLParser):
    """Collects what a page is made of, and checks that its tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links, self.open, self.text = set(), set(), [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name == "href"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_pages_are_self_contained(named_report):
    """Nothing is loaded, nothing runs, and every tag is closed."""
    _, report = named_report
    text = render(report, "html", all_failures=True)
    page = Page(text)
    assert page.tags <= OWN
    assert page.attributes <= ATTRIBUTES
    assert not re.search(r"url\(|@import|<script|<link|<img|javascript:", text)
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text


def test_hostile_text_stays_text(hostile):
    """No tag, attribute or link comes from a log."""
    page = Page(render(hostile, "html", all_failures=True))
    assert page.tags <= OWN
    assert page.attributes <= ATTRIBUTES
    assert set(page.links) <= {"https://github.com/sgl-project/sglang/pull/30340"}


@pytest.mark.parametrize(
    "part",
    [
        "PP5 raised IndexError: list index out of range",
        "triage patch sglang/pp-triton-layer0-value-buffer --apply --unit sglang-pp8.service",
        "<host-1>",
        "mem_cache/memory_pool.py:754 get_value_buffer",
        "weights 13 s, KV pool 0.9 s",
    ],
)
def test_a_page_holds_the_essentials_and_the_details(reports, part):
    """Headline, commands, masked host, whole stack and processes are on the page."""
    assert part in "".join(Page(render(reports["pp8-unit"](), "html")).text)
