"""`triage signatures new`: what it writes from real logs passes the linter and its own test, and nothing else changes."""

import io
import re
from pathlib import Path

import pytest

from triage import data
from triage.authoring.draft import draft
from triage.library.library import Library
from triage.pipeline import Options, diagnose
from triage.testing import Pack

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/cases"
PACKAGED = Pack(ROOT).library
# What only a person can settle.
HUMAN = {"unwritten", "no-reference", "no-confuser"}
# A log of a build between releases, or of one release only: where the defect begins and ends is to be measured.
MEASURED = {"not-released"}
LOG = """\
[2026-05-25 21:41:00] server_args=ServerArgs(model_path='/home/alice/m', tp_size=4, attention_backend='rotor', api_key='s3cret')
[2026-05-25 21:41:01 TP0] Load weight begin. avail mem=70.00 GB
[2026-05-25 21:41:38 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/sglang/srt/managers/scheduler.py", line 10, in run_scheduler_process
    scheduler = Scheduler(server_args, port_args)
  File "/venv/lib/python3.11/site-packages/sglang/srt/layers/attention/rotor_backend.py", line 20, in spin_up
    raise RotorError(f"the rotor {state} after {seconds} s on {host}")
RotorError: the rotor {said} after 31 s on 10.1.2.3

[2026-05-25 21:41:39] Received sigquit from a child process. It usually means the child failed.
Killed
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch, home):
    """An empty checkout to work in, with two logs in it."""
    place = tmp_path / "checkout"
    for name in ("signatures", "fixtures"):
        (place / name).mkdir(parents=True)
    (place / "pyproject.toml").write_text("")
    (place / "server.log").write_text(LOG.replace("{said}", "stalled"))
    (place / "busy.log").write_text(LOG.replace("{said}", "is busy"))
    monkeypatch.setattr(data, "_PACKAGED", place)
    monkeypatch.chdir(place)
    return place


def blocks(name):
    """The lines of the block of CONTRIBUTING.md that this comment stands over."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (block,) = re.findall(rf"<!-- {name} -->\n *```\w*\n(.*?)\n *```", text, re.DOTALL)
    return [line.strip() for line in block.splitlines()]


def test_ten_minutes_of_contributing(triage, checkout):
    """Every command that CONTRIBUTING.md shows, in its order, from a log to a signature that passes."""
    (new,) = blocks("draft")
    assert triage(*new.split()[1:]).status == 0
    signature = checkout / "signatures/lab/rotor-stalled.yaml"
    yours = blocks("yours")
    kept = [line for line in signature.read_text().splitlines() if not line.startswith(("cause:", "# references"))]
    signature.write_text("\n".join([*kept, *yours]) + "\n")
    (copy,) = blocks("confuser")
    _, one, other = copy.split()
    (checkout / other).write_text((checkout / one).read_text())
    said = [triage(*command.split()[1:]) for command in blocks("prove")]
    assert [one.status for one in said] == [0, 0], said
    assert said[0].out == "0 errors, 0 warnings\n"
    assert said[1].out.splitlines()[-1] == "1 fixtures, 1 confusers of 1 signatures: all as they must be"
    assert triage("logs", "server.log").out.count("lab/rotor-stalled, certain") == 1
    assert "lab/rotor-stalled" not in triage("logs", "busy.log").out


def test_draft_says_what_it_wrote_and_what_is_left(triage, checkout):
    """And writes nothing but that."""
    before = {path for path in checkout.rglob("*") if path.is_file()}
    said = triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    written = {
        path.relative_to(checkout).as_posix() for path in checkout.rglob("*") if path.is_file() and path not in before
    }
    assert written == {
        "signatures/lab/rotor-stalled.yaml",
        "signatures/schema.json",
        "fixtures/lab/rotor-stalled/first.log",
    }
    assert [line.partition(" ")[0] for line in said.out.splitlines()].count("wrote") == 3
    assert "TP3 raised RotorError: the rotor stalled after 31 s on 10.1.2.3, certain by the new signature" in said.out
    assert all(f"[{name}]" in said.out for name in HUMAN)
    assert said.out.count("\n  1. ") == said.out.count("\n  2. ") == said.out.count("\n  3. ") == 1
    text = (checkout / "signatures/lab/rotor-stalled.yaml").read_text()
    assert 'message_re: "the rotor stalled after (?P<after>' in text
    assert '"layers/attention/rotor_backend.py:spin_up"' in text
    assert 'when: {attention_backend: "rotor"}' in text
    fixture = (checkout / "fixtures/lab/rotor-stalled/first.log").read_text()
    assert not any(word in fixture for word in ("alice", "s3cret", "10.1.2.3", "Scheduler(server_args", 'f"the rotor'))
    assert "attention_backend='rotor'" in fixture


def test_nothing_is_overwritten(triage, checkout):
    """Neither a signature that is there nor one that is known from elsewhere."""
    triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    signature = checkout / "signatures/lab/rotor-stalled.yaml"
    signature.write_text("# mine\n")
    again = triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    assert (again.status, signature.read_text()) == (2, "# mine\n")
    assert "is there already" in again.err
    signature.unlink()
    half = triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    assert half.status == 2
    assert not signature.exists()


@pytest.mark.parametrize(
    "name", ["../lab/x", "lab/../../x", "/lab/x", "lab", "Lab/x", "lab/x y", "lab/.x", "healthy/x"]
)
def test_id_cannot_lead_elsewhere(triage, checkout, name):
    """It is a path, so it is held to the form of ids."""
    said = triage("signatures", "new", "server.log", "--id", name)
    assert (said.status, "is no id" in said.err) == (2, True)


def test_link_out_of_the_pack_is_not_followed(triage, checkout, tmp_path):
    """A folder that is a link to elsewhere stays as it is."""
    (tmp_path / "outside").mkdir()
    (checkout / "fixtures/lab").symlink_to(tmp_path / "outside")
    said = triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    assert (said.status, "leads out of" in said.err) == (2, True)
    assert list((tmp_path / "outside").iterdir()) == []
    assert not (checkout / "signatures/lab/rotor-stalled.yaml").exists()


def test_without_a_checkout_it_goes_to_the_users_own_pack(triage, checkout, home):
    """Where it counts from then on."""
    (checkout / "pyproject.toml").unlink()
    said = triage("signatures", "new", "server.log", "--id", "lab/rotor-stalled")
    assert said.status == 0
    assert (home / "signatures/lab/rotor-stalled.yaml").is_file()
    assert "lab/rotor-stalled, certain" in triage("logs", "server.log").out


def test_report_does_for_a_log(triage, checkout):
    """`--from-json` takes what `--format json` printed."""
    report = triage("logs", "server.log", "--format", "json")
    (checkout / "report.json").write_text(report.out)
    said = triage("signatures", "new", "--from-json", "report.json", "--pack", "pack")
    assert said.status == 0
    assert (checkout / "pack/signatures/sglang/rotor-error-spin-up.yaml").is_file()
    assert "certain by the new signature" in said.out
    assert triage("signatures", "test", "pack", "-q").status == 0


def test_standard_input_does_for_a_log(triage, checkout, monkeypatch):
    """What another program prints goes straight into a draft."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper((checkout / "server.log").open("rb")))
    said = triage("signatures", "new", "-", "--id", "lab/rotor-stalled")
    assert (said.status, said.err) == (0, "")
    assert "certain by the new signature" in said.out
    assert (checkout / "fixtures/lab/rotor-stalled/first.log").is_file()
    assert triage("signatures", "test", "lab/rotor-stalled", "-q").status == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a log, or a report with --from-json FILE"),
        (["server.log", "--from-json", "x.json"], "name a log, or a report"),
        (["none.log"], "none.log"),
        (["good.log"], "good.log has no root failure to write a signature for: good.log is healthy"),
    ],
)
def test_what_cannot_be_drafted_is_said(triage, checkout, words, said):
    """In one line, with nothing written."""
    (checkout / "good.log").write_text("The server is fired up and ready to roll!\n")
    found = triage("signatures", "new", *words)
    assert (found.status, found.out) == (2, "")
    assert said in found.err
    assert list((checkout / "signatures").iterdir()) == []


def unknown(log):
    """The packaged signatures without those that know this log's failure."""
    report = diagnose([str(log)], options=Options(library=PACKAGED))
    failures = [failure for incident in report.incidents for failure in incident.failures if failure.role == "root"]
    known = {one.signature for failure in failures for one in failure.diagnoses}
    return Library([entry for entry in PACKAGED.entries if entry.id not in known]) if failures else None


def drafts_well(case, tmp_path):
    """A draft of a case's log leads, is sure, and leaves to a person only what only a person can do."""
    (log,) = case.glob("input.*")
    library = unknown(log)
    assert library is not None
    made = draft(log, tmp_path / "pack", library, "lab/drafted")
    assert {issue.name for issue in made.issues} <= HUMAN | MEASURED, [str(issue) for issue in made.issues]
    assert made.confidence in ("certain", "likely"), made.notes
    assert made.notes == []
    assert not list((tmp_path / "pack").glob(".*"))


@pytest.mark.parametrize(
    "name",
    [
        "pp-triton-v-buffer-index",
        "captured-oom-rank1-debug",
        "captured-segfault-rank1",
        "unit-203-exec",
        "host-oom-node-overcommitted",
        "numactl-membind-seccomp",
        "gcp-newest-first-dev-shm-nccl",
        "router-poisoned-lock-panic-loop",
        "python-h-missing-triton",
    ],
)
def test_real_failures_are_drafted(name, tmp_path):
    """Of every kind, in every form of log."""
    drafts_well(CASES / name, tmp_path)


# An export's entries are no lines; a service that came up has no failure.
NOT_DRAFTED = {"watchdog-never-pinged"}


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_every_real_failure_is_drafted(case, tmp_path):
    """The whole collection."""
    text = (case / "case.yaml").read_text()
    if case.name not in NOT_DRAFTED and "outcome: healthy" not in text:
        drafts_well(case, tmp_path)
