"""Releases that a traceback can come from, on a small table and on the one that ships."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Frame
from triage.releases import releases_of, table
from triage.releases.frames import own_file

HOME = "/opt/venv/lib/python3.12/site-packages/sglang/srt"
# A run ends in the pool, where a row is missing; the first release calls `step`, the last one `advance`.
RUN = (
    "loop.py | scheduler.loop() | run",
    "loop.py | self.step( | loop",
    "loop.py | .take(limit) | step",
    "pool.py | rows[limit] | take",
)
LAST = (*RUN[:1], "loop.py | self.advance( | loop", "loop.py | .take(int(limit)) | advance", RUN[3])
BUILD = ("loop.py | = Scheduler( | run", "loop.py | = Pool( | __init__", "pool.py | [0] * size | __init__")


@pytest.mark.parametrize(("release", "frames"), [("0.4.0", RUN), ("0.4.1", RUN), ("0.4.1.post1", LAST)])
def test_release_whose_lines_agree(made, stack, release, frames):
    """One, where a function stood elsewhere in the others, or was called by another name from the same line."""
    reading = releases_of(stack(release, *frames), known=made)
    assert (reading.candidates, reading.frames_used, reading.probable) == ([release], 4, False)


def test_releases_that_are_alike_are_all_candidates(made, stack):
    """Oldest first."""
    assert releases_of(stack("0.4.1", *BUILD), known=made).candidates == ["0.4.1", "0.4.1.post1"]


def test_more_stacks_leave_fewer_candidates(made, stack):
    """All of one service are of one release."""
    assert releases_of(stack("0.4.1", *BUILD), stack("0.4.1", *RUN), known=made).candidates == ["0.4.1"]
    reading = releases_of(stack("0.4.0", *RUN), stack("0.4.1", *RUN), known=made)
    assert reading.candidates == []


def test_frames_of_other_packages_are_passed_over(made, stack):
    """Of torch, of the standard library, and lambdas of SGLang itself."""
    frames = stack("0.4.0", *RUN)
    frames.insert(2, Frame("/usr/lib/python3.12/contextlib.py", 81, "inner"))
    frames.insert(3, Frame(f"{HOME}/loop.py", 999, "<lambda>"))
    reading = releases_of(frames, known=made)
    assert (reading.candidates, reading.frames_used) == (["0.4.0"], 4)


def test_one_frame_that_no_release_has_is_enough_to_claim_none(made, stack):
    """An edited file is no release; the frame is named."""
    reading = releases_of(stack("0.4.0", *RUN[:3], "pool.py | 900 | take"), known=made)
    assert reading.candidates == []
    assert "sglang/srt/pool.py:900 in take" in reading.reason


def test_a_caller_stands_on_a_line_that_calls(made, stack):
    """The innermost frame may stand on any line of its function, since a signal may meet it there."""
    inner = "loop.py | self.limit = 7 | __init__"
    assert releases_of(stack("0.4.0", *RUN), stack("0.4.0", inner), known=made).candidates == ["0.4.0"]
    assert releases_of(stack("0.4.0", *RUN), stack("0.4.0", inner, BUILD[2]), known=made).candidates == ["0.4.0"]
    docstring = "loop.py | 8 | __init__"
    assert releases_of(stack("0.4.0", *RUN), stack("0.4.0", docstring, BUILD[2]), known=made).candidates == []


@pytest.mark.parametrize(
    "frame", ["new.py | 1 | run", "loop.py | 21 | walk", "loop.py | 0 | run", "loop.py | 9999999 | run"]
)
def test_unknown_places_agree_with_none(made, stack, frame):
    """A file, a function or a line that no release has."""
    assert releases_of(stack("0.4.0", frame, *RUN), known=made).candidates == []


def test_few_frames_claim_nothing(made, stack):
    """A line agrees by chance too easily."""
    reading = releases_of(stack("0.4.0", RUN[0]), known=made)
    assert (reading.candidates, reading.reason) == ([], "too few frames to tell the release")


def test_source_checkout_is_only_probable(made, stack):
    """Its files may differ from those of the release that they resemble."""
    reading = releases_of(stack("0.4.0", *RUN, home="/sgl-workspace/sglang/python/sglang/srt"), known=made)
    assert (reading.candidates, reading.probable) == (["0.4.0"], True)


def test_no_frames_at_all(made):
    """Nothing is asked of the table."""
    assert releases_of([], known=made).reason == "no frame of SGLang's own code"
    assert releases_of([Frame("/x/torch/nn.py", 3, "forward")], known=made).frames_used == 0


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/usr/lib/python3/dist-packages/sglang/srt/utils.py", "sglang/srt/utils.py"),
        ("/sgl-workspace/sglang/python/sglang/srt/a/b.py", "sglang/srt/a/b.py"),
        ("sglang/launch_server.py", "sglang/launch_server.py"),
        ("/opt/sglang/venv/lib/python3.11/site-packages/torch/nn.py", None),
        ("/opt/sglang/srt/x.so", None),
        ("/opt/mysglang/srt/x.py", None),
        ("/site-packages/sglang/multimodal_gen/runtime/x.py", None),
        ("<string>", None),
        ("/" + "sglang/" * 10_000 + "x.py", None),
    ],
)
def test_own_files(path, own):
    """Below the last folder of that name, in the parts of the package that are in the table."""
    assert own_file(path) == own


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.builds(
            Frame,
            st.sampled_from([f"{HOME}/loop.py", f"{HOME}/managers/scheduler.py", "sglang/srt/pool.py", "x", ""])
            | st.text(max_size=30),
            st.none() | st.integers(-5, 10**20),
            st.sampled_from(["run", "loop", "__init__", "<module>", "<lambda>", "A.b.loop", ""]) | st.text(max_size=10),
        ),
        max_size=8,
    )
)
def test_any_frames_give_an_answer(frames):
    """What a log says is never an error."""
    reading = releases_of(frames)
    assert set(reading.candidates) <= set(table().releases)
    assert reading.reason
