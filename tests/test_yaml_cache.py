"""Nobody else's cache is believed, and a damaged one costs only time."""

import json
import os

import pytest

from triage.yaml_cache import cache_folder, keep, kept, load


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = os.path.join(cache_folder(), "x.json")
    keep(path, {"a": 1})
    return path


def test_what_was_kept_is_found(place):
    """The next run reads it."""
    assert kept(place) == {"a": 1}


@pytest.mark.parametrize("text", ["", '{"a": ', "\0" * 100, "[" * 100_000, '{"a": 1}\n{"b": 2}', "\ud800"])
def test_a_damaged_file_counts_as_none(place, text):
    """Truncated, no JSON, nested without end."""
    with open(place, "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(text)
    assert kept(place) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(place, mode):
    """Group or world."""
    os.chmod(place, mode)
    assert kept(place) is None


def test_a_folder_that_others_may_write_is_not_believed(place):
    """They could exchange the file."""
    os.chmod(os.path.dirname(place), 0o777)
    assert kept(place) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_another_users_file_is_not_believed(place):
    """Even where it can be read."""
    os.chown(place, 65534, 65534)
    assert kept(place) is None


def test_links_pipes_and_folders_are_not_read(place, tmp_path):
    """A link could lead anywhere, a pipe would block."""
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"a": 2}))
    os.unlink(place)
    os.symlink(other, place)
    assert kept(place) is None
    os.unlink(place)
    os.mkfifo(place)
    assert kept(place) is None
    os.unlink(place)
    os.mkdir(place)
    assert kept(place) is None


def test_a_link_is_replaced_and_not_followed(place, tmp_path):
    """What it pointed to stays as it was."""
    other = tmp_path / "other.json"
    other.write_text("untouched")
    os.unlink(place)
    os.symlink(other, place)
    keep(place, {"a": 3})
    assert kept(place) == {"a": 3}
    assert other.read_text() == "untouched"


def test_where_nothing_can_be_kept_the_yaml_is_read(tmp_path, monkeypatch):
    """A home that is no folder."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    (tmp_path / "x.yaml").write_text("a: 1\n")
    assert load(tmp_path / "x.yaml") == {"a": 1}


def test_another_content_is_read_anew(tmp_path, monkeypatch):
    """The cache goes by the file's bytes and by the release of triage."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n")
    assert load(path) == {"a": 1}
    path.write_text("a: 2\n")
    assert load(path) == {"a": 2}
    monkeypatch.setattr("triage.yaml_cache.__version__", "0.0.0")
    assert load(path) == {"a": 2}
    assert len(list((tmp_path / "cache/sglang-triage").iterdir())) == 3
