"""systemd-coredump's entries in the journal."""

import pytest

from triage.events import coredump
from triage.model import Line

MESSAGE = """Process 5511 (python3) of user 996 dumped core.

Module libcuda.so.1 without build-id.
Stack trace of thread 5511:
#0  0x00007f2b9209eb2c pthread_kill (libc.so.6 + 0x9eb2c)
#1  0x00007f2b9204527e raise (libc.so.6 + 0x4527e)
#2  0x0000000000630f41 n/a (python3.12 + 0x230f41)

Stack trace of thread 5512:
#0  0x00007f2b9209eb2c other (libc.so.6 + 0x9eb2c)
"""


def lines(signal="SIGSEGV", **more):
    fields = {
        "MESSAGE_ID": coredump.MESSAGE_ID,
        "MESSAGE": MESSAGE,
        "COREDUMP_UNIT": "sg-segv.service",
        "COREDUMP_PID": "5511",
        "COREDUMP_COMM": "python3",
        "COREDUMP_SIGNAL": "11",
        "COREDUMP_SIGNAL_NAME": signal,
        **more,
    }
    return [
        Line(text=text, stream="c", offset=9, origin="manager", fields=fields, unit="x.service", pid=1105)
        for text in MESSAGE.rstrip().split("\n")
    ]


def test_an_entry_is_one_event_of_the_process_that_died():
    """Its physical lines give one event, of the dead unit and process, with the crashing thread's frames."""
    events = [event for line in lines() if (event := coredump.parse(line))]
    (event,) = events
    assert (event.kind, event.rule, event.level, event.fatal) == ("native", "native/coredump", 0.5, True)
    assert (event.unit, event.at.pid) == ("sg-segv.service", 5511)
    assert event.data["signal"] == "SIGSEGV"
    assert event.data["process"] == "python3"
    assert [frame.function for frame in event.frames] == ["n/a", "raise", "pthread_kill"]
    assert event.frames[-1].file == "libc.so.6"
    assert event.text.startswith("Process 5511 (python3) of user 996 dumped core. (signal SIGSEGV)")


@pytest.mark.parametrize(("signal", "level"), [("SIGABRT", 1.5), ("SIGBUS", 0.5), ("SIGQUIT", 1.5), ("SIGILL", 0.5)])
def test_an_abort_is_weaker_than_a_crash(signal, level):
    """SIGABRT is what systemd's watchdog and `terminate` end with."""
    assert coredump.parse(lines(signal)[0]).level == level


def test_invocation_and_rank_come_from_the_dead_process():
    """Environment and command line are those of the process, where the journal has kept them."""
    more = {
        "COREDUMP_ENVIRON": "LANG=C\nINVOCATION_ID=32f207dc02c34342ba8c173925244d6d\nHF_TOKEN=x",
        "COREDUMP_CMDLINE": "sglang::scheduler_PP3_TP1",
    }
    event = coredump.parse(lines(**more)[0])
    assert event.invocation == "32f207dc02c34342ba8c173925244d6d"
    assert event.ranks == ["PP3 TP1"]
    assert "HF_TOKEN" not in str(event)


def test_the_signal_s_number_will_do():
    """Old releases have no COREDUMP_SIGNAL_NAME."""
    line = lines()[0]
    del line.fields["COREDUMP_SIGNAL_NAME"]
    assert coredump.parse(line).data["signal"] == "SIGSEGV"


def test_a_text_journal_s_line_is_told_by_its_identifier():
    """`journalctl -o short` has no fields; the same words of a service are not systemd-coredump's."""
    text = "Process 5511 (python3) of user 996 dumped core."
    line = Line(text=text, stream="c", offset=0, origin="manager", ident="systemd-coredump")
    assert coredump.parse(line).data["pid"] == "5511"
    assert coredump.parse(Line(text=text, stream="c", offset=0, origin="manager", ident="systemd")) is None


def test_other_entries_are_none():
    """Other messages of the manager and empty lines give nothing."""
    assert coredump.parse(Line(text="Started x.", stream="c", offset=0, origin="manager")) is None
    assert coredump.parse(lines()[1]) is None
