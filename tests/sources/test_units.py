"""Names of units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources.query import JournalQuery
from triage.sources.units import complete, is_pattern, list_units, near, no_unit, resolve_units, unknown_unit

KNOWN = {
    "sglang-k26-pp8.service", "sglang-k26-pp4.service", "sglang@1.service", "sglang@42.service", "sglang.slice",
    "nginx.service", "docker.socket", "init.scope", "vllm.service",
}  # fmt: skip


def test_completes_names_as_systemctl_does():
    """A name without a known suffix is a service's."""
    assert complete("sglang") == "sglang.service"
    assert complete("sglang.service") == "sglang.service"
    assert complete("sglang@a.b") == "sglang@a.b.service"
    assert complete("gpu.slice") == "gpu.slice"
    assert complete(r"dev-disk\x2dby.mount") == r"dev-disk\x2dby.mount"


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a\0", "x" * 256, "a;b", "$(id)", "a=b"])
def test_refuses_names_that_no_unit_can_have(name):
    """systemd's own character rules hold."""
    with pytest.raises(TriageError, match="cannot be the name of a unit"):
        complete(name)


def test_patterns_stand_for_the_units_that_fit():
    """A pattern finds services before other kinds of units, each once."""
    assert resolve_units(["sglang@*"], KNOWN) == ["sglang@1.service", "sglang@42.service"]
    assert resolve_units(["sglang*"], KNOWN) == [
        "sglang-k26-pp4.service", "sglang-k26-pp8.service", "sglang@1.service", "sglang@42.service",
    ]  # fmt: skip
    assert resolve_units(["*.socket"], KNOWN) == ["docker.socket"]
    assert resolve_units(["sglang@?", "sglang@1"], KNOWN) == ["sglang@1.service"]
    assert is_pattern("sglang@[12]")


def test_names_are_taken_as_they_are():
    """A name that is not a pattern is only completed: whether it is there is asked elsewhere."""
    assert resolve_units(["nope", "vllm"], KNOWN) == ["nope.service", "vllm.service"]


def test_a_pattern_that_fits_nothing_is_an_error():
    """It names units that may have been meant."""
    with pytest.raises(TriageError, match=r"no unit in this journal fits 'sglang-k27\*'; did you mean sglang-k26-pp4"):
        resolve_units(["sglang-k27*"], KNOWN)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("sglang-k26-pp9", "sglang-k26-pp4.service"),
        ("sglang-k26pp8.service", "sglang-k26-pp8.service"),
        ("sglng-k26-pp8", "sglang-k26-pp8.service"),
        ("ngnix", "nginx.service"),
        ("SGLANG@42", "sglang@42.service"),
        ("k26", "sglang-k26-pp4.service"),
    ],
)
def test_finds_near_names(name, first):
    """Typing errors and parts of a name lead to the unit."""
    assert near(name, KNOWN)[0] == first


def test_far_names_are_not_offered():
    """What is not alike is no help."""
    assert near("postgresql", KNOWN) == []
    assert near("", []) == []


def test_an_unknown_unit_is_told_with_what_to_do():
    """Near names, the other manager, or that there is nothing at all."""
    assert str(unknown_unit("sglang-k26-pp9.service", KNOWN, (), user=False)).startswith(
        "no unit sglang-k26-pp9.service in this journal; did you mean sglang-k26-pp"
    )
    assert "add --user" in str(unknown_unit("a.service", KNOWN, {"a.service"}, user=False))
    assert "leave out --user" in str(unknown_unit("a.service", KNOWN, {"a.service"}, user=True))
    far = str(unknown_unit("postgresql.service", KNOWN, (), user=False))
    assert far.endswith(
        "; there are sglang-k26-pp4.service, sglang-k26-pp8.service, sglang@1.service, sglang@42.service, vllm.service and 1 more"
    )
    assert str(unknown_unit("a.service", (), (), user=False)).endswith("in this journal, nor any other")


def test_where_no_unit_is_named_some_are_shown():
    """Those of engines stand first; of an empty journal nothing is claimed."""
    assert str(no_unit({"a.service", "b.socket", "sglang.service"})) == (
        "which unit? `triage journal NAME`; there are sglang.service, a.service"
    )
    assert str(no_unit(())) == "which unit? `triage journal NAME`"


def test_lists_the_units_of_a_journal(no_systemd, journal_dir):
    """Units that only systemd speaks of are there too, and user units apart."""
    found = list_units(JournalQuery(directory=journal_dir("lab")))
    assert {"sg-203exec.service", "sg-pp8.service", "sg-segv.service"} <= set(found)
    assert found == sorted(found)
    users = list_units(JournalQuery(directory=journal_dir("user"), user=True))
    assert {"sg-203exec.service", "sg-exit1.service", "sg-kill9.service"} <= set(users)


@given(st.text(max_size=30), st.lists(st.text(alphabet="abc@-.*", min_size=1, max_size=12), max_size=6))
def test_any_names_are_near_or_not(name, known):
    """Nothing is raised, and only names that there are come back."""
    assert set(near(name, known)) <= set(known)
