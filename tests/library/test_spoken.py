"""Regexes as a person reads them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.library.spoken import spoken


@pytest.mark.parametrize(
    ("regex", "said"),
    [
        (r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+)", "failed (exitcode: *) local_rank: *"),
        (r"No such file or directory: '(?P<path>[^']+)'", "No such file or directory: '*'"),
        (r"could not load (?:this|the) file", "could not load this/the file"),
        (r".*(?:failed|failure)\b", "*failed/failure"),
        (r"(?:Connection closed by peer|Broken pipe) \[", "Connection closed by peer or Broken pipe ["),
        (r"lib(?:hccl|ascendcl|ascend_hal|runtime|ge_runner|opapi|msprofiler)\.so", "libhccl or *.so"),
        (r"[Ss]cheduler '?(?P<name>\w+)'?\s+died", "scheduler * died"),
        (r"(?P<package>(?!torch)\w+) is missing", "* is missing"),
        (r"(\w+) and \1", "* and *"),
        (r"a(", "a("),
        (r".*", "*"),
    ],
)
def test_what_a_regex_wants_is_told_word_for_word(regex, said):
    """Groups, classes and repeats become a star, alternatives are joined, anchors and lookarounds are left out."""
    assert spoken(regex) == said


@given(st.text(max_size=40))
def test_text_that_is_no_pattern_stays_as_it_is(text):
    """An escaped text is told as the text, white space folded."""
    folded = " ".join(text.split())
    assert "*" in text or spoken(re.escape(folded)) == folded


@given(st.text(alphabet="ab(|)[]*+?\\d.^$", max_size=20))
def test_nothing_makes_it_raise(regex):
    """A regex that is none is shown as it was written."""
    assert isinstance(spoken(regex), str)
