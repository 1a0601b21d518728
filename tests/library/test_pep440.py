"""What is decided without `packaging` is what `packaging` decides."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from triage.library.pep440 import Plain, Range, version

NUMBERS = st.integers(0, 3).map(str)
RELEASES = st.lists(NUMBERS, min_size=1, max_size=4).map(".".join)
SUFFIXES = st.sampled_from(["", "", ".post0", ".post1", ".post2", "rc1", ".dev3", "a1.post1", ".post1.dev2", "-1", "+cu128", "+g1a2b3c"])  # fmt: skip
VERSIONS = st.builds(lambda release, suffix: release + suffix, RELEASES, SUFFIXES)
BOUNDS = st.builds(
    lambda operator, release, suffix: operator + release + suffix,
    st.sampled_from([">=", "<=", "<", ">", "==", "!=", "<", ">", ">= ", " <"]),
    RELEASES,
    st.sampled_from(["", "", ".post0", ".post1", ".post2", "rc1", ".dev3"]),
)
RANGES = st.lists(BOUNDS, min_size=1, max_size=3).map(",".join)


@given(VERSIONS)
def test_a_version_has_what_packaging_says_of_it(text):
    """Every attribute that is asked for."""
    ours, theirs = version(text), Version(text)
    for name in ("release", "post", "local", "public", "base_version", "is_prerelease", "major", "minor", "micro"):
        assert getattr(ours, name) == getattr(theirs, name)


@given(VERSIONS, VERSIONS)
def test_versions_are_ordered_as_packaging_orders_them(one, other):
    """Plain ones, others, and both kinds together."""
    assert (version(one) < version(other)) == (Version(one) < Version(other))
    assert (version(one) > version(other)) == (Version(one) > Version(other))


@given(RANGES, VERSIONS)
def test_a_range_holds_what_packaging_says(text, candidate):
    """Of public versions and base versions, as they are asked for."""
    found = Version(candidate)
    for asked in {found.public, found.base_version}:
        assert Range(text).contains(asked) == SpecifierSet(text).contains(asked, prereleases=True)


@given(RANGES)
def test_a_range_has_the_clauses_that_packaging_sees(text):
    """With their operators and versions as they are written."""
    ours = {(bound.operator, bound.version) for bound in Range(text)}
    assert ours == {(one.operator, one.version) for one in SpecifierSet(text)}


@pytest.mark.parametrize("text", ["1.0.x", "main", "", "1..0", "v", "1.0+", "1.0 .post1"])
def test_what_is_no_version_is_an_error(text):
    """As with packaging."""
    with pytest.raises(ValueError, match="ersion"):
        version(text)


@pytest.mark.parametrize("text", [">=1.0,", "~=1.4.2", "==1.4.*", ">=0.5, <0.6", ">=1.0,>=0.9"])
def test_other_ranges_are_left_to_packaging(text):
    """What is not plain is read all the same."""
    for asked in ("0.5.3", "0.9", "1.0", "1.4.2", "1.4.7"):
        assert Range(text).contains(asked) == SpecifierSet(text).contains(asked, prereleases=True)


def test_plain_releases_need_no_packaging():
    """The releases of SGLang and torch are compared without loading it."""
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}; from triage.library.releases import contains, verdict;"
        "print(contains(['>=0.4.6.post5,<0.5.18'], '0.5.6.post2'), contains(['<2.9'], '2.9.1+cu128'));"
        "print('packaging' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "True False\nFalse\n"
    assert isinstance(version("2.9.1+cu128"), Plain)
