"""All readers of lines, and what is made of their events: any pieces, cuts, entries and sizes, never an exception."""

import random
import tracemalloc
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.causes import assign
from triage.causes.native_evidence import attach
from triage.events import Extractor, extract
from triage.incident import build, split
from triage.library.library import Library
from triage.lines import read_entries, read_text
from triage.model import Entry, Line
from triage.pipeline import Options, diagnose
from triage.sources.text import TextSource

DATA = Path(__file__).parents[1] / "data"
LOGS = sorted([*DATA.glob("native/*.log"), *DATA.glob("tracebacks/*.log"), *DATA.glob("unseen/*/input.log")])
# Logs of which the lines are a service's own, without what carried them.
PLAIN = ["build-tool-status", "thread-and-group", "three-in-a-chain", "wrapped-by-capture"]
QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


@cache
def pieces():
    """Lines of all kinds of real logs, some thousand."""
    found = [line for path in LOGS for line in path.read_text(errors="replace").splitlines()]
    return random.Random(1).sample(found, 4000)


def incidents(lines):
    """What the rooms from events to causes make of lines."""
    extraction = extract(lines)
    found = []
    for attempts in split(extraction):
        for attempt in attempts:
            incident = build(attempt, "x.log", [])
            attach(incident)
            assign(incident, attempt)
            found.append(incident)
    return extraction, found


def check(extraction, found):
    for event in extraction.events:
        assert len(event.text) <= 2000
        assert 0 <= event.order < extraction.lines
        assert event.level is None or 0 <= event.level <= 3
        assert all(isinstance(value, str) for value in event.data.values())
    for incident in found:
        assert sum(failure.role == "root" for failure in incident.failures) <= 1
        assert len({failure.id for failure in incident.failures}) == len(incident.failures)


def essence(extraction):
    return [(e.rule, e.order, e.text, e.assembly, e.ranks, e.level, len(e.evidence)) for e in extraction.events]


FIELD = st.sampled_from(
    [
        "MESSAGE_ID",
        "UNIT_RESULT",
        "EXIT_CODE",
        "EXIT_STATUS",
        "N_RESTARTS",
        "COREDUMP_PID",
        "COREDUMP_CMDLINE",
        "COREDUMP_ENVIRON",
        "MESSAGE",
        "COREDUMP_SIGNAL",
        "COREDUMP_SIGNAL_NAME",
        "N_DROPPED",
        "JOB_RESULT",
        "_KERNEL_DEVICE",
    ]
)
VALUE = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "fc2e22bc6ee647b6b90729ab34a250b1",
            "98e322203f7a4ed290d09fe03c09fe15",
            "9" * 30,
            "-1",
            "\u0663",
            "sglang::scheduler_TP3",
        ]
    ),
)
LINE = st.builds(
    Line,
    text=st.one_of(st.sampled_from(range(4000)).map(lambda n: pieces()[n]), st.text(max_size=60)),
    stream=st.sampled_from(["a", "b"]),
    offset=st.integers(0, 10**9),
    time=st.one_of(st.none(), st.floats(0, 4e9)),
    pid=st.sampled_from([None, 0, 1, 4711]),
    host=st.sampled_from([None, "gpu1"]),
    unit=st.sampled_from([None, "x.service"]),
    invocation=st.sampled_from([None, "0" * 32]),
    rank=st.sampled_from([None, "TP0", "PP3 TP1", "rank2"]),
    record=st.booleans(),
    severity=st.sampled_from([None, 3, 6]),
    origin=st.sampled_from(["service", "manager", "kernel", "other"]),
    ident=st.sampled_from([None, "systemd-coredump", "kernel"]),
    fields=st.one_of(st.none(), st.dictionaries(FIELD, VALUE, max_size=5)),
)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(st.lists(LINE, max_size=25))
def test_any_lines_of_anybody(lines):
    """Real lines and junk, said by the service, systemd, the kernel or others, with any fields, ranks and times."""
    check(*incidents(lines))


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(st.sampled_from(LOGS), st.data())
def test_any_chunking_of_the_bytes_gives_the_same_events(path, data):
    """Blocks are where the disk or a pipe happens to stop."""
    raw = path.read_bytes()[:60_000]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=12)))
    blocks = [(start, raw[start:stop]) for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert essence(extract(read_text(blocks, "x.log"))) == essence(extract(read_text([(0, raw)], "x.log")))


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(st.sampled_from(LOGS), st.data())
def test_any_truncation_can_be_diagnosed(path, data):
    """Cut in the middle of a line, of a block, of a character, at both ends."""
    raw = path.read_bytes()
    start = data.draw(st.integers(0, len(raw)))
    raw = raw[start : start + data.draw(st.integers(0, 40_000))]
    check(*incidents(list(read_text([(0, raw)], "x.log"))))


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(st.sampled_from(PLAIN), st.data())
def test_any_splitting_into_journal_entries_gives_the_same_exceptions(name, data):
    """A write of several lines may be one entry or many."""
    lines = (DATA / f"tracebacks/{name}.log").read_text().split("\n")[:400]
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(lines) - 1)), max_size=30)))

    def exceptions(edges):
        entries = []
        for start, stop in zip([0, *edges], [*edges, len(lines)], strict=True):
            fields = {
                "MESSAGE": "\n".join(lines[start:stop]),
                "_PID": "77",
                "_SYSTEMD_UNIT": "x.service",
                "_COMM": "python3",
            }
            entries.append(Entry(fields, 1_700_000_000_000_000 + start, None, start))
        events = extract(read_entries(entries, "journal")).events
        return [(e.exception.type, e.exception.message.strip(), len(e.exception.frames)) for e in events if e.exception]

    assert exceptions(cuts) == exceptions(range(1, len(lines)))


FRAME = '  File "/app/a.py", line {n}, in f{n}\n'
HEAD = "[2026-01-01 00:00:01 TP{r}] Scheduler hit an exception: Traceback (most recent call last):\n"


def group(depth):
    lines = [
        "[2026-01-01 00:00:01 TP0] Scheduler hit an exception:   + Exception Group Traceback (most recent call last):\n"
    ]
    for n in range(depth):
        margin = "  " * n
        lines += [
            f'{margin}  |   File "/app/a.py", line 1, in f\n',
            f"{margin}  | ExceptionGroup: g{n} (1 sub-exception)\n",
        ]
        lines += [f"{margin}  +-+---------------- 1 ----------------\n"]
        lines += [
            f"{margin}    | Exception Group Traceback (most recent call last):\n"
            if n < depth - 1
            else f"{margin}    | ValueError: leaf\n"
        ]
    return "".join(lines)


SIZES = {
    "a line of megabytes": "x" * 8_000_000,
    "an exception of megabytes": HEAD.format(r=0) + FRAME.format(n=1) + "ValueError: " + "y " * 4_000_000 + "\n",
    "a traceback in a string": "e='Traceback (most recent call last):"
    + r"\n  File \"/a.py\", line 1, in f" * 200_000
    + r"\nE: x'",
    "sixty thousand frames": HEAD.format(r=0)
    + "".join(FRAME.format(n=n) for n in range(100_000))
    + "RecursionError: x\n",
    "a thousand ranks": "".join(HEAD.format(r=r) + FRAME.format(n=1) + "ValueError: boom\n" for r in range(1000)),
    "groups four hundred deep": group(400),
}
WHOLE = ("a line of megabytes", "a thousand ranks")


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_bounded(name):
    """Memory stays far below the input, and what was cut is said to be partial."""
    raw = SIZES[name].encode()
    blocks = [raw[start : start + 65_536] for start in range(0, len(raw), 65_536)]
    extractor = Extractor()
    tracemalloc.start()
    offset = 0

    def stream():
        nonlocal offset
        for block in blocks:
            yield offset, block
            offset += len(block)

    for line in read_text(stream(), "x.log"):
        extractor.feed(line)
    extractor.flush()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
    failures = [event for event in extractor.result().events if event.exception]
    if name not in WHOLE:
        (event,) = failures
        cut = "characters cut" in event.exception.message or len(event.exception.message) >= 16_384
        assert event.assembly == "partial" or cut


@pytest.mark.parametrize("name", SIZES)
def test_sizes_can_be_diagnosed(name):
    """From bytes to a report."""
    report = diagnose([TextSource("-", BytesIO(SIZES[name].encode()), "x.log")], options=Options(library=Library()))
    assert len(report.incidents) == 1


def test_a_thousand_ranks_at_once_are_bounded():
    """Line by line, all of them open: nobody can tell them apart, and nobody tries for long."""
    lines = [FRAME.format(n=1), "    x = load(y)\n", FRAME.format(n=2), "ValueError: boom\n"]
    text = "".join(HEAD.format(r=r) for r in range(1000)) + "".join(line for line in lines for _ in range(1000))
    found = extract(read_text([(0, text.encode())], "x.log")).events
    events = [event for event in found if event.rule == "traceback"]
    assert {event.exception.type for event in events} <= {"ValueError", ""}
    assert {event.assembly for event in events} <= {"inferred", "partial"}
