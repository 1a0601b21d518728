"""Paths of frames against patterns: whole components from the end, globs in one, `**` for any number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.library.globs import path_fits
from triage.library.parse import parse_file

PATH = "/opt/venv/lib/python3.12/site-packages/sglang/srt/layers/attention/triton_backend.py"


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("triton_backend.py", True),
        ("backend.py", False),
        ("attention/triton_backend.py", True),
        ("attention/*_backend.py", True),
        ("srt/*_backend.py", False),
        ("sglang/srt/**/triton_backend.py", True),
        ("sglang/srt/layers/attention/**/triton_backend.py", True),
        ("sglang/srt/**", True),
        ("sglang/**/attention/*.py", True),
        ("srt/**/layers/**", False),
        ("vllm/**", False),
        ("lang/srt/**", False),
        ("**/triton_backend.py", True),
        ("**", True),
        ("sglang/srt/layers/attention/triton_backend.py/**", False),
    ],
)
def test_a_pattern_names_the_end_of_a_path(pattern, fits):
    """Two stars stand for any number of folders, none too; and for the file where they come last."""
    assert path_fits(pattern, PATH) is fits


@given(st.lists(st.sampled_from(["a", "b", "c.py"]), max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_two_stars_take_whatever_stands_between(parts, one, other):
    """Whatever is cut out of a path, two stars in its place fit the path again."""
    low, high = sorted((one, other))
    pattern = "/".join([*parts[:low], "**", *parts[high:]])
    if parts and parts[high:]:
        assert path_fits(pattern, "/".join(["x", *parts]))


@pytest.mark.parametrize("frame", ["sglang/**/x/**/y.py:f", "sglang/sr**/y.py:f", "sglang/**.py:f", "a/***/b.py:f"])
def test_two_stars_are_a_component_and_stand_once(frame, tmp_path):
    """More of them could take too long on a path that somebody made up."""
    file = tmp_path / "lab/x.yaml"
    file.parent.mkdir()
    file.write_text(f'format: 1\nid: lab/x\ntitle: "x"\nmatch: {{frames: ["{frame}"]}}\ncause: "x"\n')
    assert "whole component" in str(parse_file(file)[1][0])
