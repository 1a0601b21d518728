"""Queries of the journal and the matches that they become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources.query import (
    JournalQuery,
    conjoin,
    conjoin_all,
    invocation_groups,
    manager_groups,
    match_groups,
    matches,
    other_groups,
    output_groups,
)


def test_a_unit_is_its_output_and_what_is_said_of_it():
    """The exec child's lines have no `_PID=1` and no unit of their own: `UNIT=` and root are what counts."""
    unit = "sglang.service"
    groups = [*output_groups(unit), *manager_groups(unit), *other_groups(unit)]
    assert matches(groups, {"_SYSTEMD_UNIT": unit, "MESSAGE": "x"})
    assert matches(groups, {"UNIT": unit, "_UID": "0", "_PID": "4243", "SYSLOG_IDENTIFIER": "(python)"})
    assert matches(groups, {"OBJECT_SYSTEMD_UNIT": unit, "_UID": "0", "N_DROPPED": "7"})


def test_nobody_else_speaks_for_a_unit():
    """An ordinary user's line that names the unit in its own fields is not taken for systemd's."""
    unit = "sglang.service"
    groups = [*output_groups(unit), *manager_groups(unit), *other_groups(unit)]
    core = {"MESSAGE_ID": "fc2e22bc6ee647b6b90729ab34a250b1", "COREDUMP_UNIT": unit, "_UID": "1000"}
    assert not matches(groups, {"UNIT": unit, "_UID": "1000", "_SYSTEMD_UNIT": "evil.service"})
    assert not matches(groups, core)
    assert matches(groups, {**core, "_UID": "997", "_SYSTEMD_SLICE": r"system-systemd\x2dcoredump.slice"})


def test_user_units_have_fields_of_their_own():
    """A user's unit is found by the user fields, of one user where that is asked for."""
    groups = [*output_groups("x.service", user=True, uid=1000), *manager_groups("x.service", user=True, uid=1000)]
    assert matches(groups, {"_SYSTEMD_USER_UNIT": "x.service", "_UID": "1000"})
    assert not matches(groups, {"_SYSTEMD_USER_UNIT": "x.service", "_UID": "1001"})
    assert not matches(groups, {"_SYSTEMD_UNIT": "x.service", "_UID": "1000"})


def test_a_slice_is_all_units_in_it():
    """As in journalctl, a slice's name matches what runs in it."""
    assert matches(output_groups("gpu.slice"), {"_SYSTEMD_SLICE": "gpu.slice", "_SYSTEMD_UNIT": "a.service"})


def test_an_invocation_is_found_from_both_sides():
    """The service's lines carry the id with an underscore, systemd's without."""
    groups = invocation_groups("1" * 32)
    assert matches(groups, {"_SYSTEMD_INVOCATION_ID": "1" * 32})
    assert matches(groups, {"INVOCATION_ID": "1" * 32, "_UID": "0"})
    assert not matches(groups, {"INVOCATION_ID": "1" * 32, "_UID": "5"})


def test_words_become_groups():
    """Matches in a row hold together, `+` parts alternatives."""
    assert match_groups(["_PID=1", "MESSAGE=a=b", "+", "_COMM=x"]) == [
        (("_PID", "1"), ("MESSAGE", "a=b")),
        (("_COMM", "x"),),
    ]


@pytest.mark.parametrize("word", ["pid=1", "--output=cat", "_PID", "=x", "A B=c", "MESSAGE=a\0b", "__CURSOR=x"])
def test_refuses_what_is_no_match(word):
    """What journalctl would take for something else never reaches it."""
    with pytest.raises(TriageError, match="write FIELD=VALUE"):
        match_groups([word])


def test_conjunction_keeps_values_that_both_allow():
    """Values of one field are alternatives; two groups that allow none in common can't hold together."""
    assert conjoin((("A", "1"), ("A", "2")), (("A", "2"), ("B", "3"))) == (("A", "2"), ("B", "3"))
    assert conjoin((("A", "1"),), (("A", "2"),)) is None
    assert conjoin_all([(("A", "1"),), (("A", "2"),)], [(("A", "2"), ("B", "3"))]) == [(("A", "2"), ("B", "3"))]
    assert conjoin_all([], [(("A", "1"),)]) == [(("A", "1"),)]


_GROUPS = st.lists(
    st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("123")), min_size=1, max_size=4).map(tuple), max_size=4
)


@given(_GROUPS, _GROUPS, st.dictionaries(st.sampled_from("ABC"), st.sampled_from("123")))
def test_conjunction_is_what_both_match(one, other, fields):
    """An entry matches the conjunction exactly if it matches both, no groups meaning everything."""
    both = conjoin_all(one, other)
    expected = (not one or matches(one, fields)) and (not other or matches(other, fields))
    found = matches(both, fields) if both or one or other else True
    assert found == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (JournalQuery(directory="/a", files=["b"]), "either -D or --file"),
        (JournalQuery(directory="/a", machine="m"), "-M reads a container's own journal"),
        (JournalQuery(machine="--help"), "cannot be the name of a container"),
        (JournalQuery(machine="a b"), "cannot be the name of a container"),
        (JournalQuery(namespace="../x"), "cannot be the name of a journal namespace"),
        (JournalQuery(namespace="x", files=["b"]), "neither --file nor -M"),
    ],
)
def test_refuses_what_cannot_be(query, message):
    """Options that exclude each other, and names that would be something else, are user errors."""
    with pytest.raises(TriageError, match=message):
        query.check()
    JournalQuery(namespace="+gpu").check()


def test_only_this_hosts_journal_is_live():
    """With a folder, a file or a container systemd here has nothing to say."""
    assert JournalQuery(units=["a"]).live
    assert not JournalQuery(directory="/a").live
    assert not JournalQuery(files=["/a"]).live
    assert not JournalQuery(machine="m").live
