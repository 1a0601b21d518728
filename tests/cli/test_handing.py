"""`--exec`: the command gets each failure, and following never waits for it."""

import json
import time

import pytest

from triage.cli import handing
from triage.cli.handing import Hand
from triage.model import TriageError


@pytest.fixture
def program(tmp_path):
    """A program that notes its arguments and its input, each in a line."""

    def make(script="cat >> {folder}/got; echo >> {folder}/got"):
        file = tmp_path / "program"
        file.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#:$*" >> {tmp_path}/args\n{script.format(folder=tmp_path)}\n')
        file.chmod(0o755)
        return file

    return make


def test_it_gets_the_document_and_its_own_words_only(program, tmp_path):
    """No shell: what the user quoted is one word, and a log's text is on standard input, nowhere else."""
    hand = Hand(f"{program()} 'a b' $(id) ;")
    hand.give('{"text": "; rm -rf / $(id)"}')
    hand.close(wait=True)
    assert (tmp_path / "args").read_text() == "3:a b $(id) ;\n"
    assert json.loads((tmp_path / "got").read_text()) == {"text": "; rm -rf / $(id)"}


def test_one_after_the_other(program, tmp_path):
    """In the order in which failures were told."""
    hand = Hand(str(program()))
    for n in range(5):
        hand.give(f'"{n}"')
    hand.close(wait=True)
    assert (tmp_path / "got").read_text().split() == [f'"{n}"' for n in range(5)]


def test_a_slow_command_holds_nothing_up(program, capsys):
    """What is too much is dropped and counted; the command is ended at the end."""
    hand = Hand(str(program("exec sleep 600")))
    before = time.monotonic()
    for _ in range(handing._WAITING + 5):
        hand.give("{}")
    assert "is too slow" in capsys.readouterr().err
    hand.close(wait=False)
    hand._thread.join(20)
    assert not hand._thread.is_alive()
    assert time.monotonic() - before < 60


def test_a_command_that_takes_too_long_is_ended(program, capsys, monkeypatch):
    """With all that it started, and the next failure is handed over."""
    monkeypatch.setattr(handing, "TIMEOUT", 0.2)
    hand = Hand(str(program("sleep 600 & sleep 600")))
    hand.give("{}")
    hand.give("{}")
    hand.close(wait=True)
    assert capsys.readouterr().err.count("took longer than 0 s and was ended") == 2


def test_a_command_that_fails_is_told_of(program, capsys):
    """And that reads nothing too."""
    hand = Hand(str(program("exit 3")))
    hand.give("x" * 1_000_000)
    hand.close(wait=True)
    assert "ended with status 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "why"),
    [("", "needs a command"), ("'a", "no closing quotation"), ("nothing-of-the-kind x", "there is no program nothing")],
)
def test_what_cannot_be_run_is_said_at_once(command, why):
    """Not at the first failure, in the night."""
    with pytest.raises(TriageError, match=why):
        Hand(command)
