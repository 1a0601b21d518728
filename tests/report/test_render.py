"""Whatever a report holds, it can be shown, and nothing in it acts."""

import json
import subprocess
import sys
import types
from dataclasses import is_dataclass
from typing import Union, get_args, get_origin, get_type_hints

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage import model
from triage.report import FORMATS, render

TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        "\x1b[31m",
        "\u202e",
        "`" * 5,
        "<script>",
        "a\nb\r\n",
        "PP3 TP1",
        "sglang",
        "weights",
        "f1",
        "\ud800",
        "/x/sglang/srt/a.py",
        "https://x.y/z",
        "[red]",
        "x" * 3000,
    ]
)
FACTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from(["engine", "tp_size", "model_path", "api_key", "env.HF_TOKEN"])


def values(hint):
    """Make a strategy for a field's type; every text is one of TEXTS."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is str:
        return TEXTS
    if is_dataclass(hint):
        return reports_of(hint)
    if origin in (list, set):
        return st.lists(values(arguments[0]), max_size=3).map(origin)
    if origin is dict:
        return st.dictionaries(NAMES | TEXTS, TEXTS if arguments[1] is str else FACTS, max_size=4)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values, arguments))
    return st.from_type(hint)


def reports_of(kind):
    """Make a strategy for a dataclass of the model out of the strategies of its fields."""
    return st.builds(kind, **{name: values(hint) for name, hint in get_type_hints(kind).items()})


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(report=reports_of(model.Report), width=st.integers(-5, 200), all_failures=st.booleans(), mask=st.booleans())
def test_any_report_can_be_shown(report, width, all_failures, mask):
    """No text, number or time makes a renderer raise, or leaves a control character in what it prints."""
    for kind in FORMATS:
        text = render(report, kind, width=width, all_failures=all_failures, mask=mask)
        assert all(line.isprintable() for line in text.split("\n"))
        text.encode("utf-8")
        if kind == "json":
            json.loads(text)


def test_hostile_text_is_shown_as_text(hostile):
    """Escape sequences, hidden characters and carriage returns of a log never reach the terminal."""
    text = render(hostile, all_failures=True)
    assert all(line.isprintable() for line in text.split("\n"))
    coloured = render(hostile, color=True)
    assert "\x1b[31mred" not in coloured
    assert "\x1b]0;" not in coloured


def test_markup_is_not_interpreted(incidents):
    """`[red]` and `<b>` are words."""
    incident = incidents.unknown()
    incident.failures[0].exception.message = "[red]x[/red] <b>y</b>"
    assert "AssertionError: [red]x[/red] <b>y</b>" in render(incidents.report(incident), width=120)


def test_secrets_are_masked_unless_asked_for(incidents):
    """--no-mask is a choice."""
    incident = incidents.unknown()
    incident.failures[0].exception.message = "bad token hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ01234567"
    report = incidents.report(incident)
    for kind in FORMATS:
        assert "hf_aBc" not in render(report, kind)
        assert "hf_aBc" in render(report, kind, mask=False)


def test_starting_up_imports_nothing_heavy():
    """A plain report needs neither rich nor json nor datetime, whatever of Latin and punctuation is in it."""
    code = (
        "import sys; from triage.model import *; from triage.report import write;"
        "write(Report(Tool('1'), [], [Incident('naïve–“log”…█.log', outcome='failed')]), sys.stderr);"
        "print(sorted({'rich', 'yaml', 'datetime', 'unittest', 'html', 'asyncio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("[]", "['yaml']")
