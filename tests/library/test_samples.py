"""Whether a condition can ever hold, and whether one implies another."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.library.conditions import condition
from triage.library.samples import meet, narrower, satisfiable, within


@pytest.mark.parametrize("value", [">1", ">=8,<9", "!=a", "<=0", None, True, [1, 2], "tri*", ">1 GiB", "==0.5"])
def test_satisfiable(value):
    """Some value fits."""
    assert satisfiable(condition(value))


@pytest.mark.parametrize("value", [">8,<8", ">=3,<2", "==1,==2", "==a,!=a", ">2,<=2", [">3,<1", "==1,>4"]])
def test_unsatisfiable(value):
    """No value fits."""
    assert not satisfiable(condition(value))


@pytest.mark.parametrize(("value", "able"), [(">=0.5,<0.5.1", True), (">0.5.1,<0.5.1", False), (">=0.4,<0.3", False)])
def test_satisfiable_releases(value, able):
    """Compared by PEP 440."""
    assert satisfiable(condition(value), release=True) is able


@settings(deadline=None)
@given(st.integers(-50, 50), st.integers(-50, 50), st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.data())
def test_whole_numbers_are_decided_rightly(one, other, operator, data):
    """What is said of two comparisons holds for numbers that nobody named."""
    second = data.draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
    a, b = condition(f"{operator}{one}"), condition(f"{second}{other}")
    if narrower(a, b):
        assert all(b.holds(value) for value in range(-120, 120) if a.holds(value))
    both = condition(f"{operator}{one},{second}{other}")
    if not satisfiable(both):
        assert not any(both.holds(value) for value in range(-120, 120))


@pytest.mark.parametrize(
    ("one", "other", "there"),
    [
        ([">=0.5.2,<0.5.4"], ["<0.5.18"], True),
        (["<0.5"], [">=0.5"], False),
        ([">0.5,<0.5.1"], [">=0"], True),
        ([">=0.4.6.post5,<0.4.6.post5"], [">=0"], False),
        (["==0.5.*"], ["<0.5.9"], True),
        (["~=0.5.2"], [">=0.6"], False),
        (["<0.4", ">=0.6"], [">=0.5,<0.6"], False),
    ],
)
def test_ranges_meet(one, other, there):
    """A release that lies in both, or none."""
    assert meet(one, other) is there
    assert meet(other, one) is there


def test_range_within_another():
    """Every release of the one is in the other."""
    assert within([">=0.5.1,<0.5.3"], ["<0.6"])
    assert not within(["<0.6"], [">=0.5.1,<0.5.3"])
    assert within(["<0.4", ">=0.6"], ["!=0.5"])
