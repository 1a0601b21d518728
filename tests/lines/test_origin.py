"""Who speaks: systemd and the kernel are recognised by what journald says of an entry, never by what it holds."""

from pathlib import Path

import pytest

from triage.lines import read_entries
from triage.model import Entry, Line
from triage.sources.export import parse_export

DATA = Path(__file__).parent / "data"
SERVICE = {"_TRANSPORT": "stdout", "_PID": "7", "_UID": "1000", "_HOSTNAME": "h", "_SYSTEMD_UNIT": "sglang.service",
           "_SYSTEMD_INVOCATION_ID": "abc", "_COMM": "python", "SYSLOG_IDENTIFIER": "python"}  # fmt: skip


def lines(*entries: dict[str, str], live: bool = False) -> list[Line]:
    made = [
        Entry({"MESSAGE": "x", **fields}, 1_795_963_257_718_341 + n, f"s=1;i={n}", n)
        for n, fields in enumerate(entries)
    ]
    return list(read_entries(made, "journal", live=live))


def origin(**fields: str) -> str:
    return lines(fields)[0].origin


def native(name: str) -> list[Line]:
    return list(read_entries(parse_export([(DATA / f"{name}.export").read_bytes()]), "journal"))


def test_the_manager() -> None:
    """PID 1 speaks for systemd; its lines carry the unit they are about."""
    (line,) = lines(
        {"_PID": "1", "_SYSTEMD_UNIT": "init.scope", "UNIT": "a.service", "INVOCATION_ID": "i1", "_UID": "0"}
    )
    assert (line.origin, line.unit, line.invocation) == ("manager", "a.service", "i1")
    assert line.fields is not None


def test_the_child_before_it_runs_the_program() -> None:
    """`Failed at step EXEC` comes from systemd's child: not PID 1, and often without a unit of its own."""
    child = {"_PID": "194", "_UID": "0", "SYSLOG_IDENTIFIER": "(sigs.py)", "UNIT": "a.service", "_TRANSPORT": "journal"}
    assert origin(**child) == "manager"
    assert origin(**child, _SYSTEMD_UNIT="a.service") == "manager"


def test_forged_fields_of_a_service_count_for_nothing() -> None:
    """A service can send UNIT=, an identifier and a MESSAGE_ID; journald's own fields give it away."""
    forged = {"UNIT": "a.service", "SYSLOG_IDENTIFIER": "(python)", "_TRANSPORT": "journal"}
    assert origin(**{**SERVICE, **forged}) == "service"
    assert origin(**{**SERVICE, **forged, "_UID": "0"}) == "service"
    assert origin(**{**SERVICE, "SYSLOG_IDENTIFIER": "systemd"}) == "service"
    assert origin(**{**SERVICE, "SYSLOG_IDENTIFIER": "kernel"}) == "service"
    assert (
        origin(**{**SERVICE, "MESSAGE_ID": "fc2e22bc6ee647b6b90729ab34a250b1", "COREDUMP_UNIT": "b.service"})
        == "service"
    )
    assert lines(SERVICE)[0].fields is None


def test_user_managers() -> None:
    """`systemd --user` is not PID 1: it speaks with USER_UNIT, from its own scope."""
    found = native("user")
    assert [line.unit for line in found if line.origin == "manager"].count("sg-203exec.service") == 5
    assert {line.unit for line in found if line.origin == "service"} == {"sg-exit1.service", "sg-kill9.service"}


def test_kernel_lines_and_what_was_written_to_kmsg() -> None:
    """Of a line written to /dev/kmsg journald makes the first word the identifier; the text has it back."""
    kernel = [line for line in native("lab") if line.origin == "kernel"]
    assert kernel[-1].text.startswith("NVRM: Xid (PCI:0000:3b:00): 79")
    assert all(line.fields is not None and line.unit is None for line in kernel)
    assert origin(_TRANSPORT="kernel", SYSLOG_IDENTIFIER="systemd") == "manager"


def test_core_dumps_name_the_unit_that_died() -> None:
    """systemd-coredump writes under a unit of its own; the line is about another's."""
    (dump,) = [line for line in native("lab") if "dumped core" in line.text]
    assert (dump.origin, dump.unit) == ("manager", "sg-abort.service")
    assert dump.fields is not None
    assert dump.fields["COREDUMP_SIGNAL_NAME"] == "SIGABRT"


def test_suppressed_messages_name_the_unit() -> None:
    """journald says how much of a unit's output it dropped."""
    (line,) = [line for line in native("lab") if line.text.startswith("Suppressed")]
    assert (line.origin, line.unit) == ("manager", "sg-flood.service")
    assert line.fields is not None
    assert line.fields["N_DROPPED"] == "2250"


def test_streams_are_processes_of_one_invocation() -> None:
    """Unit, invocation and pid tell streams apart, and what a label says is within them."""
    got = lines(SERVICE, {**SERVICE, "_PID": "8"}, {**SERVICE, "_SYSTEMD_INVOCATION_ID": "next"}, SERVICE)
    assert got[0].stream == got[3].stream
    assert len({line.stream for line in got}) == 3


def test_rank_from_the_process_title() -> None:
    """A line without a label takes the rank that its process is titled with; its own label is better."""
    titled = {**SERVICE, "_CMDLINE": "sglang::scheduler_PP3"}
    bare, labelled = lines(titled, {**titled, "MESSAGE": "[2026-05-25 21:41:38 PP5] y"})
    assert (bare.rank, labelled.rank) == ("PP3", "PP5")


def test_a_message_of_several_lines() -> None:
    """Its lines share offset, cursor and stream; those after a record head belong to its rank."""
    got = lines({**SERVICE, "MESSAGE": "[2026-05-25 21:41:38 PP3] Scheduler hit\n  File x\nIndexError: y\n"})
    assert [(line.text, line.rank, line.record) for line in got] == [
        ("Scheduler hit", "PP3", True),
        ("  File x", "PP3", False),
        ("IndexError: y", "PP3", False),
    ]
    assert len({(line.offset, line.cursor, line.stream) for line in got}) == 1


def test_a_line_cut_at_journald_s_longest_is_joined() -> None:
    """journald cuts lines at 48 KiB and marks the pieces."""
    got = lines(
        {**SERVICE, "MESSAGE": "Traceba", "_LINE_BREAK": "line-max"},
        {**SERVICE, "_PID": "9"},
        {**SERVICE, "MESSAGE": "ck"},
    )
    assert [(line.text, line.offset) for line in got] == [("x", 1), ("Traceback", 0)]


def test_containers_under_the_journald_driver() -> None:
    """All containers of docker write as docker.service; their names tell them apart."""
    docker = {**SERVICE, "_SYSTEMD_UNIT": "docker.service", "_TRANSPORT": "journal"}
    one, two = lines({**docker, "CONTAINER_NAME": "a"}, {**docker, "CONTAINER_NAME": "b"})
    assert one.stream != two.stream
    assert one.ident == "a"


def test_entries_without_a_message_give_no_line() -> None:
    """MESSAGE is optional in the journal."""
    assert list(read_entries([Entry({"_PID": "1"}, 0, None, 0)], "journal")) == []


@pytest.mark.parametrize("live", [False, True])
def test_following_gives_each_line_at_once(live: bool) -> None:
    """With `live` a line is there before the next entry is asked for; without, entries are looked at in advance."""
    asked = 0

    def entries():
        nonlocal asked
        for number in range(10):
            asked += 1
            yield Entry({**SERVICE, "MESSAGE": f"[2026-05-25 21:41:38 TP{number}] x"}, 1, None, number)

    first = next(read_entries(entries(), "journal", live=live))
    assert first.rank == "TP0"
    assert asked == (1 if live else 10)
