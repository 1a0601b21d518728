"""Text from files and standard input."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import sys
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import TriageError
from triage.sources import archive
from triage.sources.text import BLOCK, MAGIC, TextSource, kind_of

zstd = archive.zstd_module()

TEXT = b"".join(b"[2026-05-25 21:41:%02d PP%d] line %d of the log\n" % (i % 60, i % 8, i) for i in range(40_000))
PACKED = {
    "gzip": gzip.compress(TEXT),
    "xz": lzma.compress(TEXT, preset=0),
    "zstd": zstd.compress(TEXT, options={zstd.CompressionParameter.checksum_flag: 1}),
}


def read(source):
    return b"".join(source.chunks())


def stored(tmp_path, data, name="server.log"):
    path = tmp_path / name
    path.write_bytes(data)
    return TextSource(path)


def kinds(source):
    return [gap.kind for gap in source.gaps]


def test_reads_a_plain_file_in_blocks(tmp_path):
    """A plain file comes unchanged, in blocks of at most 512 KiB."""
    source = stored(tmp_path, TEXT)
    blocks = list(source.chunks())
    assert b"".join(blocks) == TEXT
    assert max(map(len, blocks)) == 512 * 1024
    assert source.name == str(tmp_path / "server.log")
    assert source.gaps == []


@pytest.mark.parametrize("kind", PACKED)
def test_decompresses_by_the_first_bytes(tmp_path, kind):
    """An archive is read whatever it is called."""
    assert read(stored(tmp_path, PACKED[kind])) == TEXT


@pytest.mark.parametrize("kind", PACKED)
def test_reads_all_members_of_an_archive(tmp_path, kind):
    """Archives written one behind the other are one text."""
    source = stored(tmp_path, PACKED[kind] * 2 + (b"\0" * 512 if kind == "gzip" else b""))
    assert read(source) == TEXT * 2
    assert source.gaps == []


@pytest.mark.parametrize("kind", PACKED)
def test_a_truncated_archive_gives_what_is_there(tmp_path, kind):
    """A cut-off archive gives its readable part and a gap."""
    source = stored(tmp_path, PACKED[kind][: len(PACKED[kind]) * 3 // 4])
    found = read(source)
    assert TEXT.startswith(found)
    assert len(found) > len(TEXT) // 4
    assert kinds(source) == ["truncated"]


@pytest.mark.parametrize("kind", PACKED)
def test_a_damaged_archive_gives_what_is_readable(tmp_path, kind):
    """An archive with broken bytes gives what stands before them and a gap."""
    data = bytearray(PACKED[kind] + PACKED[kind])
    for at in range(64):
        data[len(PACKED[kind]) * 3 // 2 + at] ^= 0xA5
    source = stored(tmp_path, bytes(data))
    assert read(source)[: len(TEXT)] == TEXT
    assert kinds(source) == ["unreadable"]


def test_what_follows_an_archive_is_named(tmp_path):
    """Text behind an archive is not read, and a gap says so."""
    source = stored(tmp_path, PACKED["gzip"] + b"and then some plain text\n")
    assert read(source) == TEXT
    assert kinds(source) == ["unreadable"]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_works_without_the_accelerators(tmp_path, monkeypatch, kind):
    """gzip is read with the standard library alone, zstd with the zstd program."""
    for module in ("isal", "compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    if kind == "zstd" and not shutil.which("zstd"):
        pytest.skip("no zstd program here")
    assert read(stored(tmp_path, PACKED[kind])) == TEXT
    cut = stored(tmp_path, PACKED[kind][: len(PACKED[kind]) // 2])
    assert TEXT.startswith(read(cut))
    assert kinds(cut) == ["truncated"]


def test_says_how_to_read_zstd(tmp_path, monkeypatch):
    """Without any way to read zstd the error names the extra to install."""
    for module in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TriageError, match=r"pip install 'sglang-triage\[zstd\]'"):
        read(stored(tmp_path, PACKED["zstd"]))


def test_zlib_gives_what_it_held_back():
    """zlib's held-back output is asked for before more input is taken."""
    decoder = archive._ZlibDecoder()
    packed = gzip.compress(b"a" * 1_000_000)
    out = [decoder.decompress(packed, 1000)]
    while not decoder.needs_input and not decoder.eof:
        out.append(decoder.decompress(b"", 1000))
    assert sum(map(len, out)) == 1_000_000


def test_memory_stays_bounded_on_an_archive_bomb(tmp_path):
    """Output comes in pieces, however small the archive."""
    for kind, packed in (
        ("gzip", zlib.compress(b"\0" * 20_000_000, 9, wbits=31)),
        ("zstd", zstd.compress(b"\0" * 20_000_000)),
    ):
        sizes = [len(block) for block in archive.decompress(kind, iter([packed]), lambda *_: None)]
        assert sum(sizes) == 20_000_000
        assert max(sizes) < 5_000_000


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device):
    """It never ends, or holds no log."""
    with pytest.raises(TriageError, match="is a device: name a log file"):
        TextSource(device)


def test_a_terminal_may_be_read(tmp_path):
    """/dev/stdin of a shell is one."""
    master, slave = os.openpty()
    try:
        TextSource(os.ttyname(slave))
    finally:
        os.close(master)
        os.close(slave)


def test_a_file_that_is_cut_off_while_it_is_read_is_a_gap(tmp_path):
    """copytruncate, or a writer that begins anew."""
    path = tmp_path / "x.log"
    path.write_bytes(b"line\n" * 400_000)
    source = TextSource(path)
    blocks = source.chunks()
    next(blocks)
    os.truncate(path, 0)
    list(blocks)
    assert kinds(source) == ["truncated"]


def test_reads_standard_input():
    """`-` is standard input, packed or not, under the name stdin."""
    for data in (TEXT, PACKED["gzip"], PACKED["zstd"]):
        source = TextSource("-", io.BytesIO(data))
        assert (source.name, read(source)) == ("stdin", TEXT)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has pipes of another size")
def test_a_pipe_is_made_wide_enough_for_a_block():
    """Whoever writes need not wait for each 64 KiB to be read."""
    import fcntl

    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as stream, open(writing, "wb", buffering=0) as writer:
        writer.write(TEXT[: 60 << 10])
        next(TextSource("-", stream).chunks())
        assert fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ) >= BLOCK


def test_a_pipe_is_read_as_it_comes():
    """What was written to a pipe comes at once, not when the block is full."""
    reading, writing = os.pipe()
    os.write(writing, b"first\n")
    with open(reading, "rb", buffering=0) as pipe:
        chunks = TextSource("-", pipe).chunks()
        assert next(chunks) == b"first\n"
        os.write(writing, b"second\n")
        assert next(chunks) == b"second\n"
        os.close(writing)
        assert list(chunks) == []


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_becomes_utf8(tmp_path, encoding):
    """A log that PowerShell wrote is read as UTF-8."""
    text = "\ufeff" + "[2026-05-25 21:41:38] café\n" * 100
    assert read(stored(tmp_path, text.encode(encoding))).decode() == text.removeprefix("\ufeff")


def test_user_errors_are_one_clear_line(tmp_path):
    """A missing path, a directory and an empty file are refused before anything is read."""
    (tmp_path / "empty").touch()
    for path, message in (
        (tmp_path / "nope.log", "no such file"),
        (tmp_path, "is a directory: name the log files in it"),
        (tmp_path / "empty", "is empty"),
        ("a\0b", "NUL"),
    ):
        with pytest.raises(TriageError, match=message) as error:
            TextSource(path)
        assert "\n" not in str(error.value)


def test_empty_standard_input_is_refused():
    """Nothing on standard input is an error, and so is an archive of which nothing can be read."""
    with pytest.raises(TriageError, match="stdin: nothing in it"):
        read(TextSource("-", io.BytesIO(b"")))
    with pytest.raises(TriageError, match="ends too early"):
        read(TextSource("-", io.BytesIO(PACKED["gzip"][:12])))


def test_a_binary_journal_is_named_as_such(journal_dir):
    """A journal file given as a log is refused with the command that reads it."""
    path = journal_dir("user") / "system.journal"
    with pytest.raises(TriageError, match="triage journal --file"):
        read(TextSource(path))


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["", *PACKED]), st.integers(1, 60))
@settings(deadline=None)
def test_any_bytes_and_chunks(data, kind, size):
    """Any bytes are read or refused with a TriageError; a plain text comes back unchanged."""
    text = MAGIC.get(kind, b"") + data

    class Slow(io.BytesIO):
        def read(self, _=-1):
            return super().read(size)

    source = TextSource("-", Slow(text))
    try:
        found = read(source)
    except TriageError:
        return
    if kind_of(text) is None and not text.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert found == text
