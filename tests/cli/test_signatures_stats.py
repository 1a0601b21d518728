"""`triage signatures stats`: counts of a library, and of what it explains in a folder of logs."""

import gzip

HEAD = 'format: 1\nid: lab/{name}\ntitle: "Title of {name}"\ncause: "Because."\n'
LOG = """\
[2026-05-25 21:41:00] server_args=ServerArgs(model_path='m', tp_size=1)
[2026-05-25 21:41:38 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/sglang/srt/layers/lab.py", line 20, in step
    raise LabError(message)
LabError: {said}

[2026-05-25 21:41:39] Received sigquit from a child process. It usually means the child failed.
Killed
"""


def pack(tmp_path):
    """One signature without a reference or confuser, with a fixture."""
    place = tmp_path / "pack/signatures/lab/one.yaml"
    place.parent.mkdir(parents=True)
    text = 'match: {exception: LabError, message: "first thing", frames: ["lab.py:step"]}\nfixes: [{kind: ask, title: "?"}]\n'
    place.write_text(HEAD.format(name="one") + text)
    fixture = tmp_path / "pack/fixtures/lab/one/first.log"
    fixture.parent.mkdir(parents=True)
    fixture.write_text(LOG.format(said="the first thing"))
    return tmp_path / "pack"


def test_counts_by_area_kind_and_what_lacks(triage, tmp_path):
    """Of all signatures in use."""
    said = triage("signatures", "stats", "--signatures", pack(tmp_path))
    assert said.status == 0
    rows = said.out.splitlines()

    def row(label):
        (found,) = [line for line in rows if line.startswith(label)]
        return found

    for label, counted in (("areas", "lab 1"), ("roles", "root"), ("conditions", "frames"), ("fixes", "ask")):
        assert counted in row(label)
    assert "lab/one" in row("no confuser")
    assert "lab/one" in row("no reference")
    assert "lab/one" not in row("no fixture")


def test_folder_of_logs_is_counted_and_clustered(triage, tmp_path):
    """How many failures are explained, what the others say, and one example of each kind."""
    logs = tmp_path / "logs/old"
    logs.mkdir(parents=True)
    (logs / "a.log").write_text(LOG.format(said="the first thing"))
    (logs / "b.log").write_text(LOG.format(said="the second thing on TP3, token hf_" + "a1" * 17))
    (logs / "c.log.gz").write_bytes(
        gzip.compress(LOG.format(said="the second thing on TP5, token hf_" + "b2" * 17).encode())
    )
    (logs / "d.log").write_text("The server is fired up and ready to roll!\n")
    (logs / "e.log").write_text("")
    said = triage("signatures", "stats", "--logs", tmp_path / "logs", "--signatures", pack(tmp_path))
    lines = said.out.splitlines()
    assert lines[0] == "5 logs, 4 runs: failed 3, healthy 1"
    assert lines[1] == "of 3 failures 33% are explained: unknown 2, certain 1"
    assert lines[2] == "by lab/one 1"
    assert "not explained, 2 kinds:" in lines
    assert any(line.strip().startswith("1  v1:") and "LabError: the second thing" in line for line in lines)
    assert "hf_a1" not in said.out
    assert "       in old/b.log" in lines
    assert lines[-1].startswith("not read: old/e.log: ")


def test_what_is_no_folder_is_said(triage, tmp_path):
    """Or holds nothing."""
    (tmp_path / "empty").mkdir()
    for place, said in ((tmp_path / "none", "is no folder"), (tmp_path / "empty", "holds no logs")):
        found = triage("signatures", "stats", "--logs", place)
        assert (found.status, said in found.err) == (2, True)
