"""The parser of the journal export format."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.sources.export import FIELDS, MAX_VALUE, parse_export


def entries(data, **options):
    return list(parse_export([data], **options))


def binary(name, value):
    return name + b"\n" + struct.pack("<Q", len(value)) + value + b"\n"


def test_reads_text_fields_time_cursor_and_offset():
    """An entry has its wanted fields, its time in microseconds, its cursor and the byte where it starts."""
    data = b"__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1795962818155142\nMESSAGE=a=b\n_PID=7\n_GID=0\n\n"
    first, second = entries(data + data)
    assert first.fields == {"MESSAGE": "a=b", "_PID": "7"}
    assert (first.realtime, first.cursor, first.offset) == (1795962818155142, "s=1;i=2", 0)
    assert second.offset == len(data)


def test_reads_binary_fields_with_newlines():
    """A value with newlines, and even an empty line, comes whole, and so do the fields after it."""
    data = b"_PID=7\n" + binary(b"MESSAGE", b"one\n\ntwo\x1b[0m") + b"_COMM=python\n\n"
    (entry,) = entries(data)
    assert entry.fields == {"_PID": "7", "MESSAGE": "one\n\ntwo\x1b[0m", "_COMM": "python"}


def test_keeps_the_first_of_a_repeated_field():
    """Of a repeated field the first value counts."""
    (entry,) = entries(b"MESSAGE=first\nMESSAGE=second\n" + binary(b"MESSAGE", b"third") + b"\n")
    assert entry.fields["MESSAGE"] == "first"


def test_keeps_every_field_when_asked():
    """Without a list of fields all are kept, but no address fields."""
    (entry,) = entries(b"__MONOTONIC_TIMESTAMP=5\n_GID=0\nOWN_FIELD=x\n\n", fields=None)
    assert entry.fields == {"_GID": "0", "OWN_FIELD": "x"}


def test_replaces_broken_utf8():
    """Broken UTF-8 becomes U+FFFD."""
    (entry,) = entries(binary(b"MESSAGE", b"caf\xe9") + b"\n")
    assert entry.fields["MESSAGE"] == "caf\ufffd"


def test_cuts_long_values():
    """A value beyond the limit is cut, as text and as binary, and what follows is still read."""
    long = b"x" * (MAX_VALUE + 5000)
    for field in (b"MESSAGE=" + long + b"\n", binary(b"MESSAGE", long)):
        data = field + b"_PID=7\n\nMESSAGE=next\n\n"
        for size in (len(data), 60_000):
            first, second = parse_export(data[i : i + size] for i in range(0, len(data), size))
            assert first.fields == {"MESSAGE": "x" * MAX_VALUE, "_PID": "7"}
            assert second.fields == {"MESSAGE": "next"}


def test_a_length_that_cannot_be_is_garbage():
    """A line in capitals followed by text is no binary field: nothing after it is swallowed."""
    (entry,) = entries(b"WARNING\nMESSAGE=kept\n_PID=7\n\n")
    assert entry.fields["_PID"] == "7"


def test_gives_what_a_cut_off_end_still_holds():
    """An export cut in the middle of a value gives the part that is there."""
    data = b"MESSAGE=one\n\n_PID=7\n" + binary(b"MESSAGE", b"two and more") + b"\n"
    assert [entry.fields for entry in entries(data[:-7])] == [{"MESSAGE": "one"}, {"_PID": "7", "MESSAGE": "two and"}]
    assert [entry.fields for entry in entries(b"MESSAGE=on")] == [{"MESSAGE": "on"}]


def test_plain_text_has_no_entries():
    """Text that is no export gives nothing."""
    assert entries(b"[2026-05-25 21:41:38 PP3] Traceback\n\n  File x\nfoo=bar\n") == []


def test_yields_an_entry_as_soon_as_it_is_complete():
    """A follower gets an entry with its empty line, before the next bytes come."""
    seen = []

    def stream():
        yield b"MESSAGE=one\n\nMESSAGE=tw"
        seen.append("asked for more")
        yield b"o\n\n"

    parser = parse_export(stream())
    assert next(parser).fields == {"MESSAGE": "one"}
    assert seen == []
    assert next(parser).fields == {"MESSAGE": "two"}


def test_reads_a_real_export(export):
    """Every entry of a real export is read, with time, cursor, boot and message."""
    found = entries(export("lab"))
    assert len(found) == 277
    assert all(entry.realtime and entry.cursor and entry.fields["_BOOT_ID"] for entry in found)
    core = next(entry for entry in found if entry.fields.get("COREDUMP_SIGNAL_NAME") == "SIGSEGV")
    assert core.fields["COREDUMP_UNIT"] == "sg-segv.service"
    assert any("\x1b[" in entry.fields.get("MESSAGE", "") for entry in found)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_chunks_do_not_matter(export, data):
    """However a real export, cut off anywhere, is chunked: the same entries."""
    text = export("user")
    text = text[data.draw(st.integers(0, 2000)) : data.draw(st.integers(0, len(text)))]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert list(parse_export(pieces)) == entries(text)


_PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"\n", b"\n\n", b"MESSAGE=", b"MESSAGE\n", b"_PID=1\n", b"=", b"X\n\x02\0\0\0\0\0\0\0ab\n", b"\0" * 8]
    ),
    st.builds(binary, st.sampled_from([b"MESSAGE", b"_COMM", b"GARBAGE"]), st.binary(max_size=60)),
)


@given(st.lists(_PIECES, max_size=40), st.integers(1, 50))
@settings(deadline=None)
def test_garbage_never_raises(pieces, size):
    """Any bytes, in any chunks, give the same entries, with wanted names only, in the order of their offsets."""
    text = b"".join(pieces)
    found = entries(text)
    assert list(parse_export(text[i : i + size] for i in range(0, len(text), size))) == found
    assert all(set(entry.fields) <= FIELDS for entry in found)
    assert [entry.offset for entry in found] == sorted({entry.offset for entry in found})
