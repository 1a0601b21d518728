"""`triage signatures test` and `check`: what they say of a pack, and what is meant by what was typed."""

import pytest

from triage.testing import Pack

HEAD = 'format: 1\nid: {id}\ntitle: "Title of {id}"\ncause: "Because."\nreferences: ["https://example.org"]\n'
BEGIN = """\
[2026-05-25 21:41:00] server_args=ServerArgs(model_path='m', tp_size=1)
[2026-05-25 21:41:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/sglang/srt/managers/scheduler.py", line 10, in run_scheduler_process
    out = owner.step(item)
  File "/venv/lib/python3.11/site-packages/sglang/srt/layers/lab.py", line 20, in step
    raise LabError(message)
"""
END = "\n[2026-05-25 21:41:39] Received sigquit from a child process. It usually means the child failed.\nKilled\n"


def log(text: str) -> str:
    """A log in which `text` was raised."""
    return f"{BEGIN}{text}{END}"


@pytest.fixture
def pack(tmp_path):
    """Make a pack of signatures (the lines beside the head, by id) and fixtures (by path)."""

    def make(signatures: dict[str, str], fixtures: dict[str, str]):
        base = tmp_path / "pack"
        for name, text in signatures.items():
            place = base / f"signatures/{name}.yaml"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(HEAD.format(id=name) + text)
        for name, text in fixtures.items():
            place = base / f"fixtures/{name}"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return base

    return make


LAB = {"lab/one": 'match: {exception: LabError, message: "first thing"}\n'}
FIXTURES = {
    "lab/one/first.log": log("LabError: the first thing broke"),
    "lab/one/confuser-second.log": log("LabError: the second thing broke"),
}


def test_good_pack_passes(triage, pack):
    """One line for each fixture, and a summary."""
    said = triage("signatures", "test", pack(LAB, FIXTURES))
    assert (said.status, said.err) == (0, "")
    assert said.out.splitlines() == [
        "ok    lab/one/confuser-second.log",
        "ok    lab/one/first.log",
        "1 fixtures, 1 confusers of 1 signatures: all as they must be",
    ]


@pytest.mark.parametrize(
    "place", ["signatures", "fixtures", "signatures/lab", "fixtures/lab", "signatures/lab/one.yaml", "fixtures/lab/one"]
)
def test_any_folder_of_a_pack_may_be_named(triage, pack, place):
    """The fixtures of the signatures in it."""
    said = triage("signatures", "test", pack(LAB, FIXTURES) / place)
    assert (said.status, said.err) == (0, "")
    assert said.out.splitlines()[-1] == "1 fixtures, 1 confusers of 1 signatures: all as they must be"


def test_failures_say_what_was_found_instead(triage, pack):
    """No match, a match of a confuser, a fixture of nothing."""
    fixtures = {
        "lab/one/first.log": log("LabError: the second thing broke"),
        "lab/one/confuser-same.log": log("LabError: the first thing broke"),
        "lab/none/first.log": log("LabError: the first thing broke"),
    }
    said = triage("signatures", "test", pack(LAB, fixtures), "-q")
    none, confuser, first, summary = said.out.splitlines()
    assert none == "FAIL  lab/none/first.log: there is no signature lab/none: did you mean lab/one?"
    assert confuser.startswith("FAIL  lab/one/confuser-same.log: lab/one must not match, but is likely of root f1:")
    assert first.startswith(
        "FAIL  lab/one/first.log: failed, root LabError: the second thing broke: no signature matches"
    )
    assert summary.endswith("3 failed")
    assert said.status == 1


def test_another_signature_as_certain_is_said(triage, pack):
    """Unless an edge says that both are right, or the other is the general case."""
    special = 'match: {exception: LabError, message: "first", frames: ["layers/lab.py:step"]}\n'
    other = 'match: {exception: LabError, message: "thing broke", frames: ["lab.py:step"]}\n'
    fixtures = {"lab/one/first.log": log("LabError: the first thing broke")}
    said = triage("signatures", "test", pack({"lab/one": special, "lab/two": other}, fixtures), "-q")
    assert "FAIL  lab/one/first.log:" in said.out
    assert "lab/two is certain of it too, and no edge relates the two" in said.out
    edge = special.replace('"first"', '"first thing broke"') + "explains: [lab/two]\n"
    assert triage("signatures", "test", pack({"lab/one": edge}, fixtures)).status == 0
    general = 'match: {exception: LabError, frames: ["lab.py:step"], message: "first"}\n'
    longer = special.replace('"first"', '"the first thing"')
    assert triage("signatures", "test", pack({"lab/one": longer, "lab/two": general}, fixtures)).status == 0


def test_signature_that_is_led_by_a_stranger_fails(triage, pack):
    """It fits, but the report would say something else."""
    more = 'match: {exception: LabError, message: "first thing broke", frames: ["lab.py:step"]}\n'
    fixtures = {"lab/one/first.log": log("LabError: the first thing broke")}
    said = triage("signatures", "test", pack({**LAB, "lab/two": more}, fixtures), "-q")
    assert "lab/two (certain), lab/one (likely)" in said.out
    assert said.status == 1


def test_healthy_logs_are_silent(triage, pack):
    """On a log below fixtures/healthy nothing may be a root failure."""
    good = "[2026-05-25 21:41:00] server_args=ServerArgs(model_path='m')\nThe server is fired up and ready to roll!\n"
    fixtures = {"healthy/served.log": good, "healthy/not.log": log("LabError: the first thing broke")}
    said = triage("signatures", "test", pack(LAB, fixtures))
    assert "ok    healthy/served.log" in said.out
    assert "FAIL  healthy/not.log: failed, root LabError: the first thing broke: lab/one (likely)" in said.out


def test_what_is_meant_is_found(triage, pack, tmp_path, monkeypatch):
    """An id, an area, a log, a folder of logs, a signature file: also of a pack that is not loaded otherwise."""
    base = pack(
        {**LAB, "lab/two": 'match: {message: "second thing"}\n'}, FIXTURES | {"lab/two/x.log": log("E: second thing")}
    )
    for word in ("fixtures/lab/one", "signatures/lab/one.yaml"):
        assert triage("signatures", "test", base / word).out.count("ok    lab/one/") == 2
    assert triage("signatures", "test", base / "fixtures/lab/one/first.log").out.startswith(
        "ok    lab/one/first.log\n1 fix"
    )
    assert triage("signatures", "test", "lab/one", "--signatures", base).out.count("ok  ") == 2
    assert triage("signatures", "test", "lab", "--signatures", base).out.count("ok  ") == 3
    assert triage("signatures", "test", base / "fixtures").out.count("ok  ") == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["lab/nothing"], "lab/nothing is no signature, no area and no path"),
        (["sglang/sigqit"], "did you mean sglang/sigquit?"),
        (["-j", "0", "sglang/sigquit"], "--jobs is a number of processes"),
    ],
)
def test_what_is_not_there_is_said(triage, words, said):
    """In one line, with the nearest name."""
    found = triage("signatures", "test", *words)
    assert found.status == 2
    assert said in found.err


def test_path_outside_of_a_pack_is_said(triage, tmp_path):
    """A log alone proves nothing."""
    (tmp_path / "alone.log").write_text("x\n")
    said = triage("signatures", "test", tmp_path / "alone.log")
    assert (said.status, "is in no pack" in said.err) == (2, True)


def test_jobs_give_the_same(triage, pack):
    """In the same order."""
    fixtures = {f"lab/one/{number}.log": log(f"LabError: the first thing broke {number}") for number in range(6)}
    base = pack(LAB, fixtures)
    assert triage("signatures", "test", base, "-j", "2").out == triage("signatures", "test", base).out


def test_log_that_triage_fails_on_is_a_failure(pack, monkeypatch):
    """One of them must not hide the others."""
    import triage.pipeline

    monkeypatch.setattr(triage.pipeline, "diagnose", lambda *_, **__: 1 / 0)
    tested = Pack(pack(LAB, FIXTURES))
    assert tested.problems(tested.fixtures[0]) == ["triage itself failed: ZeroDivisionError: division by zero"]


def test_public_helper_says_the_same(pack):
    """A pack of its own tests itself in pytest."""
    tested = Pack(pack(LAB, FIXTURES))
    assert [str(one) for one in tested.fixtures] == ["lab/one/confuser-second.log", "lab/one/first.log"]
    assert [tested.problems(one) for one in tested.fixtures] == [[], []]
    assert tested.issues() == []


def test_check_says_why_and_what_instead(triage, pack):
    """Three lines for each issue; with --quiet one for each error."""
    base = pack({"lab/one": 'match: {message: "on line 312"}\n'}, {})
    said = triage("signatures", "check", base / "signatures")
    lines = said.out.splitlines()
    assert lines[0].startswith(f"{base}/signatures/lab/one.yaml:2: warning: id: there is no")
    assert lines[1].startswith("    why:   No log shows")
    assert lines[2].startswith("    write: a log")
    assert (said.status, lines[-1]) == (1, "1 errors, 2 warnings")
    quiet = triage("signatures", "check", "--quiet", base / "signatures")
    assert [line.rpartition(" ")[2] for line in quiet.out.splitlines()] == ["[volatile-text]", "warnings"]


def test_check_knows_fixtures_of_the_pack(triage, pack):
    """And those of a signature alone."""
    base = pack(LAB, FIXTURES)
    assert triage("signatures", "check", base / "signatures").out == "0 errors, 0 warnings\n"
    (base / "fixtures/lab/one/confuser-second.log").unlink()
    assert "[no-confuser]" in triage("signatures", "check", base / "signatures/lab/one.yaml").out


def test_check_of_nothing_is_said(triage, tmp_path):
    """A path that is not there."""
    said = triage("signatures", "check", tmp_path / "none")
    assert (said.status, said.err) == (2, f"triage: there is no {tmp_path / 'none'}\n")
