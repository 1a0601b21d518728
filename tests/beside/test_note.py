"""The entry that says why a unit failed."""

from pathlib import Path

import pytest

from triage.beside.memory import Memory
from triage.beside.note import fields, fingerprint, invocations, newest_failed
from triage.lines import read_entries, read_text
from triage.model import Entry, Member, Report, Tool
from triage.pipeline import diagnose
from triage.sources import DIAGNOSIS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def incident():
    """A run that failed with a failure that a signature knows."""
    found = diagnose(logs=[str(ROOT / "demo/sglang-pp8.log")]).incidents[-1]
    found.members = [Member("node", "sglang-pp8.service", "a" * 32)]
    return found


def as_dict(found):
    return dict(reversed(found))  # of repeated fields the first


def test_it_has_the_units_own_field_and_what_programs_look_for(incident):
    """So that journalctl -u shows it, and a signature, a fingerprint and fixes can be matched on."""
    found = as_dict(fields(incident, "sglang-pp8.service", 1))
    assert found["MESSAGE_ID"] == DIAGNOSIS
    assert found["OBJECT_SYSTEMD_UNIT"] == found["TRIAGE_UNIT"] == "sglang-pp8.service"
    assert found["TRIAGE_SIGNATURE"] == "sglang/pp-triton-layer0-value-buffer"
    assert found["TRIAGE_FINGERPRINT"] == fingerprint(incident)
    assert found["TRIAGE_INVOCATION"] == "a" * 32
    assert found["TRIAGE_FIX"].startswith("Ask for the first layer")
    assert "raised IndexError: list index out of range" in found["MESSAGE"]
    assert "What mends it:\n1. Ask for" in found["TRIAGE_TEXT"]


def test_a_unit_of_a_user_manager_has_its_own_field(incident):
    """journalctl --user-unit looks at another one."""
    found = as_dict(fields(incident, "x.service", 1, user=True))
    assert found["OBJECT_SYSTEMD_USER_UNIT"] == "x.service"
    assert "OBJECT_SYSTEMD_UNIT" not in found


def test_an_unknown_failure_is_written_too():
    """What was raised and where is worth having; nothing is made up."""
    text = (
        b'Traceback (most recent call last):\n  File "/opt/a.py", line 1, in run\nZeroDivisionError: division by zero\n'
    )
    found = as_dict(fields(_of(text), "x.service", 1))
    assert "ZeroDivisionError: division by zero" in found["MESSAGE"]
    assert "TRIAGE_SIGNATURE" not in found
    assert "No signature fits" in found["TRIAGE_TEXT"]


def test_secrets_stay_out():
    """The journal is readable for more people than the log of a service."""
    token = "hf_" + "b" * 34
    text = f'Traceback (most recent call last):\n  File "a.py", line 1, in x\nValueError: {token} was refused\n'
    assert token not in str(fields(_of(text.encode()), "x.service", 1))


def test_what_a_log_says_stays_on_its_line():
    """A field of one line can't be ended by log text, nor a terminal be written to."""
    text = b'Traceback (most recent call last):\n  File "a.py", line 1, in x\nValueError: a\x1b[2J\x07b\nMESSAGE_ID=0\n'
    found = fields(_of(text), "x.service", 1)
    assert all(ord(c) >= 32 or c == "\n" for _, value in found for c in value)
    assert as_dict(found)["MESSAGE"].count("\n") <= 1


def test_only_new_runs_of_the_unit_count(incident):
    """The newest that was not looked at, and how many there are like it."""
    from dataclasses import replace

    runs = [replace(incident, members=[Member(None, "x.service", name)]) for name in ("one", "two", "three")]
    other = replace(incident, members=[Member(None, "y.service", "four")])
    report = Report(Tool(""), [], [*runs, other])
    memory = Memory(invocations=["one"])
    assert newest_failed(report, "x.service", memory) == (runs[2], 2)
    memory.note(invocations(report))
    assert newest_failed(report, "x.service", memory) == (None, 0)


def test_a_run_that_went_well_is_not_written(incident):
    """Stopped by the operator, whatever the exit status."""
    from dataclasses import replace

    healthy = replace(incident, outcome="healthy")
    assert newest_failed(Report(Tool(""), [], [healthy]), "sglang-pp8.service", Memory()) == (None, 0)


def test_a_file_that_the_unit_prints_to_says_more_than_systemd(incident):
    """Of a unit with StandardOutput=file: the journal has its exit status only."""
    from dataclasses import replace

    in_file = replace(incident, members=[])
    bare = replace(incident, failures=[], members=[Member(None, "x.service", "one")])
    assert newest_failed(Report(Tool(""), [], [in_file, bare]), "x.service", Memory()) == (in_file, 1)


def test_triage_passes_over_its_own_entries(incident):
    """Else it would find its own words in the log of the service."""
    own = Entry(dict(reversed(fields(incident, "x.service", 1))), 1, "c", 0)
    service = Entry({"MESSAGE": "hello", "_SYSTEMD_UNIT": "x.service"}, 2, "d", 1)
    assert [line.text for line in read_entries([own, service], "journal")] == ["hello"]


def test_triage_passes_over_its_own_lines_in_text(incident):
    """The same in what journalctl prints, where no MESSAGE_ID is left."""
    message = as_dict(fields(incident, "x.service", 1))["MESSAGE"].replace("\n", "\n" + " " * 34)
    own = f"Nov 29 19:56:58 node triage[871]: {message}\n"
    text = "".join(f"Nov 29 19:56:{n} node systemd[1]: Started x.service.\n" for n in range(40, 57)) + own
    assert sum(line.ident == "triage" for line in read_text([(0, text.encode())], "x")) == 2
    assert not diagnose(logs=[_file(text)]).incidents[-1].failures


def _of(text: bytes):
    return diagnose(logs=[_file(text)]).incidents[-1]


def _file(text):
    import tempfile

    file = Path(tempfile.mkdtemp()) / "x.log"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(file)
