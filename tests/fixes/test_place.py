"""Reaching a file of a package without being led out of it."""

from __future__ import annotations

import contextlib
import os
import stat

import pytest

from triage.fixes.edit import check, plan_edits
from triage.fixes.place import PlaceError, opened


def test_a_link_to_another_file_is_outside(site, make_edit, tmp_path):
    """A linked module, as some installers make them, is not changed through the link."""
    real = site.install().rename(tmp_path / "cached.py")
    (site.folder / "engine/layers/attention.py").symlink_to(real)
    result = check(make_edit(), site.folder)
    assert result.outcome == "outside"
    assert str(real) in result.why


def test_a_linked_folder_is_outside(site, make_edit, tmp_path):
    """So is a folder of the package that lies elsewhere, and the package itself."""
    site.install()
    for name in ("engine/layers", "engine"):
        moved = tmp_path / name.replace("/", "-")
        (site.folder / name).rename(moved)
        (site.folder / name).symlink_to(moved)
        assert check(make_edit(), site.folder).outcome == "outside"


def test_a_link_inside_the_package_is_followed(site, make_edit):
    """The file that it leads to is the one that is changed."""
    path = site.install()
    path.rename(path.with_name("real.py"))
    path.symlink_to("real.py")
    result = check(make_edit(), site.folder)
    assert (result.outcome, result.path) == ("applies", path.with_name("real.py"))


def test_the_folder_that_holds_the_package_may_be_a_link(site, make_edit, tmp_path):
    """lib64 -> lib is how environments are made."""
    site.install()
    link = tmp_path / "link"
    link.symlink_to(site.folder)
    assert check(make_edit(), link).outcome == "applies"


def test_a_loop_of_links_is_no_file(site, make_edit):
    """A link to itself ends in an answer."""
    path = site.install()
    path.unlink()
    path.symlink_to(path.name)
    assert check(make_edit(), site.folder).outcome in ("no-file", "outside")


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo])
def test_what_is_no_plain_file_is_unreadable(site, make_edit, make):
    """A folder or a pipe of that name is refused without waiting on it."""
    path = site.install()
    path.unlink()
    make(path)
    assert check(make_edit(), site.folder).outcome == "unreadable"


def test_a_path_that_leaves_the_package_is_refused(tmp_path):
    """Also when an edit was not checked before."""
    for file in ("engine/../../etc/x.py", "/etc/x.py", "x.py"):
        with pytest.raises(PlaceError), opened(tmp_path, file):
            pass


def test_a_folder_swapped_for_a_link_is_not_entered(site, make_edit, tmp_path, monkeypatch):
    """Between resolving and opening, a link put in a folder's place is not followed."""
    site.install()
    elsewhere = tmp_path / "elsewhere"
    (site.folder / "engine/layers").rename(elsewhere)
    (site.folder / "engine/layers").symlink_to(elsewhere)
    real = os.path.realpath
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: os.path.abspath(path))
    result = check(make_edit(), site.folder)
    monkeypatch.setattr(os.path, "realpath", real)
    assert result.outcome == "no-file"


def test_a_file_swapped_for_a_link_is_not_read(site, tmp_path):
    """A file is opened in its folder, and never through a link."""
    path = site.install()
    with opened(site.folder, "engine/layers/attention.py") as place:
        path.rename(tmp_path / "real.py")
        path.symlink_to(tmp_path / "real.py")
        with pytest.raises(PlaceError) as raised:
            place.read()
    assert raised.value.outcome == "outside"


@pytest.mark.parametrize("mode", [0o444, 0o640, 0o755, 0o666])
def test_a_new_file_keeps_mode_and_attributes(site, mode):
    """What is written in a file's place has its mode, and its extended attributes where there are any."""
    path = site.install()
    path.chmod(mode)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.note", b"kept")
    before = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    with opened(site.folder, "engine/layers/attention.py") as place:
        place.write(place.name, b"x = 1\n", place.read())
    assert path.read_bytes() == b"x = 1\n"
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_new_file_keeps_its_owner(site):
    """Root changes a service user's file, and it stays the user's."""
    path = site.install()
    os.chown(path, 12345, 23456)
    with opened(site.folder, "engine/layers/attention.py") as place:
        place.write(place.name, b"x = 1\n", place.read())
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_hard_link_elsewhere_is_not_changed(site, make_edit, tmp_path):
    """Installers share files with their caches by hard links; the cache's copy stays as it was."""
    path = site.install()
    os.link(path, tmp_path / "cache.py")
    before = path.read_bytes()
    change = plan_edits([make_edit()], site.folder).changes[0]
    with opened(site.folder, change.file) as place:
        place.write(place.name, change.after, place.read())
    assert (tmp_path / "cache.py").read_bytes() == before


def test_only_the_modules_own_bytecode_is_removed(site):
    """Every Python's compiled file of the module goes, others stay."""
    path = site.install()
    cache = path.parent / "__pycache__"
    cache.mkdir()
    own = ["attention.cpython-310.pyc", "attention.cpython-312.opt-1.pyc", "attention.pypy311.pyc"]
    others = ["attention_other.cpython-310.pyc", "attention.txt", "xattention.cpython-310.pyc"]
    for name in own + others:
        (cache / name).touch()
    with opened(site.folder, "engine/layers/attention.py") as place:
        assert place.drop_bytecode() == []
    assert sorted(os.listdir(cache)) == sorted(others)


def test_bytecode_behind_a_link_is_let_be(site, tmp_path):
    """A __pycache__ that leads elsewhere is not entered."""
    path = site.install()
    (tmp_path / "attention.cpython-310.pyc").touch()
    (path.parent / "__pycache__").symlink_to(tmp_path)
    with opened(site.folder, "engine/layers/attention.py") as place:
        assert place.drop_bytecode() == []
    assert (tmp_path / "attention.cpython-310.pyc").exists()
