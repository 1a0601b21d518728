"""Packs that are brought along: installed as a whole or not at all, and never outside of the user's own folder."""

import io
import tarfile
import zipfile

import pytest

from triage.authoring import unpack
from triage.authoring.install import install
from triage.library import load
from triage.model import TriageError

GOOD = """\
format: 1
id: lab/some
title: "Some failure"
match: {exception: ValueError, message: "some text"}
cause: "Because."
references: ["https://example.org"]
"""
LOG = "Traceback (most recent call last):\nValueError: some text\n"
FILES = {"signatures/lab/some.yaml": GOOD, "fixtures/lab/some/first.log": LOG, "README.md": "# A pack\n"}


def folder(tmp_path, files=FILES):
    """A pack as a folder."""
    for name, text in files.items():
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "pack"


def tar(tmp_path, files=FILES, mode="w:gz", prefix="", change=lambda info: info):
    """A pack as an archive; `change` makes a member into something else."""
    path = tmp_path / "pack.tar"
    with tarfile.open(path, mode) as archive:
        for name, text in files.items():
            data = text.encode()
            info = tarfile.TarInfo(prefix + name)
            info.size = len(data)
            changed = change(info)
            archive.addfile(changed, io.BytesIO(data) if changed.isreg() else None)
    return path


def zipped(tmp_path, files=FILES):
    """A pack as a zip file."""
    path = tmp_path / "pack.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    "make",
    [
        folder,
        tar,
        zipped,
        lambda place: tar(place, mode="w"),
        lambda place: tar(place, mode="w:xz"),
        lambda place: tar(place, prefix="pack-1.2/"),
        lambda place: tar(place, prefix="./"),
    ],
    ids=["folder", "tar.gz", "zip", "tar", "tar.xz", "one folder inside", "dot inside"],
)
def test_pack_is_installed_in_every_form(triage, home, tmp_path, make):
    """Its signatures count from then on, its fixtures lie beside them, and nothing else came along."""
    said = triage("signatures", "update", make(tmp_path))
    assert (said.status, said.out.splitlines()[0]) == (0, "added   lab/some")
    assert "1 signatures added, 0 changed, 0 as they were, 1 fixtures written" in said.out
    written = sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    assert written == ["fixtures/lab/some/first.log", "signatures/lab/some.yaml"]
    assert load().get("lab/some") is not None


def test_update_says_what_changed(triage, home, tmp_path):
    """And keeps what the user has beside it, and what it replaced."""
    triage("signatures", "update", folder(tmp_path))
    (home / "signatures/mine").mkdir()
    (home / "signatures/mine/own.yaml").write_text(GOOD.replace("lab/some", "mine/own").replace("Some", "Own"))
    newer = {"signatures/lab/some.yaml": GOOD.replace("Because.", "For this.")}
    newer["signatures/lab/other.yaml"] = (
        GOOD.replace("lab/some", "lab/other").replace("Some", "Other").replace("some text", "other text")
    )
    said = triage("signatures", "update", folder(tmp_path, newer))
    assert said.out.splitlines()[:2] == ["added   lab/other", "changed lab/some"]
    assert "not in this pack, and kept: mine/own" in said.out
    assert "Because." in (home / "signatures/lab/some.yaml.old").read_text()
    again = triage("signatures", "update", tmp_path / "pack")
    assert "0 signatures added, 0 changed, 2 as they were, 0 fixtures written" in again.out


def test_pack_with_an_error_is_refused_as_a_whole(triage, home, tmp_path):
    """The error is named as the pack names its file; no file of it is left behind."""
    bad = {**FILES, "signatures/lab/bad.yaml": GOOD.replace("lab/some", "lab/bad").replace("rences", "rence")}
    said = triage("signatures", "update", zipped(tmp_path, bad))
    assert said.status == 2
    assert said.out.startswith("signatures/lab/bad.yaml:6: error: reference: unknown key 'reference'")
    assert "nothing was installed" in said.err
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd",
        "../signatures/lab/some.yaml",
        "signatures/../../x.yaml",
        "a\\..\\x.yaml",
        "signatures/lab/\x1b.yaml",
    ],
)
@pytest.mark.parametrize("make", [tar, zipped])
def test_path_that_leads_elsewhere_is_refused(tmp_path, name, make):
    """Nothing is written at all."""
    target = tmp_path / "home"
    with pytest.raises(TriageError, match="leads elsewhere"):
        install(make(tmp_path, {**FILES, name: GOOD}), target)
    assert list(target.rglob("*")) == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_link_or_device_in_a_tar_is_refused(tmp_path, kind):
    """Wherever it points."""

    def change(info):
        if info.name.endswith(".log"):
            info.type, info.linkname, info.size = kind, "/etc/passwd", 0
        return info

    with pytest.raises(TriageError, match="is a link, a device or encrypted"):
        install(tar(tmp_path, change=change), tmp_path / "home")


def test_link_in_a_zip_is_refused(tmp_path):
    """As Unix stores it in the upper half of the attributes."""
    path = zipped(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("signatures/lab/link.yaml")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(TriageError, match=r"'signatures/lab/link.yaml' in it is a link"):
        install(path, tmp_path / "home")


def test_link_in_a_folder_is_refused(tmp_path):
    """Of a file or of a folder."""
    pack = folder(tmp_path)
    (pack / "signatures/away").symlink_to("/etc")
    with pytest.raises(TriageError, match="is a link"):
        install(pack, tmp_path / "home")


def test_link_in_the_target_is_not_followed(tmp_path):
    """A folder of the user's pack that leads out of it stays untouched."""
    outside, target = tmp_path / "outside", tmp_path / "home"
    outside.mkdir()
    (target / "signatures").mkdir(parents=True)
    (target / "signatures/lab").symlink_to(outside)
    with pytest.raises(TriageError, match="leads out of"):
        install(zipped(tmp_path), target)
    assert list(outside.iterdir()) == []


def test_bomb_is_refused(tmp_path, monkeypatch):
    """Neither one file nor all together grow beyond what a pack needs, headers included."""
    monkeypatch.setattr(unpack, "MAX_TOTAL", 100_000)
    monkeypatch.setattr(unpack, "MAX_FILE", 50_000)
    for make in (tar, zipped):
        with pytest.raises(TriageError, match="too large"):
            install(make(tmp_path, {**FILES, "fixtures/lab/some/big.log": "x" * 60_000}), tmp_path / "home")
    with pytest.raises(TriageError, match="holds more than"):
        install(tar(tmp_path, {**FILES, "other": "x" * 900_000}), tmp_path / "home")
    monkeypatch.setattr(unpack, "MAX_FILES", 2)
    with pytest.raises(TriageError, match="more than 2 files"):
        install(zipped(tmp_path), tmp_path / "home")


def test_file_twice_is_refused(tmp_path):
    """The second would not have been checked."""
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning):
        for _ in range(2):
            archive.writestr("signatures/lab/some.yaml", GOOD)
    with pytest.raises(TriageError, match="twice"):
        install(path, tmp_path / "home")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no zip", b"\x1f\x8b no gzip", b"just text", bytes(range(256)) * 16])
def test_what_is_no_archive_is_said(tmp_path, data):
    """In one clear line, whatever it is."""
    path = tmp_path / "pack.bin"
    path.write_bytes(data)
    with pytest.raises(TriageError, match=r"cannot be unpacked|holds no signatures"):
        install(path, tmp_path / "home")


@pytest.mark.parametrize("cut", [10, 100, 250])
def test_cut_archive_is_said(tmp_path, cut):
    """A download that broke off installs nothing."""
    path = tar(tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(TriageError):
        install(path, tmp_path / "home")
    assert [one for one in (tmp_path / "home").rglob("*") if one.is_file()] == []


def test_missing_pack_is_said(triage, tmp_path):
    """With its name."""
    said = triage("signatures", "update", tmp_path / "none.zip")
    assert (said.status, said.out) == (2, "")
    assert f"there is no {tmp_path / 'none.zip'}" in said.err
