"""Entries that triage writes: journald's native protocol, read back by the parser of its export format, its twin."""

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.beside import native
from triage.model import TriageError
from triage.sources.export import parse_export

NAMES = st.from_regex(r"[A-Z0-9][A-Z0-9_]{0,20}", fullmatch=True).filter(lambda name: not name.startswith("__"))


@given(st.dictionaries(NAMES, st.text(max_size=200), max_size=8))
def test_any_values_come_back(fields):
    """The export format has the same fields; text that is no UTF-8 is replaced."""
    read = list(parse_export([native.encode(fields.items()) + b"\n"], fields=None))
    wanted = {name: value.encode("utf-8", "replace").decode() for name, value in fields.items()}
    assert (read[0].fields if read else {}) == wanted


def test_a_name_that_is_journalds_own_is_refused():
    """Nothing from a log may pose as a trusted field."""
    for name in ("_PID", "a", "", "A B", "X" * 65):
        with pytest.raises(ValueError, match="can't be the name"):
            native.encode([(name, "1")])


def test_long_values_are_cut_between_characters():
    """One datagram must fit into the socket's buffer."""
    sent = native.encode([("MESSAGE", "é" * 10_000), *(("TRIAGE_FIX", "x" * 9000) for _ in range(50))])
    assert len(sent) < native.MOST_OF_ALL + native.MOST
    (entry,) = parse_export([sent + b"\n"], fields=None)
    assert set(entry.fields["MESSAGE"]) == {"é"}


def test_it_is_sent_as_one_datagram(tmp_path):
    """To journald's socket."""
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journald:
        journald.bind(str(path))
        native.send([("MESSAGE", "one\ntwo")], path)
        assert journald.recv(1000) == b"MESSAGE\n\x07\0\0\0\0\0\0\0one\ntwo\n"


def test_without_journald_one_line_says_so(tmp_path):
    """No traceback."""
    with pytest.raises(TriageError, match=r"takes nothing at .*: no such file"):
        native.send([("MESSAGE", "x")], tmp_path / "nothing")
