"""A log that is followed: what is told, when, and how often."""

from pathlib import Path

import pytest

from triage import follow
from triage.follow import Follower
from triage.library import load
from triage.lines.live import LiveText

ROOT = Path(__file__).parents[2]
DEMO = (ROOT / "demo" / "sglang-pp8.log").read_bytes()
START = "[2026-05-25 21:{0}:00] server_args=ServerArgs(model_path='/m', tp_size=2, pp_size=1)\n"
READY = "[2026-05-25 21:{0}:10] The server is fired up and ready to roll!\n"
HEAD = "Traceback (most recent call last):\n"
FRAME = '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/{0}.py", line 3, in run\n    go()\n'
DEATH = "[2026-05-25 21:{0}:30] Received sigquit from a child process. It usually means the child failed.\n"


@pytest.fixture(scope="module")
def library():
    return load(standing=False)


class Stream:
    """A log that is being written, and who follows it."""

    def __init__(self, library):
        self.text = LiveText("x.log")
        self.follower = Follower("x.log", library)

    def write(self, text):
        """Some more is written, then nothing for a while; return what is told."""
        raw = text if isinstance(text, bytes) else text.encode()
        self.follower.feed(self.text.feed(raw))
        self.follower.feed(self.text.pause())
        self.follower.flush()
        return [self.brief(news) for news in self.follower.look()]

    def close(self):
        return [self.brief(news) for news in self.follower.close()]

    @staticmethod
    def brief(news):
        failure = news.failure
        what = (failure.exception.type if failure.exception else failure.rule) if failure else news.incident.outcome
        return news.kind, what, news.times


@pytest.fixture
def stream(library):
    return Stream(library)


def raised(minute, place, kind, rank="TP0"):
    head = f"[2026-05-25 21:{minute}:20 {rank}] Scheduler hit an exception: "
    return head + HEAD + FRAME.format(place) + f"{kind}: something\n"


def test_a_failure_is_told_when_the_writer_pauses(stream):
    """The root, once; what follows from it is not told for itself."""
    assert stream.write(START.format("40")) == []
    assert stream.write(raised("40", "a", "KeyError")) == [("incident", "KeyError", 1)]
    assert stream.write(DEATH.format("40")) == []
    assert stream.close() == []


def test_a_root_that_comes_later_is_told_later(stream):
    """What looked like the root at first follows from it."""
    peer = raised("40", "a", "RuntimeError").replace("something", "Connection closed by peer [10.0.0.2]:1")
    assert stream.write(START.format("40") + peer) == [("incident", "RuntimeError", 1)]
    assert stream.write(raised("40", "b", "KeyError", "TP1")) == [("incident", "KeyError", 1)]


def test_a_restarted_service_that_fails_in_the_same_way_is_counted(stream):
    """The same fingerprint in another attempt."""
    whole = [START.format(m) + raised(m, "a", "KeyError") + DEATH.format(m) for m in ("40", "41", "42")]
    assert [stream.write(text) for text in whole] == [
        [("incident", "KeyError", 1)],
        [("again", "KeyError", 2)],
        [("again", "KeyError", 3)],
    ]
    assert stream.follower.last[None].attempts.count == 3


def test_attempts_between_two_looks_are_all_told(stream):
    """A restart loop that is faster than who looks."""
    text = "".join(START.format(m) + raised(m, "a", "KeyError") + DEATH.format(m) for m in ("40", "41", "42"))
    assert stream.write(text) == [("incident", "KeyError", 1), ("again", "KeyError", 2), ("again", "KeyError", 3)]


def test_another_failure_is_told_anew(stream):
    """Of the next attempt, with another fingerprint."""
    stream.write(START.format("40") + raised("40", "a", "KeyError") + DEATH.format("40"))
    assert stream.write(START.format("41") + raised("41", "b", "TypeError")) == [("incident", "TypeError", 1)]


def test_a_service_that_ends_well_is_told_of_at_the_end(stream):
    """While it runs there is nothing to tell."""
    assert stream.write(START.format("40") + READY.format("40")) == []
    assert stream.close() == [("end", "healthy", 1)]


def test_a_service_that_came_up_after_a_failure_is_told_of_at_the_end(stream):
    """How it stands, not how it stood."""
    stream.write(START.format("40") + raised("40", "a", "KeyError") + DEATH.format("40"))
    stream.write(START.format("41") + READY.format("41"))
    assert stream.close() == [("end", "healthy", 1)]


def test_repeats_in_one_attempt_are_told_at_ten_and_a_hundred(stream):
    """Requests that fail again and again."""
    request = (
        "[2026-05-25 21:45:{0:02}] ERROR:    Exception in ASGI application\n"
        + HEAD
        + FRAME.format("starlette/x")
        + "KeyError: 1\n"
    )
    error = (
        '[2026-05-25 21:45:{0:02}] INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error\n'
    )
    stream.write(START.format("40") + READY.format("40"))
    told = [news for n in range(12) for news in stream.write(request.format(n) + error.format(n))]
    assert [(kind, times) for kind, _, times in told if kind == "again"] == [("again", 10)]


def test_another_failure_of_a_service_that_goes_on_is_told(stream):
    """Days later it does not follow from the first one."""
    request = (
        "[2026-05-25 {0}:00] ERROR:    Exception in ASGI application\n"
        + HEAD
        + FRAME.format("starlette/x")
        + "{1}: 1\n"
    )
    error = '[2026-05-25 {0}:01] INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error\n'
    stream.write(START.format("40") + READY.format("40"))
    first = stream.write(request.format("21:50", "KeyError") + error.format("21:50"))
    assert first == [("incident", "KeyError", 1)]
    later = stream.write(request.format("23:50", "TypeError") + error.format("23:50"))
    assert later == [("failure", "TypeError", 1)]


def test_earlier_attempts_are_forgotten(stream):
    """Two are kept, however often the service is restarted."""
    for minute in range(10, 50):
        stream.write(START.format(minute) + raised(minute, "a", "KeyError") + DEATH.format(minute))
    held = stream.follower._extractor.result()
    assert len(held.events) < 20
    assert len(held.tracks) < 10
    assert stream.follower.last[None].attempts.count == 40


def test_a_long_run_with_many_failures_is_held_in_bounds(stream, monkeypatch):
    """Of very many different ones the first and the latest; what the start said stays."""
    for name, bound in (("_MOST_EVENTS", 200), ("_FIRST", 20), ("_LATEST", 50)):
        monkeypatch.setattr(follow, name, bound)
    stream.write(START.format("40") + READY.format("40"))
    for part in range(8):
        words = (f"{chr(97 + part)}{chr(97 + n % 26) * (1 + n // 26)}" for n in range(100))
        stream.write("".join(f"[2026-05-25 21:45:00] ERROR: trouble {word}\n" for word in words))
    held = stream.follower._extractor.result().events
    texts = [event.text for event in held if event.level is not None]
    assert len(held) < 400
    assert "ERROR: trouble aa" in texts
    assert texts[-1].startswith("ERROR: trouble h")
    assert stream.follower.last[None].facts["tp_size"] == 2
    assert stream.follower.last[None].ready is not None


def test_a_units_death_is_seen(library):
    """systemd's own word, which needs no waiting."""
    follower = Follower("x.log", library)
    text = LiveText("x.log")
    follower.feed(text.feed(DEMO) + text.finish())
    assert follower.unsaid
    assert follower.died
    follower.look()
    assert not (follower.unsaid or follower.died)


def test_what_was_followed_is_what_a_whole_read_finds(library):
    """The last attempt's root, rank and signature, whenever somebody looked."""
    from triage.pipeline import diagnose

    stream = Stream(library)
    part = b""
    for line in DEMO.splitlines(keepends=True):
        if b" systemd[1]: " in line:
            stream.write(part)
            part = b""
        part += line
    stream.write(part)
    (incident,) = stream.follower.last.values()
    whole = diagnose([str(ROOT / "demo" / "sglang-pp8.log")]).incidents[-1]

    def essence(one):
        root = next(failure for failure in one.failures if failure.role == "root")
        return root.fingerprint, root.ranks, [d.signature for d in root.diagnoses], one.outcome, one.attempts.count

    assert essence(incident) == essence(whole)
