"""A unit that writes its output to a file."""

import time

from triage.sources.systemctl import UnitState
from triage.watching.origin import Origin
from triage.watching.output import Output, blocks

UNIT = "x.service"


def test_only_what_is_written_from_now_on_is_read(tmp_path):
    """The file holds earlier runs too."""
    file = tmp_path / "x.log"
    file.write_text("old\n")
    there = blocks(str(file), 4)
    with file.open("a") as out:
        out.write("new\n")
    assert next(there) == b"new\n"


def test_a_file_that_was_emptied_is_read_from_its_beginning(tmp_path):
    """StandardOutput=truncate:, or a rotation."""
    file = tmp_path / "x.log"
    file.write_text("new\n")
    there = blocks(str(file), 4000)
    assert next(there) == b"new\n"


def test_lines_are_the_units_own(tmp_path):
    """Whatever they claim to be; they are written now, whatever stamp they have."""
    output = Output("x.log", UNIT, lambda: 5.0)
    output.feed(b"Nov 29 14:00:00 h systemd[1]: x.service: Failed with result 'signal'.\nhello\n", "a" * 32)
    lines = output.pause("a" * 32)
    assert {(line.unit, line.origin, line.time) for line in lines} == {(UNIT, "service", 5.0)}


def test_a_watch_reads_the_file_too(watched, replaying, tmp_path):
    """What systemd says comes from the journal, what the service says from its file."""
    from triage.model import Entry

    file = tmp_path / "x.log"
    file.write_text("The server is fired up and ready to roll!\n")  # of the run before
    fields = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": UNIT, "INVOCATION_ID": "a" * 32,
              "_TRANSPORT": "journal", "MESSAGE": f"Started {UNIT}."}  # fmt: skip

    class Writing(replaying.Replay):
        def batches(self):
            yield [Entry(fields, int(time.time() * 1e6), "", 0)]
            with file.open("a") as out:
                out.write("Load weight begin. avail mem=1 GB\nThe server is fired up and ready to roll!\n")
            self._closed.wait()

    state = UnitState(UNIT, active_state="active", output_files=[str(file)])
    origin = Origin(0, running=True, state=state, outputs={str(file): file.stat().st_size})
    verdict, told = watched(Writing(), UNIT, origin)
    assert verdict.kind == "ready"
    assert "begin weights" in told


def test_where_nothing_can_be_heard_silence_means_nothing(watched, replaying):
    """The output goes where it can't be read: time runs out, but nobody fell silent."""
    from triage.model import Entry

    fields = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": UNIT, "INVOCATION_ID": "a" * 32,
              "_TRANSPORT": "journal", "MESSAGE": f"Started {UNIT}."}  # fmt: skip
    host = replaying.Replay([Entry(fields, int(time.time() * 1e6), "", 0)])
    assert watched(host, UNIT, Origin(0, running=True, deaf=True), stall=0.2, timeout=1.5)[0].kind == "out-of-time"
