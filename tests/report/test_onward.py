"""How a report leads on: commands that get more of the log, and only from values that are what they must be."""

import time

import pytest

from triage.model import Diagnosis, ExceptionInfo, Failure, Frame, Incident, Member, Position
from triage.report import render
from triage.report.names import command
from triage.report.onward import next_steps, read_on

WHEN = 1779745298.5  # 2026-05-25 21:41:38 UTC
AROUND = "--since '2026-05-25 21:31:38' --until '2026-05-25 21:42:38'"
WORDS = "No traceback was read. Give triage the log from a few minutes before the failure to the end of it."


def incident(at, *, unit=None, source="stdin", confidence=None, frames=(), **facts):
    """Make an incident of one exception at a position."""
    root = Failure("f1", "exception", "traceback", "v1:1", at, "root", exception=ExceptionInfo("IndexError", "x"))
    root.exception.frames = list(frames)
    if confidence:
        root.diagnoses = [Diagnosis("a/b", confidence, "A title", "A cause.", missing=["frame c.py:d"])]
    return Incident(source, [Member(at.host, unit)], outcome="failed", failures=[root], facts=facts)


def texts(found):
    """Return the texts under `next`, [] without it."""
    return [
        item.text
        for section in next_steps(found, found.failures[0])
        if section.label == "next"
        for item in section.items
    ]


def journal(**more):
    return Position(
        **{"pid": 85711, "host": "gpu7", "ident": "python", "carrier": "journal-short", "time": WHEN, **more}
    )


@pytest.mark.parametrize("confidence", [None, "possible", "likely"])
def test_a_line_of_a_journal_leads_to_its_process(confidence):
    """The command prints what the process wrote around that time, in the zone of the stamps."""
    assert texts(incident(journal(), confidence=confidence))[:2] == [
        "No traceback was read. On gpu7, this gets more of the log:",
        f"journalctl _PID=85711 {AROUND} -o short-precise --no-pager | triage",
    ]
    zoned = texts(incident(journal(zoned=True), confidence=confidence))[1]
    assert "--since '2026-05-25 21:31:38 UTC' --until '2026-05-25 21:42:38 UTC'" in zoned


def test_a_known_unit_is_asked_for_by_name():
    """triage reads the unit's journal itself, kernel lines and all."""
    assert texts(incident(journal(), unit="sglang@0.service"))[1] == (f"triage journal sglang@0.service {AROUND}")
    exported = Position(pid=7, time=WHEN, zoned=True, cursor="s=1")
    assert texts(incident(exported, unit="a.service"))[1].startswith("triage journal a.service --since ")


@pytest.mark.parametrize(
    ("stamp", "today", "since"),
    [
        ("May 25 21:41:38", (2026, 11, 29), "2026-05-25 21:31:38"),
        ("May 25 21:41:38", (2026, 5, 24), "2025-05-25 21:31:38"),
        ("Feb 29 00:05:00", (2026, 11, 29), "2024-02-28 23:55:00"),
        ("Nov  9 04:41:38.5", (2026, 11, 29), "2026-11-09 04:31:38"),
    ],
)
def test_a_stamp_without_a_year_is_of_the_last_such_day(monkeypatch, stamp, today, since):
    """The journal is asked for a full date."""
    monkeypatch.setattr(time, "localtime", lambda *_: time.struct_time((*today, 12, 0, 0, 0, 0, 0)))
    assert f"--since '{since}'" in texts(incident(journal(time=None, stamp=stamp)))[1]


@pytest.mark.parametrize("stamp", ["", "25. Mai 21:41:38", "Xyz 25 21:41:38", "May 25 21:41:38; id"])
def test_without_a_time_the_process_is_named_alone(stamp):
    """What is no stamp does not get into the command."""
    assert texts(incident(journal(time=None, stamp=stamp)))[1] == (
        "journalctl _PID=85711 -o short-precise --no-pager | triage"
    )


@pytest.mark.parametrize("carrier", ["kubectl-prefix", "stern"])
def test_a_pod_s_line_leads_to_the_container(carrier):
    """kubectl takes a time with its zone only."""
    at = Position(host="sglang-0", ident="server", carrier=carrier, time=WHEN, zoned=True)
    assert texts(incident(at))[1] == (
        "kubectl logs sglang-0 -c server --timestamps --since-time=2026-05-25T21:31:38Z | triage"
    )
    at.zoned = False
    assert texts(incident(at))[1] == "kubectl logs sglang-0 -c server --timestamps | triage"


@pytest.mark.parametrize("ident", ["sglang-1", "sglang_1"])
def test_a_line_of_compose_leads_to_the_service(ident):
    """The container's number is no part of the service's name."""
    at = Position(ident=ident, carrier="compose", time=WHEN)
    assert texts(incident(at))[1] == (
        "docker compose logs --no-color --timestamps --since=2026-05-25T21:31:38 sglang | triage"
    )


@pytest.mark.parametrize(
    "at",
    [
        Position(),
        Position(pid=7, host="h", ident="Worker", time=WHEN),
        journal(pid=None),
        journal(pid=1),
        Position(host="x;id", ident="server", carrier="kubectl-prefix"),
        Position(host="pod", ident="$(id)", carrier="stern"),
        Position(ident="-v-1", carrier="compose"),
        Position(ident="a b-1", carrier="compose"),
    ],
)
def test_else_words_say_what_is_missing(at):
    """No command is made up of what is unknown, or of what is no name."""
    assert texts(incident(at))[0] == WORDS
    assert texts(incident(at, confidence="possible")) == [WORDS]


def test_a_host_that_is_none_is_not_named():
    """Nor is a unit."""
    found = texts(incident(journal(host="a; rm -rf ~"), unit="x; id"))
    assert found[0] == "No traceback was read. This gets more of the log:"
    assert found[1].startswith("journalctl _PID=85711 ")


def test_what_is_certain_or_whole_needs_no_more():
    """A log that holds the engine's start and the traceback is not asked for again."""
    assert texts(incident(journal(), confidence="certain")) == []
    frames = [Frame("a.py", 1, "f")]
    assert texts(incident(journal(), confidence="likely", frames=frames)) == []
    assert texts(incident(Position(), frames=frames, engine="sglang")) == [
        "To see what is known:",
        "triage signatures list",
    ]


def test_a_journal_that_was_read_is_not_asked_for_again():
    """triage has read all of the unit's run."""
    at = Position(pid=7, time=WHEN, zoned=True, cursor="s=1")
    assert texts(incident(at, unit="a.service", source="journal"))[-2:] == [
        "triage journal a.service --all-failures",
        "triage signatures list",
    ]


def test_a_journal_of_another_host_is_read_on_there():
    """Over ssh, as it was read."""
    at = Position(pid=7, time=WHEN, zoned=True, cursor="s=1")
    found = incident(at, unit="a.service", source="journal ssh://root@gpu-07")
    assert read_on(found, at) == ["ssh", "root@gpu-07", "journalctl -u a.service --since=@1779745298"]
    assert texts(found)[-2] == "triage journal a.service -H root@gpu-07 --all-failures"
    found.source = "journal ssh://gpu-07:2222"
    assert read_on(found, at)[:2] == ["ssh", "ssh://gpu-07:2222"]


@pytest.mark.parametrize("host", ["secret-07", "root@secret-07", "secret-07:2222"])
def test_a_shared_report_does_not_say_which_host_was_read(host):
    """Neither as its source nor in a command."""
    from triage.model import Report, Tool

    at = Position(pid=7, time=WHEN, zoned=True, cursor="s=1")
    found = incident(at, unit="a.service", source=f"journal ssh://{host}")
    assert "secret" not in render(Report(Tool("1"), [], [found]), "markdown")


def test_a_shared_report_names_no_host():
    """In Markdown the host and the pod are masked, so they are in no command either."""
    from triage.model import Report, Tool

    found = incident(Position(host="secret-pod-0", ident="server", carrier="stern"), confidence="possible")
    text = render(Report(Tool("1"), [], [found]), "markdown")
    assert "secret" not in text and "Give triage the log" in text


def test_reading_on_needs_a_file():
    """What has no path of its own, as the log of the demo, can't be opened."""
    found = incident(Position(line=7), source="demo.log")
    assert read_on(found, found.failures[0].first) == []


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("journal", ""),
        ("journal --user", "--user "),
        ("journal rescued/j", "-D rescued/j "),
        ("journal ./j", "-D ./j "),
        ("journal --user /var/tmp/j", "--user -D /var/tmp/j "),
        ("journal ./a.journal, /b/c.journal~", "--file ./a.journal --file '/b/c.journal~' "),
        ("journal box", "-M box "),
    ],
)
def test_the_same_journal_is_read_on(source, options):
    """Wherever it lies and whose it is: without its options the commands would read this host's."""
    found = incident(Position(pid=7, time=WHEN, zoned=True, cursor="s=1"), unit="a.service", source=source)
    assert command(read_on(found, found.failures[0].first)) == (
        f"journalctl {options}-u a.service --since=@{int(WHEN)}"
    )
    assert texts(found)[-2] == f"triage journal a.service {options}--all-failures"


def test_a_file_may_be_called_journal():
    """It is read on as any file."""
    found = incident(Position(source="journal.log", line=7), source="journal.log")
    assert read_on(found, found.failures[0].first) == ["less", "+7", "journal.log"]
