"""Flags of fixes, as the release at hand spells them."""

import pytest

from triage.library.flags import Spelling, known, spelt


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        ("--tp-size=2", {"sglang": "0.5.9"}, Spelling("--tp-size=2")),
        ("--cuda-graph-max-bs=8", {"sglang": "0.5.23"}, Spelling("--cuda-graph-max-bs-decode=8")),
        ("--cuda-graph-max-bs-decode=8", {"sglang": "0.5.2"}, Spelling("--cuda-graph-max-bs=8")),
        ("--disable-piecewise-cuda-graph", {"sglang": "0.5.20"}, Spelling("--cuda-graph-backend-prefill=disabled")),
        ("--pp=8", {"sglang": "0.5.9"}, Spelling("--pp-size=8")),
        ("--cuda-graph-max-bs=8", {}, Spelling("--cuda-graph-max-bs=8", "--cuda-graph-max-bs-decode=8 for sglang >=0.5.14")),
        ("--cuda-graph-max-bs=8", {"sglang": "0.5.9.dev3"}, Spelling("--cuda-graph-max-bs=8", "--cuda-graph-max-bs-decode=8 for sglang >=0.5.14")),
        ("--cuda-graph-max-bs", {"sglang_candidates": ["0.5.19", "0.5.20"]}, Spelling("--cuda-graph-max-bs", "--cuda-graph-max-bs-decode in some of these releases")),
        ("--cuda-graph-max-bs", {"sglang_candidates": ["0.5.20", "0.5.21"]}, Spelling("--cuda-graph-max-bs-decode")),
        ("--pp-size=8", {"sglang": "0.4.3"}, Spelling("--pp-size=8", gone="sglang 0.4.3 has no --pp-size (there in >=0.4.6.post2)")),
        ("--attention-backend=fa3", {"sglang": "0.4.0"}, Spelling("--attention-backend=fa3", gone="--attention-backend of sglang 0.4.0 does not take fa3")),
        ("--tp-size=2", {}, Spelling("--tp-size=2")),
        ("--tp=2", {}, Spelling("--tp=2")),
        ("--pp=2", {}, Spelling("--pp-size=2")),
        ("--pp-size=2", {}, Spelling("--pp-size=2")),
        ("--cuda-graph-max-bs=8", {"engine": "vllm"}, Spelling("--cuda-graph-max-bs=8")),
        ("--worker-urls=x", {"sglang": "0.5.9"}, Spelling("--worker-urls=x")),
    ],
)  # fmt: skip
def test_spelling(text, facts, expected):
    """Where the release is not known, both ways are said; what another program takes is left alone."""
    assert spelt(text, facts) == expected


def test_flag_that_stops_the_launch_is_gone():
    """The release has it only to say so."""
    assert spelt("--enable-ep-moe", {"sglang": "0.5.3"}).gone.startswith("sglang 0.5.3 refuses --enable-ep-moe")


@pytest.mark.parametrize(
    ("flag", "there"),
    [
        ("--tp", True),
        ("--pipeline-parallel-size", True),
        ("--gpu-memory-utilization", True),
        ("--max-model-len", True),
        ("--tensor-sise", False),
    ],
)
def test_known(flag, there):
    """Of any release of SGLang, by its name or an abbreviation, or of vLLM."""
    assert known(flag) is there
