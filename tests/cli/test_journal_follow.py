"""`triage journal -f`: what is asked for, what is printed, and what is handed on."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from triage.model import Entry, TriageError
from triage.sources import ongoing

ROOT = Path(__file__).parents[2]
MANAGER = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": "x.service"}
EXITED = {**MANAGER, "MESSAGE_ID": "98e322203f7a4ed290d09fe03c09fe15", "EXIT_CODE": "exited", "EXIT_STATUS": "3"}


def run_of(number, host, error="boom"):
    """The entries of a run that raises an exception and exits with 3."""
    own = {
        "_SYSTEMD_UNIT": "x.service",
        "_SYSTEMD_INVOCATION_ID": f"{number:032}",
        "_PID": f"{number}",
        "_TRANSPORT": "stdout",
    }
    about = {"INVOCATION_ID": f"{number:032}"}
    rows = [
        {**MANAGER, **about, "MESSAGE_ID": "39f53479d3a045ac8e11786248231fbf", "MESSAGE": "Started x.service."},
        {**own, "MESSAGE": "Traceback (most recent call last):"},
        {**own, "MESSAGE": '  File "/opt/a.py", line 3, in run'},
        {**own, "MESSAGE": f"ValueError: {error}"},
        {**EXITED, **about, "MESSAGE": "x.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED"},
        {**MANAGER, **about, "MESSAGE": "x.service: Failed with result 'exit-code'.", "UNIT_RESULT": "exit-code",
         "MESSAGE_ID": "d9b373ed55a64feb8242e02dbe79a49c"},
    ]  # fmt: skip
    start = 1_790_000_000_000_000 + number * 60_000_000
    return [
        Entry({**row, "_HOSTNAME": host, "_BOOT_ID": "b"}, start + n * 1000, f"{host}{number}{n}", n)
        for n, row in enumerate(rows)
    ]


@pytest.fixture
def followed(triage, monkeypatch):
    """Run `triage journal x -f ...` on the batches of each host; the feeds end after them."""

    def run(batches, *words):
        closed = []
        hosts = iter(batches)

        def opened(query, say):
            name = "journal" if query.remote is None else f"journal ssh://{query.remote.host}"
            feed = SimpleNamespace(close=lambda: closed.append(name))
            mine = next(hosts)
            return SimpleNamespace(name=name, feed=feed, gaps=[], notes=[], batches=lambda select: iter(mine))

        monkeypatch.setattr(ongoing, "open_ongoing", opened)
        monkeypatch.setattr("triage.sources.live.state_of", lambda query, unit: None)
        said = triage("journal", "x", "-f", *words)
        assert len(closed) == len(batches)
        return said

    return run


@pytest.fixture
def hosts(monkeypatch):
    """Two hosts that can be reached, and one that cannot."""

    class Host:
        def __init__(self, host):
            self.host = self.name = host
            self.gaps = []

        def __enter__(self):
            if self.host == "gone":
                raise TriageError("gone: it does not answer")
            return self

        def __exit__(self, *_): ...

    monkeypatch.setattr("triage.sources.remote.Remote", Host)


def test_each_failure_is_told_once_and_then_counted(followed):
    """By its fingerprint, over restarts."""
    said = followed([[run_of(1, "n"), run_of(2, "n"), run_of(3, "n", "other")]])
    assert said.status == 3
    assert said.out.count("✗ x.service failed") == 2
    assert "ValueError: boom" in said.flat
    assert "2 times so far" in said.out


def test_programs_get_an_incident_a_line(followed):
    """With --format jsonl or -o."""
    said = followed([[run_of(1, "n"), run_of(2, "n")]], "-o", "jsonl")
    documents = [json.loads(line) for line in said.out.splitlines()]
    assert [document["verdicts"][0]["failure"] is not None for document in documents] == [True, True]


def test_a_command_gets_the_same(followed, tmp_path):
    """On standard input; what is printed stays text."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat >> {tmp_path}/got\n")
    program.chmod(0o755)
    said = followed([[run_of(1, "n"), run_of(2, "n")]], "--exec", str(program))
    documents = [json.loads(line) for line in (tmp_path / "got").read_text().splitlines()]
    assert [document["incidents"][-1]["outcome"] for document in documents] == ["failed", "failed"]
    assert said.out.startswith("✗ x.service failed")


def test_several_hosts_are_told_apart(followed, hosts):
    """The same failure on another host is the same failure; each line names its host."""
    said = followed([[run_of(1, "gpu-07")], [run_of(2, "gpu-08")]], "-H", "gpu-07", "-H", "root@gpu-08")
    assert said.out.count("✗ x.service failed") == 1
    (again,) = [line for line in said.out.splitlines() if "times so far" in line]
    assert "x.service on gpu-0" in again
    assert "on gpu-07" in said.flat
    assert "ssh gpu-07 'journalctl -u x.service" in said.flat or "ssh root@gpu-08 'journalctl" in said.flat
    assert "on gpu-08" in said.flat


def test_a_host_out_of_reach_is_told_of_and_the_others_are_read(followed, hosts):
    """As long as there is one."""
    said = followed([[run_of(1, "gpu-07")]], "-H", "gone", "-H", "gpu-07")
    assert "triage: gone: it does not answer" in said.err
    assert "ValueError: boom" in said.flat


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-f", "-o", "html"], "-f prints text or jsonl"),
        (["-f", "--explain"], "-f does not go with --explain"),
        (["-f", "--until", "now"], "goes on for ever"),
        (["--exec", "true"], "--exec goes with -f"),
        (["-H", "-oProxyCommand=id"], "not a host"),
        (["-H", "gpu-07", "-D", "/j"], "goes with none of -D"),
        (["-H", "gone"], "gone: it does not answer"),
        (["-H", "gone", "-H", "gone2@"], "not a host"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(triage, hosts, words, why, monkeypatch):
    """With status 2."""
    if why == "not a host":
        monkeypatch.undo()
    said = triage("journal", "x", *_joined(words))
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert why in said.err


def _joined(words):
    """argparse takes a value that begins with `-` only as part of its option."""
    out = []
    for word in words:
        if out and out[-1] == "-H":
            out[-1] = f"-H{word}"
        else:
            out.append(word)
    return out
