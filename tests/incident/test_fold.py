"""Which events are one failure."""

from triage.incident.fold import fold
from triage.model import Event, ExceptionInfo, Frame, Position


def event(rule, order, text="", exception=None, stream="s"):
    kind = "exception" if exception else "message"
    return Event(kind, rule, Position(), stream, text, level=1.7, exception=exception, order=order)


def failing():
    return ExceptionInfo("ValueError", "x", [Frame("/x/a.py", 1, "f")])


def test_the_title_of_a_traceback_is_no_failure():
    """`Exception in ASGI application`, with a blank line before the traceback or without."""
    for gap in (1, 2):
        title = event("message/error", 10, "Exception in ASGI application")
        assert [f.rule for f in fold([title, event("traceback", 10 + gap, exception=failing())])] == ["traceback"]


def test_an_error_line_further_away_or_of_another_writer_is_one():
    """It stands for itself."""
    for order, stream in ((5, "s"), (10, "other")):
        line = event("message/error", order, "out of tokens", stream=stream)
        assert len(fold([line, event("traceback", 11, exception=failing())])) == 2
