"""One pass over the lines: what they say at any time, what is forgotten, what writers' clocks do."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.events import Extractor, extract
from triage.events.tracks import Moments
from triage.lines import read_text
from triage.lines.decode import TOO_LONG
from triage.model import Line

DEMO = Path(__file__).parents[2] / "demo" / "sglang-pp8.log"
LINES = 330


def lines(text=None):
    raw = DEMO.read_bytes() if text is None else text.encode()
    return list(read_text([(0, raw)], "x.log"))


def essence(events):
    return [(event.rule, event.order, event.text[:80], event.assembly) for event in events]


@given(st.lists(st.integers(0, LINES), max_size=6))
@settings(max_examples=8, deadline=None)
def test_asking_in_between_changes_nothing(stops):
    """What the lines so far say can be asked for anywhere; reading goes on as if nobody had."""
    read = lines()[:LINES]
    extractor = Extractor()
    for number, line in enumerate(read):
        if number in stops:
            extractor.result()
        extractor.feed(line)
    extractor.flush()
    assert essence(extractor.result().events) == essence(extract(lines()[:LINES]).events)


def test_what_is_open_is_finished_by_a_flush():
    """A traceback whose message may go on is an event only then."""
    extractor = Extractor()
    for line in lines('Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 1\n'):
        extractor.feed(line)
    assert extractor.result().events == []
    extractor.flush()
    assert [event.exception.type for event in extractor.result().events] == ["KeyError"]


def test_failures_are_counted_as_they_come():
    """Repeats included, lines that say nothing of a failure not."""
    extractor = Extractor()
    for line in lines("[2026-05-25 21:41:38] Load weight begin. avail mem=1 GB\nKilled\nKilled\n"):
        extractor.feed(line)
    extractor.flush()
    assert extractor.failures == 2


def test_forgotten_events_are_gone_and_equal_ones_are_kept_again():
    """As a log goes on for days, only the last attempts are held."""
    extractor = Extractor()
    (line,) = lines("Killed\n")
    extractor.feed(line)
    extractor.forget(lambda event: event.rule == "process/abandoned", 1)
    gone = extractor.result()
    assert (gone.events, gone.tracks) == ([], [])
    extractor.feed(lines("Killed\n")[0])
    assert [event.order for event in extractor.result().events] == [1]


def test_a_message_that_journalctl_left_out_is_counted_and_no_failure():
    """`-o json` prints null for what is longer than 4,096 bytes."""
    found = extract([Line(TOO_LONG, "a", 0), Line("fine", "a", 1)])
    assert [track.left_out for track in found.tracks] == [1]
    assert found.events == []


def test_a_clock_that_is_set_back_is_noted_once_per_writer():
    """More than a minute; the stamps of other zones and of other writers do not count."""
    times = [("a", 1000.0, True), ("a", 995.0, True), ("b", 100.0, True), ("a", 500.0, False), ("a", 900.0, True)]
    found = extract([Line("x", stream, 0, time=time, zoned=zoned) for stream, time, zoned in times])
    assert {track.stream: track.set_back for track in found.tracks} == {"a": (995.0, 900.0), "b": None}


@given(st.lists(st.floats(0, 1e9), max_size=60))
def test_moments_rise(times):
    """Numbers and times both, whatever a clock does."""
    moments = Moments()
    for number, time in enumerate(times):
        moments.add(number, time)
    assert moments.pairs == sorted(set(moments.pairs))
    assert [time for _, time in moments.pairs] == sorted(time for _, time in moments.pairs)


def test_moments_of_a_long_log_are_few():
    """They reach from its beginning to near its end."""
    moments = Moments()
    for number in range(100_000):
        moments.add(number, number * 0.5)
    assert len(moments.pairs) < 5000
    assert moments.pairs[0] == (0, 0.0) or moments.pairs[0][0] == 1
    assert moments.pairs[-1][0] > 99_000
