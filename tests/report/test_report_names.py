"""Ranks, frames and commands in short."""

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import Frame
from triage.report.names import command, frame, places, ranks, short_file


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([], ""),
        (["PP3"], "PP3"),
        (["PP3", "PP2", "PP4", "PP7", "PP5", "PP6"], "PP2-PP7"),
        ([f"TP{n}" for n in range(8)], "TP0-TP7"),
        (["PP6", "PP4"], "PP4, PP6"),
        (["PP3 TP1"], "PP3 TP1"),
        ([f"PP3 TP{n}" for n in range(4)], "PP3 TP0-TP3"),
        ([f"PP{p} TP{t}" for p in range(2) for t in range(4)], "PP0-PP1 TP0-TP3"),
        (["PP0 TP0", "PP0 TP1", "PP1 TP3"], "PP0 TP0-TP1, PP1 TP3"),
        (["DP1 TP0 EP4", "DP1 TP1 EP5"], "DP1 TP0 EP4, DP1 TP1 EP5"),
        (["rank0", "rank1", "rank3"], "rank0-rank1, rank3"),
        (["TP1", "TP1"], "TP1"),
        (["encode_server", "TP0"], "TP0, encode_server"),
        ([f"TP{n}" for n in range(0, 20, 2)], "TP0, TP2, TP4, TP6, TP8, TP10 and 4 more"),
        (["evil\x1b[31m"], "evil\\x1b[31m"),
    ],
)
def test_ranks_are_folded(labels, text):
    """Neighbours become a range, dimensions stay apart."""
    assert ranks(labels) == text


@given(st.lists(st.text() | st.from_regex(r"\A[TP]P[0-9]{1,3}( TP[0-9])?\Z")))
def test_any_labels_can_be_folded(labels):
    """Labels come from logs."""
    assert "\n" not in ranks(labels)


@pytest.mark.parametrize(
    ("file", "short"),
    [
        (
            "/opt/v/lib/python3.11/site-packages/sglang/srt/layers/attention/triton_backend.py",
            "layers/attention/triton_backend.py",
        ),
        ("/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py", "managers/scheduler.py"),
        ("/usr/local/lib/python3.10/dist-packages/vllm/v1/engine/core.py", "vllm/v1/engine/core.py"),
        ("/usr/local/lib/python3.10/dist-packages/torch/cuda/__init__.py", "torch/cuda/__init__.py"),
        ("/usr/lib/python3.11/multiprocessing/resource_tracker.py", "multiprocessing/resource_tracker.py"),
        ("/opt/v/lib/python3.11/site-packages/sglang/launch_server.py", "sglang/launch_server.py"),
        ("/home/a/run.py", "/home/a/run.py"),
        ("<string>", "<string>"),
    ],
)
def test_files_are_named_below_their_package(file, short):
    """What stands before a package depends on the machine."""
    assert short_file(file) == short


def test_places_are_the_engines_own():
    """Where it raised, where in the engine that was, and who called there."""
    inside = [
        Frame("/x/site-packages/sglang/srt/managers/scheduler.py", 10, "run"),
        Frame("/x/site-packages/sglang/srt/model_executor/model_runner.py", 20, "load"),
        Frame("/x/site-packages/sglang/srt/model_executor/model_runner.py", 30, "init"),
        Frame("/x/site-packages/torch/nn/linear.py", 40, "forward"),
        Frame("/x/site-packages/torch/nn/functional.py", 50, "linear"),
    ]
    assert [frame(found) for found in places(inside)] == [
        "torch/nn/functional.py:50 linear",
        "model_executor/model_runner.py:30 init",
        "managers/scheduler.py:10 run",
    ]
    assert places([]) == []
    assert frame(Frame("a.py", None, "f")) == "a.py f"


def test_commands_can_be_copied():
    """Every argument survives a shell."""
    arguments = ["pip", "install", "sglang>=0.5.18", "it's", "", "a b", "$HOME", "~", "x;y", "--flag=`id`"]
    assert shlex.split(command(arguments)) == arguments


@given(
    st.lists(
        st.text(alphabet=st.characters(min_codepoint=1, max_codepoint=0x2FF, exclude_categories=("Cs",)), max_size=8),
        min_size=1,
        max_size=3,
    )
)
def test_commands_hold_no_hidden_characters(arguments):
    """A control character in an argument is written as an escape that bash understands."""
    line = command(arguments)
    assert line.isprintable()


def test_bash_reads_escapes_as_they_were_meant():
    """An argument with a newline and an escape character comes back from bash as it was."""
    argument = "a\nb\x1b[0m'\\"
    done = subprocess.run(["bash", "-c", f"printf %s {command([argument])}"], capture_output=True, check=True)
    assert done.stdout.decode() == argument
