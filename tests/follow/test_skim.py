"""Of a flood of entries only those are read that may matter."""

from triage.events import Extractor
from triage.library import load
from triage.lines.live import LiveEntries
from triage.model import Entry
from triage.reading import skim

OWN = {"_SYSTEMD_UNIT": "x.service", "_SYSTEMD_INVOCATION_ID": "a" * 32, "_PID": "7", "_TRANSPORT": "stdout"}
PATTERNS = load(standing=False).line_patterns()


def entry(text, **fields):
    return Entry({**OWN, "MESSAGE": text, **fields}, 10**15, None, 0)


def healthy(count):
    return [entry(f"[2026-05-25 21:41:38 PP1] Decode batch, #running-req: {n}, #token: {n}") for n in range(count)]


RAISED = [
    entry("Traceback (most recent call last):"),
    *[entry(f'  File "/opt/a{n}.py", line {n}, in run') for n in range(20)],
    entry("ValueError: boom"),
]


def read(batches):
    """What the lines of these batches say, after a head that is always read whole."""
    live, extractor = LiveEntries("journal"), Extractor(PATTERNS)
    count = 0
    for batch in skim(iter([healthy(512), *batches]), PATTERNS):
        count += len(batch)
        for line in live.feed(batch):
            extractor.feed(line)
    extractor.flush()
    found = [event for event in extractor.result().events if event.exception]
    return count - 512, [(event.exception.type, len(event.exception.frames)) for event in found]


def test_small_batches_are_read_whole():
    """Nothing is gained there."""
    assert read([healthy(299)])[0] == 299


def test_a_traceback_in_a_flood_is_whole():
    """In the middle of a batch."""
    count, found = read([healthy(1000) + RAISED + healthy(1000)])
    assert found == [("ValueError", 20)]
    assert count < 400


def test_a_traceback_over_the_edge_of_two_batches_is_whole():
    """Wherever the edge is."""
    for cut in range(1, len(RAISED)):
        _, found = read([healthy(1000) + RAISED[:cut], RAISED[cut:] + healthy(1000)])
        assert found == [("ValueError", 20)], cut


def test_what_others_say_is_always_read():
    """systemd, the kernel and journald, whatever their words."""
    others = [
        entry("quite", MESSAGE_ID="a" * 32),
        entry("unremarkable", UNIT="x.service"),
        entry("words", _TRANSPORT="kernel"),
    ]
    batch = healthy(1000)
    batch[500:500] = others
    (_, kept) = skim(iter([healthy(512), batch]), PATTERNS)
    assert [each for each in others if each in kept] == others
