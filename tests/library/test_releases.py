"""Releases against ranges."""

import pytest

from triage.library.releases import ask, contains, fixed_in, problem, verdict

RANGE = [">=0.4.6.post5,<0.5.18"]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.5.6.post2", True),
        ("0.4.6.post5", True),
        ("0.4.6.post4", False),
        ("0.5.17", True),
        ("0.5.17.post1", True),
        ("0.5.18", False),
        ("0.5.23", False),
        ("0.5.17+cu129", True),
        ("0.5.18+cu130", False),
        ("0.5.18.dev12+g1a2b3c4", None),
        ("0.5.18rc1", None),
        ("0.5.17+g1a2b3c4", None),
        ("0.5.19.dev3", None),
        ("0.5.12.dev1+gabc", True),
        ("0.5.23.dev1+gabc", False),
        ("0.4.6rc1", None),
        ("0.0.0.dev1+gabc", None),
        ("main", None),
        (None, None),
        (0.5, None),
        (["0.5.4", "0.5.6"], True),
        (["0.5.17", "0.5.18"], None),
    ],
)
def test_release_in_range(version, expected):
    """What is built from a source tree next to a boundary is unknown."""
    assert contains(RANGE, version) is expected


def test_any_of_several_ranges_is_enough():
    """A defect may come back."""
    ranges = ["<0.4.3", ">=0.5.2,<0.5.4"]
    assert [contains(ranges, version) for version in ("0.4.0", "0.4.6", "0.5.3", "0.5.9")] == [True, False, True, False]
    assert fixed_in(ranges, "0.5.3") == "0.5.4"
    assert fixed_in(ranges, "0.4.0") == "0.4.3"


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("0.5.6.post2", "you run sglang 0.5.6.post2; fixed in 0.5.18"),
        ("0.5.20", "you run sglang 0.5.20: you already have the fix of 0.5.18: look elsewhere"),
        ("0.4.0", "you run sglang 0.4.0, which is older than this defect: look elsewhere"),
        (None, "sglang's version unknown: run `pip show sglang`; fixed in 0.5.18"),
        ("0.5.18.dev3+gabc", "you run sglang 0.5.18.dev3+gabc, too near to the fix in 0.5.18 to tell"),
    ],
)
def test_verdict(version, sentence):
    """One sentence says what the release means."""
    assert verdict("sglang", RANGE, version) == sentence


def test_open_range_has_no_fix():
    """And says so."""
    assert fixed_in([">=0.5.2"]) == ""
    assert "no release with a fix is known" in verdict("sglang", [">=0.5.2"], "0.5.20")


def test_version_is_asked_of_the_services_own_interpreter():
    """If its path is a plain one."""
    assert ask("sglang", "/opt/venv/bin/python3") == "/opt/venv/bin/python3 -m pip show sglang"
    assert ask("sglang", "/opt/x y;rm/python") == "pip show sglang"
    assert ask("sglang", None) == "pip show sglang"


@pytest.mark.parametrize(
    ("text", "good"), [(">=0.5,<0.6", True), ("==0.5.*", True), ("newest", False), ("0.5.2", False), ("", False)]
)
def test_range_is_checked(text, good):
    """As PEP 440 has it."""
    assert (problem(text) == "") is good
