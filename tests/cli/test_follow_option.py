"""`triage -f`: what is printed, and when."""

import io
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import triage.report
from triage.cli import following
from triage.follow import Follower
from triage.library import load

ROOT = Path(__file__).parents[2]
DEMO = (ROOT / "demo" / "sglang-pp8.log").read_bytes()
SCHEMA = json.loads((Path(triage.report.__file__).parent / "schema.json").read_text())


@pytest.fixture
def piped(triage, monkeypatch):
    """Run `triage ...` with these blocks on standard input."""

    def run(blocks, *words):
        monkeypatch.setattr("triage.sources.tail.tail", lambda path: iter(blocks))
        return triage(*words)

    return run


def test_a_stream_is_told_of_as_text(piped):
    """The first failure whole, the same one again in one line."""
    said = piped([DEMO[:70_000], DEMO[70_000:]], "-f")
    assert said.status == 1
    assert said.out.count("sglang-pp8.service failed after the KV pool was ready") == 1
    (again,) = [line for line in said.out.splitlines() if "times so far" in line]
    assert "PP5 raised IndexError" in again
    assert again.endswith("(sglang/pp-triton-layer0-value-buffer), 2 times so far")


def test_a_stream_is_told_of_as_one_incident_a_line(piped):
    """Each a document of the report's own schema."""
    said = piped([DEMO[:70_000], DEMO[70_000:]], "-f", "--format", "jsonl")
    documents = [json.loads(line) for line in said.out.splitlines()]
    assert [len(document["incidents"]) for document in documents] == [1, 1]
    for document in documents:
        jsonschema.validate(document, SCHEMA)
        assert document["verdicts"][0]["failure"]


def test_the_exit_status_is_that_of_how_the_services_stand(piped):
    """Nothing wrong, failed and known, failed and unknown."""
    assert piped([b"hello\n"], "-f").status == 0
    assert piped([DEMO], "-f").status == 1
    assert (
        piped(
            [b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    x\nKeyError: 1\n'], "-f"
        ).status
        == 3
    )


def test_secrets_are_masked_in_every_line(piped):
    """Also in the short ones."""
    token = "hf_" + "a" * 34
    text = f"[2026-05-25 21:41:38] ERROR: bad token {token}\n[2026-05-25 21:41:40] The server is fired up and ready to roll!\n"
    said = piped([text.encode()], "-f")
    assert token not in said.out
    assert "hf-token" in said.out or "ready" not in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["logs", "-f", "a.log", "b.log"], "follows one log"),
        (["-f", "--format", "html"], "prints text or jsonl"),
        (["-f", "--explain"], "-f does not go with --explain"),
        (["-f", "--pod", "pod.json"], "without --pod"),
        (["logs", "-f", "/nowhere/x.log"], "no such file"),
    ],
)
def test_what_cannot_be_followed_is_said_in_one_line(triage, words, why):
    """With status 2."""
    said = triage(*words)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert why in said.err


def test_it_looks_when_nothing_has_come_for_a_while(monkeypatch):
    """The stream is still open when the failure is told."""
    monkeypatch.setattr(following, "LULL", 0.05)
    told = []

    def blocks():
        yield DEMO[:60_000]
        for _ in range(2000):
            if told:
                break
            following.time.sleep(0.01)
        yield b"more\n"
        yield from ()

    seen = []
    follower = Follower("x.log", load(standing=False))
    following.run(follower, blocks(), "x.log", lambda news: (told.append(news.kind), seen.append(len(told))))
    assert told[0] == "incident"


def test_an_error_of_the_reader_ends_it(monkeypatch):
    """After what was read is told."""

    def blocks():
        yield DEMO
        raise OSError("gone")

    told = []
    with pytest.raises(OSError, match="gone"):
        following.run(Follower("x.log", load(standing=False)), blocks(), "x.log", told.append)
    assert told


def test_a_real_pipe_is_followed_to_its_end():
    """As `kubectl logs -f ... | triage -f`."""
    done = subprocess.run(
        [sys.executable, "-m", "triage", "-f", "-o", "jsonl"], input=DEMO, capture_output=True, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stdout.splitlines()) == 2


def test_the_report_can_go_to_a_file(piped, tmp_path):
    """Each failure is in it as soon as it is told."""
    file = tmp_path / "out.txt"
    said = piped([DEMO], "-f", "--output-file", file)
    assert said.out == ""
    assert "PP2 raised IndexError" in file.read_text() or "PP5 raised IndexError" in file.read_text()


def test_texts_for_a_stream_of_another_encoding_are_escaped(monkeypatch):
    """A terminal that knows ASCII only."""
    import argparse

    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    args = argparse.Namespace(format="text", color="never", all_failures=False, no_mask=False)
    library = load(standing=False)
    follower = Follower("x.log", library)
    from triage.lines.live import LiveText

    text = LiveText("x.log")
    follower.feed(text.feed("[2026-05-25 21:41:38] ERROR: größer\n".encode()) + text.finish())
    teller = following.Teller(args, library, out)
    for news in follower.close():
        teller.tell(news)
    out.flush()
    assert out.buffer.getvalue().isascii()
