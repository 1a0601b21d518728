"""Logs made fit to be shared: nobody's secrets, hosts or source code, and still the same failure."""

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.authoring.draft.standins import shareable
from triage.model import ExceptionInfo, Failure, Frame, Incident, Member, Position

TRACEBACK = """\
Traceback (most recent call last):
  File "/venv/site-packages/sglang/a.py", line 1, in run
    secret_algorithm(weights, sauce=42)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/venv/site-packages/sglang/b.py", line 2, in step
    return more_secrets[index]
           ~~~~~~~~~~~~^^^^^^^
IndexError: list index out of range
"""
FRAMES = [
    Frame("/venv/site-packages/sglang/a.py", 1, "run", "secret_algorithm(weights, sauce=42)"),
    Frame("/venv/site-packages/sglang/b.py", 2, "step", "return more_secrets[index]"),
]


def incident(frames=(), host=None):
    """An incident with one failure of these frames."""
    failure = Failure("f1", "exception", "traceback", "v1:1", Position(host=host))
    failure.exception = ExceptionInfo("IndexError", "list index out of range", list(frames))
    return Incident("log", members=[Member(host)], failures=[failure])


def test_source_lines_become_calls_of_the_next_frame():
    """What the code did stays readable; the code does not."""
    text, _ = shareable(TRACEBACK, incident(FRAMES))
    assert "    out = owner.step(item)\n" in text
    assert "    raise IndexError(message)\n" in text
    assert "secret" not in text
    assert text.count("\n") == TRACEBACK.count("\n")
    assert "    ^^^^" in text


def test_source_lines_nobody_read_are_replaced_too():
    """Of a traceback that is part of no failure, of several lines, and of warnings."""
    other = TRACEBACK.replace("secret_algorithm(weights, sauce=42)", "secret_algorithm(\n        weights,\n    )")
    warning = "/x/awq.py:77: UserWarning: no AWQ\n  warnings.warn(secret)\nnext line\n"
    text, _ = shareable(other + warning, incident())
    assert "secret" not in text
    assert text.endswith("  <source line>\nnext line\n")


def test_prefixes_do_not_hide_source_lines():
    """Also where a second passes between a frame and its source."""
    head = "Nov 20 09:46:{:02} gpu-a python[857]: "
    lines = "".join(head.format(second) + line + "\n" for second, line in enumerate(TRACEBACK.splitlines()))
    for frames in (FRAMES, ()):
        text, _ = shareable(lines, incident(frames))
        assert "secret" not in text
        assert "Nov 20 09:46:07 gpu-a python[857]: IndexError: list index out of range\n" in text


def test_equal_source_lines_stay_equal_and_different_ones_different():
    """Mixed tracebacks of several ranks are told apart by them."""
    frames = [
        Frame("a.py", 1, "run", "x = first.step()"),
        Frame("b.py", 2, "step", "y = second.step()"),
        Frame("c.py", 3, "step", "raise IndexError"),
    ]
    lines = "".join(f'  File "{one.file}", line {one.line}, in {one.function}\n    {one.text}\n' for one in frames)
    text, _ = shareable(lines + lines, incident(frames))
    half = text[: len(text) // 2]
    assert text == half + half
    assert len({line for line in half.splitlines() if line.startswith("    ")}) == 3


def test_hosts_and_secrets_are_masked_in_their_own_form():
    """So that prefixes and addresses are still read as what they are."""
    line = "Nov 20 09:46:02 gpu-prod-7 python[1]: HF_TOKEN=hf_abcdefghij0123456789abcd from 10.1.2.3:5000 in /home/alice/m\n"
    text, count = shareable(line, incident(host="gpu-prod-7"))
    assert text.startswith("Nov 20 09:46:02 node-1 python[1]: HF_TOKEN=<")
    assert "192.0.2.1:5000 in /home/user1/m" in text
    assert count == 4


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_keeps_its_lines(text):
    """Nothing is raised, and no line is lost."""
    found, _ = shareable(text, incident(FRAMES))
    assert len(found.splitlines()) <= len(text.splitlines()) or "-----BEGIN" in text
