"""The table: written release by release, read in pieces."""

import os

import pytest

from triage.releases.collect import wheels, write
from triage.releases.flags import pins
from triage.releases.table import Table, canonical, module, simple, table


def called(source, body):
    """The lines of a body with the names of what they call."""
    lines, words = source.calls(body)
    return tuple(
        (line, tuple(sorted(source.names_of(word)))) for line, word in zip(lines, words.split(" "), strict=False)
    )


def whole(found):
    """All that a table says, without the numbers of releases."""
    return {
        (path, release, function, first, called(source, body))
        for path in found.files()
        for source in [found.source(path)]
        for function in source.functions()
        for version, first, body in source.scopes(function)
        for release in found.sorted(source.releases({version}))
    }


def test_what_was_read_is_what_is_there(made, package):
    """Scopes, lines and the names of what they call come back as the package has them."""
    release = wheels.read(package("0.4.1"), "0.4.1")
    names = release.names()
    for path, scopes in release.scopes.items():
        for scope in scopes:
            lines = tuple(
                (line, tuple(sorted({canonical(one) for one in called} & names)))
                for line, called in sorted(scope.lines.items())
            )
            assert (path, "0.4.1", simple(scope.name), scope.first, lines) in whole(made)


def test_order_of_reading_does_not_matter(made, package, tmp_path):
    """A release that is added late stands in its place, and everything else is as it was."""
    path = tmp_path / "other.releases"
    for release in ("0.4.1.post1", "0.4.0", "0.4.1"):
        write.add(path, wheels.read(package(release), release))
    other = Table(path)
    assert other.releases != made.releases
    assert other.sorted({0, 1, 2}) == made.sorted({0, 1, 2}) == ["0.4.0", "0.4.1", "0.4.1.post1"]
    assert whole(other) == whole(made)
    assert other.around("0.4.1") == ["0.4.0", "0.4.1", "0.4.1.post1"]


def test_unchanged_file_keeps_its_piece(made, package, tmp_path):
    """So a table grows by what changed."""
    path = tmp_path / "some.releases"
    before = made.raw("sglang/srt/pool.py")
    again = wheels.read(package("0.4.0"), "0.4.2")
    write.add(path, again)
    after = Table(path)
    assert after.raw("sglang/srt/pool.py") == before
    assert after.raw("sglang/srt/loop.py") != made.raw("sglang/srt/loop.py")


def test_file_that_is_gone_is_gone(made, package, tmp_path):
    """A later release without it does not have it, an even later one may again."""
    path = tmp_path / "some.releases"
    full = wheels.read(package("0.4.0"), "0.4.3")
    less = wheels.read(package("0.4.0"), "0.4.2")
    del less.scopes["sglang/srt/pool.py"]
    write.add(path, less)
    write.add(path, full)
    source = Table(path).source("sglang/srt/pool.py")
    versions = {version for version, _, _ in source.scopes("take")}
    assert Table(path).sorted(source.releases(versions)) == ["0.4.0", "0.4.1", "0.4.1.post1", "0.4.3"]


def test_pins(made):
    """What a release asks for, without what only an extra for other machines does."""
    assert pins("0.4.0", made) == {"torch": "==4.1"}
    assert pins("9.9", made) == {}


@pytest.mark.parametrize("raw", [b"", b"something else", b"triage releases 1\n", b"triage releases 1\n\x05\0\0\0abcde"])
def test_damaged_table_is_an_error_that_is_caught(tmp_path, raw):
    """And costs the answer only."""
    path = tmp_path / "x"
    path.write_bytes(raw)
    with pytest.raises(Exception) as caught:
        Table(path)
    assert not isinstance(caught.value, AssertionError)


@pytest.mark.parametrize(
    ("path", "name"), [("sglang/srt/utils/__init__.py", "utils"), ("sglang/a.py", "a"), ("__init__.py", "__init__")]
)
def test_module(path, name):
    """As imports call it."""
    assert module(path) == name


def test_the_shipped_table_is_small():
    """A few megabytes, whatever is added."""
    found = table()
    assert found is not None
    assert os.stat(found.path).st_size < 6_000_000
