"""`triage diff GOOD BAD`."""

import io
import json
import lzma
import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
CASES = DATA / "cases"
START = (
    "[2026-05-25 21:41:30] server_args=ServerArgs(model_path='/m', tp_size=2, pp_size=1, attention_backend='{0}', "
    "random_seed={1}, api_key='{2}')\n"
)
RANKS = "".join(
    f"[2026-05-25 21:41:{second} TP{rank}] {text}\n"
    for second, text in (
        (33, "Load weight begin. avail mem=1 GB"),
        (43, "Load weight end. type=Llama, mem usage=1 GB."),
    )
    for rank in (0, 1)
)
GOOD = (
    START.format("fa3", 1, "sk-good0good0good0good0")
    + RANKS
    + "[2026-05-25 21:41:50] The server is fired up and ready to roll!\n"
)
BAD = (
    START.format("triton", 2, "sk-bad00bad00bad00bad00")
    + RANKS.replace("TP1] Load weight end", "TP0] Load weight end")
    + "[2026-05-25 21:41:44 TP0] WARNING: kernel falls back to the slow path on sm120\n"
    + "[2026-05-25 21:41:45 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/a.py", line 3, in run\n    go()\n'
    "KeyError: 'model.layers.0'\n"
)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two logs, one of a run that went well and one of a run that failed; and a wide screen."""
    monkeypatch.setenv("COLUMNS", "160")
    for name, text in (("good.log", GOOD), ("bad.log", BAD)):
        (tmp_path / name).write_text(text)
    return tmp_path / "good.log", tmp_path / "bad.log"


def test_what_changed_is_said_as_text(triage, runs):
    """Arguments, phases, the failure, lines that only the bad run has; secrets are masked."""
    said = triage("diff", *runs)
    assert said.status == 3
    assert "attention_backend  fa3 -> triton" in said.out
    assert "api_key            <secret> -> <secret>" in said.out
    assert "random_seed" in said.out.partition("also")[2]
    assert "root" in said.out
    assert "KeyError: 'model.layers.0'" in said.out
    assert "falls back to the slow path" in said.out
    assert "sk-" not in said.out


def test_what_changed_is_said_as_json(triage, runs):
    """For programs, with the same content."""
    said = triage("diff", *runs, "--format", "json")
    document = json.loads(said.out)
    assert (document["good"]["outcome"], document["bad"]["outcome"]) == ("healthy", "failed")
    noise = {fact["name"]: fact["noise"] for fact in document["facts"]}
    assert noise == {"attention_backend": False, "api_key": False, "random_seed": True}
    assert document["failures"][0]["role"] == "root"
    assert [kind["text"] for kind in document["kinds"]] == ["WARNING: kernel falls back to the slow path on sm120"]
    phases = {phase["phase"]: phase for phase in document["phases"]}
    assert phases["weights"]["good"]["took"] == 10.0
    assert phases["ready"]["bad"] is None
    assert document["untrusted"]


def test_the_status_is_that_of_the_bad_run_alone(triage, runs):
    """Turned round, nothing is wrong with the second one."""
    good, bad = runs
    assert triage("diff", bad, good).status == 0


def test_a_failure_that_the_good_run_has_too_is_said_to_be_no_cause(triage, runs):
    """It is in both."""
    good, bad = runs
    both = "[2026-05-25 21:41:46] ERROR: cannot reach the metrics server\n"
    for path in runs:
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join([*lines[:3], both, *lines[3:]]))
    assert "the good run has this too: ERROR: cannot reach the metrics server" in triage("diff", good, bad).out


def test_ranks_that_logged_in_the_good_run_only_are_named(triage, tmp_path):
    """Where the bad run has labels at all."""
    (tmp_path / "good.log").write_text(GOOD)
    (tmp_path / "bad.log").write_text("".join(line for line in BAD.splitlines(keepends=True) if " TP1]" not in line))
    assert "TP1 logged in the good run only" in triage("diff", tmp_path / "good.log", tmp_path / "bad.log").out


def test_a_run_can_come_from_standard_input(triage, runs, monkeypatch):
    """It is read twice, and called stdin."""
    good, bad = runs
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(bad.read_bytes())))
    said = triage("diff", good, "-")
    assert said.status == 3
    assert said.out.startswith("✗ ")
    assert "falls back to the slow path" in said.out
    assert "/tmp/triage-" not in said.out


def test_only_the_last_attempt_of_a_log_is_compared(triage, runs):
    """What an attempt before it said is no news."""
    good, bad = runs
    early = BAD.replace("falls back to the slow path on sm120", "early trouble").replace("21:41", "21:31")
    early += "[2026-05-25 21:31:46] Received sigquit from a child process. It usually means the child failed.\n"
    bad.write_text(early + BAD)
    document = json.loads(triage("diff", good, bad, "-o", "json").out)
    assert [kind["text"] for kind in document["kinds"]] == ["WARNING: kernel falls back to the slow path on sm120"]


def test_real_runs_of_one_service_are_compared(triage):
    """The same service before and after its fix: warm-up aside nothing differs, and the failure is named."""
    folders = {folder.name: folder for folder in CASES.iterdir()}
    bad = next(name for name in folders if name.endswith("layer0-probe-pp8-triton"))
    good = next(name for name in folders if "pp8-triton-FIXED" in name or "pp2-even-triton-NOFAIL" in name)
    said = triage("diff", folders[good] / "input.log", folders[bad] / "input.log", "-o", "json")
    document = json.loads(said.out)
    assert said.status == 1
    assert "IndexError" in document["failures"][0]["text"]
    assert document["failures"][0]["signatures"][0]["signature"] == "sglang/pp-triton-layer0-value-buffer"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("x.log", "x.log"), "named twice"),
        (("nowhere.log", "x.log"), "no such file"),
        (("journal:", "x.log"), "names no unit"),
        (("x.log",), "required"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(triage, tmp_path, monkeypatch, words, why):
    """With status 2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.log").write_text("x\n")
    said = triage("diff", *words)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert why in said.err


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="needs journalctl")
def test_invocations_of_units_are_compared(triage, tmp_path):
    """Out of a real journal: another unit's last run, and one unit's last run with the one before."""
    packed = (DATA / "journals" / "sglang.journal.xz").read_bytes()
    (tmp_path / "system.journal").write_bytes(lzma.decompress(packed))
    said = triage("diff", "journal:sglang-ok", "journal:sglang-pp8@0", "-D", tmp_path, "-o", "json")
    document = json.loads(said.out)
    assert said.status == 1
    assert {f["name"]: (f["good"], f["bad"]) for f in document["facts"]}["pp_size"] == (1, 8)
    assert any("server_args" not in kind["text"] for kind in document["kinds"])
    again = json.loads(
        triage("diff", "journal:sglang-pp8@-1", "journal:sglang-pp8@0", "-D", tmp_path, "-o", "json").out
    )
    assert "IndexError" in again["shared"][0]["text"]
    assert {kind["text"][:11] for kind in again["kinds"]} & {"IndexError:"} == set()


@pytest.mark.skipif(shutil.which("journalctl") is None, reason="needs journalctl")
def test_a_missing_journal_folder_is_said(triage, tmp_path):
    """As `triage journal` says it."""
    said = triage("diff", "journal:a@-1", "journal:a@0", "-D", tmp_path / "none")
    assert said.status == 2
    assert "no such directory" in said.err
