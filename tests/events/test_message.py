"""Decisive lines, lines that signatures ask for, and errors nobody knows."""

import re

from hypothesis import given
from hypothesis import strategies as st

from triage.data import knowledge
from triage.events.message import MessageReader, Noise
from triage.model import Line
from triage.patterns import LinePattern


def line(text, **more):
    return Line(text=text, stream="s", offset=0, **more)


def test_a_known_line_yields_its_captures():
    """The exit code and the rank are read out of SGLang's line."""
    event = MessageReader().known(line("Rank 5 scheduler died during initialization (exit code: -9). Cleaning up."))
    assert event.rule == "sglang/scheduler-died"
    assert (event.data["rank"], event.data["code"]) == ("5", "-9")
    assert event.fatal


def test_an_argparse_error_is_an_own_failure():
    """What argparse refuses is the strongest kind of root."""
    event = MessageReader().known(line("launch_server.py: error: unrecognized arguments: --tensor-parallel-sise 8"))
    assert event.rule == "argparse/error"
    assert event.level == 0


def test_a_signature_gets_its_line_beside_the_table():
    """A pattern that a signature brings yields an event under the signature's own id."""
    asked = LinePattern("x/y", ("membind",), r"setting membind: (?P<why>.+)", level=1.0)
    events = list(MessageReader([asked]).asked(line("setting membind: Invalid argument")))
    assert [event.rule for event in events] == ["x/y"]
    assert events[0].data == {"why": "Invalid argument"}


def test_a_pattern_for_the_kernel_ignores_what_a_service_prints():
    """Text of a service never speaks for the kernel."""
    asked = LinePattern("x/y", ("Killed process",), origin="kernel")
    reader = MessageReader([asked])
    assert list(reader.asked(line("Killed process 7"))) == []
    assert len(list(reader.asked(line("Killed process 7", origin="kernel")))) == 1


def test_a_quoted_exception_is_recognised_outside_a_traceback():
    """`SomeError: text` alone on a line, all that a grep had left."""
    event = MessageReader().guess(line("IndexError: list index out of range"))
    assert event.exception.type == "IndexError"
    assert event.exception.message == "list index out of range"
    assert event.data["alone"] == "1"


def test_a_plain_exception_counts_where_it_is_the_line():
    """`Exception: text` is all that is left of many a traceback; amid other words it is a word of theirs."""
    event = MessageReader().guess(line("Exception: Capture cuda graph failed: no such kernel"))
    assert (event.exception.type, event.data["alone"]) == ("Exception", "1")
    assert MessageReader().guess(line("Ignored Exception: nothing to do")) is None


def test_an_error_that_a_program_announces_is_a_weak_failure():
    """Unknown, but called an error: weaker than any known kind, stronger than nothing."""
    event = MessageReader().guess(line("ERROR something nobody knows"))
    assert event.rule == "message/error"
    assert event.level > 1


def test_ordinary_lines_are_no_guess():
    """A healthy line that merely holds the word is left alone."""
    reader = MessageReader()
    assert reader.guess(line("max_total_num_tokens=10, errors=0")) is None
    assert reader.guess(line("loading error_handler module")) is None


def test_noise_covers_progress_bars_and_known_warnings():
    """Bars, access lines and well-known warnings are never last words."""
    noise = Noise()
    assert noise.covers("Capturing batches (bs=1):  12%|█ | 1/8 [00:00<00:03]")
    assert noise.covers('10.0.0.1:80 - "GET /health HTTP/1.1" 200 OK')
    assert noise.covers("Ignore import error when loading sglang.srt.models.x: y")
    assert not noise.covers("setting membind: Invalid argument")


def test_every_row_compiles_and_has_what_it_needs():
    """Rows name their texts, levels lie in range, roles are known."""
    for row in knowledge("messages")["rows"]:
        assert row["any"], row["id"]
        re.compile(row.get("re", ""))
        assert row.get("level") is None or 0 <= row["level"] <= 3
        assert row.get("role") in (None, "consequence", "teardown", "recovered", "notice")
        assert row.get("kind", "message") in ("message", "exit")


@given(st.text(max_size=300))
def test_any_text_is_survived(text):
    """No text raises."""
    reader = MessageReader()
    reader.known(line(text))
    reader.guess(line(text))
