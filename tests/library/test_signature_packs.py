"""Packs: where signatures come from, what overrides what, the cache."""

import json
import os
import zlib
from pathlib import Path

import pytest

from triage.data import folder
from triage.library import expressions, load, packs
from triage.library.literals import literals_of
from triage.library.pack import Pack
from triage.library.spoken import spoken
from triage.model import TriageError

DATA = Path(__file__).resolve().parents[1] / "data" / "signatures"


def signature(name: str, title: str = "x", more: str = "") -> str:
    """A minimal signature."""
    return f'format: 1\nid: {name}\ntitle: "{title}"\nmatch: {{message: "some text"}}\ncause: "c"\n{more}'


def write(place: Path, text: str) -> Path:
    """A file with its folders."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


def titles(*places, packaged=False):
    """Titles by id of what these packs hold."""
    return {one.id: one.title for one in load(places, packaged=packaged).signatures}


def test_packaged_signatures_are_sound():
    """Whatever ships loads without a problem."""
    library = load()
    assert [str(problem) for problem in library.problems] == []
    assert len(library.signatures) == len(list(packs.files(folder("signatures"))))


def test_pack_is_a_folder_with_signatures_inside():
    """Other folders of it, such as fixtures, are left alone."""
    assert set(titles(DATA)) == {
        "sglang/layer0",
        "lab/oom",
        "lab/peer-closed",
        "lab/loopback",
        "lab/killed",
        "lab/native",
    }


def test_pack_is_a_folder_or_a_file_of_yaml(tmp_path):
    """Hidden files are no signatures."""
    write(tmp_path / "p/a/one.yaml", signature("a/one"))
    write(tmp_path / "p/two.yml", signature("a/two"))
    write(tmp_path / "p/.three.yaml", signature("a/three"))
    assert set(titles(tmp_path / "p")) == {"a/one", "a/two"}
    assert set(titles(tmp_path / "p/two.yml")) == {"a/two"}


def test_later_pack_overrides_the_same_id(tmp_path):
    """In the order in which they are named."""
    one, two = (
        write(tmp_path / "1/s.yaml", signature("a/one", "old")),
        write(tmp_path / "2/s.yaml", signature("a/one", "new")),
    )
    assert titles(one, two) == {"a/one": "new"}
    assert titles(two, one) == {"a/one": "old"}


def test_disabled_switches_off(tmp_path):
    """What an earlier pack brought."""
    one = write(tmp_path / "1/s.yaml", signature("a/one") + "---\n" + signature("a/two"))
    off = write(tmp_path / "2/s.yaml", "format: 1\nid: a/one\ndisabled: true\n")
    assert set(titles(one, off)) == {"a/two"}


def test_hosts_and_users_own_packs_are_read(tmp_path):
    """Under the packaged ones and below those named; the user's override the host's."""
    write(tmp_path / "etc/signatures/a.yaml", signature("a/host", "host") + "---\n" + signature("a/both", "host"))
    write(tmp_path / "data/triage/signatures/a.yaml", signature("a/both", "user"))
    assert titles() == {"a/host": "host", "a/both": "user"}
    named = write(tmp_path / "n.yaml", signature("a/both", "named"))
    assert titles(named)["a/both"] == "named"


def test_other_yaml_of_the_host_is_no_signature(tmp_path):
    """/etc/triage may hold more than signatures."""
    write(tmp_path / "etc/config.yaml", "colour: blue\n")
    assert load(packaged=False).problems == []


def test_nothing_comes_from_the_working_directory(tmp_path, monkeypatch):
    """Where a service writes, anyone may write."""
    write(tmp_path / "cwd/signatures/a.yaml", signature("a/one"))
    monkeypatch.chdir(tmp_path / "cwd")
    monkeypatch.setenv("XDG_DATA_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    assert titles() == {}
    monkeypatch.setenv("XDG_DATA_HOME", ".")
    assert titles() == {}


def test_under_sudo_the_callers_home_is_not_used(tmp_path, monkeypatch):
    """Its owner may be anyone who may run one command as root."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert any(str(tmp_path / "data") in str(place) for place in packs.standing_packs())
    monkeypatch.setenv("SUDO_UID", "1000")
    assert not any(str(tmp_path / "data") in str(place) for place in packs.standing_packs())


@pytest.mark.parametrize("name", ["none", "empty"])
def test_pack_that_is_not_there_is_the_users_error(tmp_path, name):
    """One clear line, with what a pack is."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(TriageError, match=r"signatures"):
        load([tmp_path / name], packaged=False)


def test_broken_file_takes_no_other_down(tmp_path):
    """It is named, and left out."""
    write(tmp_path / "p/a.yaml", "format: [\n")
    write(tmp_path / "p/b.yaml", signature("a/b") + "rolle: root\n")
    write(tmp_path / "p/c.yaml", signature("a/c"))
    library = load([tmp_path / "p"], packaged=False)
    assert [one.id for one in library.signatures] == ["a/c"]
    assert [(Path(p.file).name, p.line) for p in library.problems] == [("a.yaml", 2), ("b.yaml", 6)]


def test_id_that_stands_in_two_files_of_a_pack_is_a_problem(tmp_path):
    """The first is kept; within one pack nothing overrides."""
    write(tmp_path / "p/a.yaml", signature("a/one", "first"))
    write(tmp_path / "p/b.yaml", signature("a/one", "second"))
    library = load([tmp_path / "p"], packaged=False)
    assert [one.title for one in library.signatures] == ["first"]
    assert "is also in" in library.problems[0].message


def test_links_to_folders_are_not_followed(tmp_path):
    """A pack holds what lies in it."""
    write(tmp_path / "other/a.yaml", signature("a/other"))
    write(tmp_path / "p/b.yaml", signature("a/one"))
    (tmp_path / "p/link").symlink_to(tmp_path / "other")
    assert set(titles(tmp_path / "p")) == {"a/one"}


def test_warm_load_is_the_same_without_reading_yaml(monkeypatch):
    """The second time everything comes out of the cache."""
    cold = load([DATA], packaged=False)
    monkeypatch.setattr("triage.library.parse.parse_file", None)
    warm = load([DATA], packaged=False)
    assert list(warm.signatures) == list(cold.signatures)
    assert warm.line_patterns() == cold.line_patterns()
    assert warm.digest == cold.digest


def test_changed_file_is_read_again(tmp_path):
    """The cache never shows what is no longer there."""
    place = write(tmp_path / "p/a.yaml", signature("a/one", "old"))
    assert titles(place.parent) == {"a/one": "old"}
    write(place, signature("a/one", "newer"))
    assert titles(place.parent) == {"a/one": "newer"}
    write(place.with_name("b.yaml"), signature("a/two"))
    assert set(titles(place.parent)) == {"a/one", "a/two"}


def test_damaged_cache_is_ignored(tmp_path):
    """It is rebuilt."""
    write(tmp_path / "p/a.yaml", signature("a/one"))
    load([tmp_path / "p"], packaged=False)
    (kept,) = (tmp_path / "cache").rglob("signatures-*.jsonl")
    kept.write_text('{"key": "x", "entries": [')
    assert set(titles(tmp_path / "p")) == {"a/one"}
    kept.write_text(json.dumps(["something else"]))
    assert set(titles(tmp_path / "p")) == {"a/one"}
    for damage in (kept.read_bytes()[:-9], kept.read_bytes().replace(b'"cause"', b'"cau\0e"')):
        kept.write_bytes(damage)
        assert set(titles(tmp_path / "p")) == {"a/one"}


def _change(kept: Path, old: bytes, new: bytes) -> None:
    """Write something else into the cache, as somebody would who knows its format."""
    head, _, rest = kept.read_bytes().replace(old, new).partition(b"\n")
    said = {**json.loads(head), "sum": zlib.crc32(rest)}
    kept.write_bytes(json.dumps(said).encode() + b"\n" + rest)


def test_cache_that_others_can_write_is_not_read(tmp_path):
    """Or they could put words into a report."""
    write(tmp_path / "p/a.yaml", signature("a/one", "mine"))
    load([tmp_path / "p"], packaged=False)
    (kept,) = (tmp_path / "cache").rglob("signatures-*.jsonl")
    _change(kept, b"mine", b"evil")
    assert titles(tmp_path / "p") == {"a/one": "evil"}
    kept.chmod(0o666)
    assert titles(tmp_path / "p") == {"a/one": "mine"}


def test_compiled_signatures_of_a_wheel_are_used(tmp_path, monkeypatch):
    """So that the first run in a fresh container need not read YAML; files are named where they lie."""
    place = tmp_path / "_packaged/signatures"
    write(place / "a/one.yaml", signature("a/one", "compiled"))
    place.with_suffix(".jsonl").write_bytes(packs.compile_pack(place))
    write(place / "a/one.yaml", signature("a/one", "changed"))
    monkeypatch.setattr(packs, "place_of", lambda name: str(tmp_path / "_packaged" / name))
    (one,) = load().signatures
    assert (one.title, one.file) == ("compiled", str(place / "a/one.yaml"))


def test_a_pack_that_is_shipped_says_of_its_expressions_what_would_be_derived(monkeypatch):
    """So that Python's parser of expressions need not be asked for them again."""
    known: dict = {}
    monkeypatch.setattr(expressions, "_KNOWN", known)
    pack = Pack(packs.compile_pack(folder("signatures"), thorough=True), "")
    for number in range(len(pack.ids)):
        pack.read(number)
    assert len(known) > 50
    for regex, (literals, text) in known.items():
        assert (literals, text) == (literals_of(regex), spoken(regex))
        assert (expressions.literals_of(regex), expressions.spoken(regex)) == (literals, text)


def test_get_by_id_and_by_alias():
    """Old names keep working."""
    library = load([DATA], packaged=False)
    assert library.get("sglang/layer0").id == "sglang/layer0"
    assert library.get("sglang/layer-zero").id == "sglang/layer0"
    assert library.get("sglang/nothing") is None


@pytest.mark.parametrize("name", ["sglang/layer", "layer0", "SGLANG/LAYER0", "sglnag/layer0", "layer-zero"])
def test_near_names_are_offered(name):
    """For what was meant."""
    assert load([DATA], packaged=False).near(name)[0] == "sglang/layer0"


def test_nothing_near_is_nothing():
    """No guess for the sake of one."""
    assert load([DATA], packaged=False).near("zzzz") == []


def test_digest_changes_with_any_signature(tmp_path):
    """And only with them."""
    place = write(tmp_path / "p/a.yaml", signature("a/one"))
    first = load([tmp_path / "p"], packaged=False).digest
    write(place, signature("a/one", more="not_when: 'other'\n"))
    second = load([tmp_path / "p"], packaged=False).digest
    write(place, "# a comment\n" + signature("a/one", more="not_when: 'other'\n"))
    assert first != second == load([tmp_path / "p"], packaged=False).digest


def test_signatures_are_a_sequence():
    """By id, with length and slices."""
    found = load([DATA], packaged=False).signatures
    assert [one.id for one in found] == sorted(one.id for one in found)
    assert len(found) == 6
    assert found[0].id == "lab/killed"
    assert [one.id for one in found[1:3]] == ["lab/loopback", "lab/native"]
