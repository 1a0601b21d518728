"""What becomes of units, by what real systemds said of them."""

import lzma
from pathlib import Path

import pytest

from triage.lines import read_entries
from triage.model import Line
from triage.sources.export import parse_export
from triage.watching.course import Course

JOURNALS = Path(__file__).parent.parent / "data/journals"
UNIT = "x.service"


@pytest.fixture(scope="module")
def turns():
    """The turns of a unit in a journal of tests/data."""
    read = {}

    def of(name, unit):
        if name not in read:
            with lzma.open(JOURNALS / f"{name}.export.xz") as file:
                read[name] = list(read_entries(list(parse_export([file.read()])), "journal"))
        course = Course(unit)
        return [turn.kind for line in read[name] for turn in course.feed(line)], course

    return of


@pytest.mark.parametrize(
    ("journal", "unit", "kinds"),
    [
        ("sglang-units-a", "sglang-nogpu", ["start", "failed"]),
        ("sglang-units-a", "sglang-pp8", ["start", "failed", "start", "failed"]),
        ("sglang-units-a", "sglang-badarg", ["start", "failed", "start", "failed", "start", "stopped"]),
        ("sglang-units-a", "sglang-ok", ["start", "stopped", "start", "stopped"]),
        ("sglang-pp8-stop-hangs", "sglang-pp8", ["start", "failed"]),
        ("lab-systemd252-container", "sg-203exec", ["start", "failed"]),
        ("lab-systemd252-container", "sg-pre", ["start", "failed"]),
        ("lab-systemd257-vm", "sg-oom", ["start", "failed"]),
        ("lab-systemd257-vm", "sg-protocol", ["start", "failed"]),
    ],
)
def test_real_units(turns, journal, unit, kinds):
    """Each start and each end once, though systemd says more than one thing of each."""
    assert turns(journal, f"{unit}.service")[0] == kinds


def test_restarts_are_counted(turns):
    """By what systemd said."""
    assert turns("sglang-units-a", "sglang-badarg.service")[1].restarts == 2


def line(text, origin="manager", unit=UNIT, invocation="a", **fields):
    return Line(text, "", 0, time=1.0, unit=unit, invocation=invocation, origin=origin, fields=fields)


def test_a_service_cannot_speak_for_systemd():
    """It prints what systemd would say."""
    course = Course(UNIT)
    said = line(f"{UNIT}: Failed with result 'exit-code'.", origin="service")
    assert [turn.kind for turn in course.feed(said)] == ["start"]


def test_other_units_do_not_count():
    """Nor the kernel."""
    course = Course(UNIT)
    assert course.feed(line("Started y.service.", unit="y.service")) == []
    assert course.feed(line("anything", origin="kernel", unit=None)) == []


def test_a_start_is_known_by_its_id_where_only_the_description_is_named():
    """systemd before 250: `Started My big server.`"""
    found = Course(UNIT).feed(line("Started My big server.", MESSAGE_ID="39f53479d3a045ac8e11786248231fbf"))
    assert [turn.kind for turn in found] == ["start"]


def test_a_condition_that_does_not_hold_ends_the_start():
    """The unit is skipped: there will be no start."""
    course = Course(UNIT)
    course.feed(line(f"Starting {UNIT}..."))
    assert [turn.kind for turn in course.feed(line(f"{UNIT}: Skipped due to 'exec-condition'."))] == ["ended"]


def test_a_restart_without_a_word_of_the_failure_is_told():
    """The lines of the death were lost."""
    course = Course(UNIT)
    course.feed(line(f"Started {UNIT}."))
    found = course.feed(line(f"{UNIT}: Scheduled restart job, restart counter is at 1."))
    assert [turn.kind for turn in found] == ["restart"]
