"""Applying edits and taking them back, exactly, also after an interruption anywhere."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from triage.fixes.apply import apply, mend, revert, state
from triage.fixes.edit import Edit, check, plan_edits
from triage.model import TriageError

ID = "engine/layer-zero"
FILE = "engine/layers/attention.py"
OLD, NEW = "pool.buffer(0)", "pool.buffer(pool.start)"
STEPS = ["open", "fsync", "fchmod", "replace", "unlink", "utime"]


def patch(edits, site):
    return apply(plan_edits(edits, site.folder), ID)


@pytest.fixture(autouse=True)
def fast_disk(monkeypatch):
    """Waiting for the disk is what takes the time here."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def edits(make_edit):
    return [make_edit()]


def test_apply_changes_the_file_and_keeps_the_old_one(site, edits):
    """The backup has the old bytes, the journal both digests, the signature and the time."""
    path = site.install()
    before = path.read_bytes()
    notes = patch(edits, site)
    assert path.read_bytes() == before.replace(
        b"dim = runner.pool.buffer(0)", b"dim = " + edits[0].replacement.encode()
    )
    assert site.left() == ["attention.py.triage-backup", "attention.py.triage.json"]
    assert path.with_name("attention.py.triage-backup").read_bytes() == before
    journal = json.loads(path.with_name("attention.py.triage.json").read_text())
    assert journal["original"] == hashlib.sha256(before).hexdigest()
    assert journal["patched"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert journal["signature"] == ID
    assert journal["time"].endswith("+00:00")
    assert notes == [f"changed {path}", f"backup  {path}.triage-backup"]


def test_revert_undoes_exactly(site, edits):
    """Bytes, mode and times are as before, and nothing of triage's is left."""
    path = site.install()
    os.utime(path, ns=(1, 1_600_000_000_123_456_789))
    path.chmod(0o640)
    before, was = path.read_bytes(), path.stat()
    patch(edits, site)
    assert "as it was before" in revert(FILE, site.folder, ID, edits)
    now = path.stat()
    assert path.read_bytes() == before
    assert (now.st_mode, now.st_mtime_ns, now.st_uid, now.st_gid) == (
        was.st_mode,
        was.st_mtime_ns,
        was.st_uid,
        was.st_gid,
    )
    assert site.left() == []


def test_applying_again_changes_nothing(site, edits):
    """The second time there is nothing to do, and the backup stays the original."""
    path = site.install()
    before = path.read_bytes()
    patch(edits, site)
    after = path.read_bytes()
    again = plan_edits(edits, site.folder)
    assert again.ok
    assert again.changes == []
    assert apply(again, ID) == []
    assert path.read_bytes() == after
    assert path.with_name("attention.py.triage-backup").read_bytes() == before


def test_reverting_again_changes_nothing(site, edits):
    """What was never changed, or was put back, is left as it is."""
    path = site.install()
    assert "nothing to undo" in revert(FILE, site.folder, ID, edits)
    patch(edits, site)
    revert(FILE, site.folder, ID, edits)
    was = path.stat().st_mtime_ns
    assert "nothing to undo" in revert(FILE, site.folder, ID, edits)
    assert path.stat().st_mtime_ns == was


def test_bytecode_goes_with_every_change(site, edits):
    """Neither a patched nor a restored module can be shadowed by what was compiled before."""
    path = site.install()
    compiled = path.parent / "__pycache__" / "attention.cpython-312.pyc"
    compiled.parent.mkdir()
    compiled.touch()
    patch(edits, site)
    assert not compiled.exists()
    compiled.touch()
    revert(FILE, site.folder, ID, edits)
    assert not compiled.exists()


def test_read_only_files_are_changed_and_stay_read_only(site, edits):
    """What counts is whether the folder can be written."""
    path = site.install()
    path.chmod(0o444)
    patch(edits, site)
    assert path.stat().st_mode & 0o777 == 0o444
    assert path.with_name("attention.py.triage-backup").stat().st_mode & 0o777 == 0o444
    revert(FILE, site.folder, ID, edits)
    assert path.stat().st_mode & 0o777 == 0o444


def test_a_file_changed_since_is_not_reverted(site, edits):
    """An upgrade, or a hand, has been there: the file is left alone, and that is said."""
    path = site.install()
    patch(edits, site)
    path.write_text("x = 1\n")
    with pytest.raises(TriageError, match="changed since triage patched it"):
        revert(FILE, site.folder, ID, edits)
    assert path.read_text() == "x = 1\n"
    assert state(FILE, site.folder, edits).state == "changed"


def test_a_new_release_over_a_patched_file_keeps_its_own(site, edits):
    """After an upgrade an old backup is in the way: nothing is overwritten, and what to remove is said."""
    path = site.install()
    patch(edits, site)
    site.install("# a new release\n" + path.with_name("attention.py.triage-backup").read_text())
    with pytest.raises(TriageError, match=r"attention.py.triage-backup.*remove"):
        patch(edits, site)
    assert path.read_text().startswith("# a new release\n")


@pytest.mark.parametrize("damage", ["gone", "other"])
def test_a_backup_that_is_not_what_was_saved_is_not_put_back(site, edits, damage):
    """The digest in the journal decides."""
    path = site.install()
    patch(edits, site)
    after = path.read_bytes()
    backup = path.with_name("attention.py.triage-backup")
    backup.unlink() if damage == "gone" else backup.write_text("import os\n")
    with pytest.raises(TriageError, match="reinstall"):
        revert(FILE, site.folder, ID, edits)
    assert path.read_bytes() == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"signature": 1}',
        '{"signature": "x; rm", "original": "", "patched": "", "time": ""}',
        "[" * 100_000,
    ],
)
def test_a_journal_that_is_none_of_ours_stops_everything(site, edits, text):
    """What cannot be understood is not acted on."""
    path = site.install()
    patch(edits, site)
    after = path.read_bytes()
    path.with_name("attention.py.triage.json").write_text(text)
    for act in (lambda: revert(FILE, site.folder, ID, edits), lambda: mend(FILE, site.folder, edits)):
        with pytest.raises(TriageError, match="no journal"):
            act()
    assert path.read_bytes() == after


def test_a_foreign_backup_is_not_overwritten(site, edits):
    """A file of that name without a journal may be somebody's only copy."""
    path = site.install()
    backup = path.with_name("attention.py.triage-backup")
    backup.write_text("precious")
    with pytest.raises(TriageError, match="without a journal"):
        patch(edits, site)
    assert backup.read_text() == "precious"


def test_a_backup_that_is_a_link_is_not_followed(site, edits, tmp_path):
    """Neither read nor written."""
    path = site.install()
    patch(edits, site)
    backup = path.with_name("attention.py.triage-backup")
    backup.rename(tmp_path / "elsewhere")
    backup.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TriageError, match="link"):
        revert(FILE, site.folder, ID, edits)


def test_another_signatures_change_is_named(site, edits):
    """One file, two signatures: the first has to be taken back first."""
    site.install()
    patch(edits, site)
    with pytest.raises(TriageError, match=f"{ID} --revert"):
        revert(FILE, site.folder, "engine/other", edits)
    other = Edit(FILE, "Backend.other", "return runner.pool.buffer(0)", "return runner.pool.buffer(1, 2)")
    with pytest.raises(TriageError, match=f"{ID} --revert"):
        apply(plan_edits([other], site.folder), "engine/other")


def test_all_files_are_changed_or_none(site, make_edit):
    """When the second file cannot be changed, the first is put back."""
    first = site.install()
    second = site.install(file="engine/layers/second.py")
    edits = [make_edit(), make_edit(file="engine/layers/second.py")]
    plan = plan_edits(edits, site.folder)
    before = first.read_bytes()
    second.write_text("x = 1\n")
    with pytest.raises(TriageError, match="no longer what was looked at"):
        apply(plan, ID)
    assert first.read_bytes() == before
    assert site.left() == []
    second.write_bytes(before)
    patch(edits, site)
    assert first.read_bytes() == second.read_bytes() != before


def test_a_change_by_another_program_in_between_wins(site, edits, monkeypatch):
    """Somebody writes the file while its successor is prepared: theirs stays, and nothing of ours."""
    path = site.install()
    plan = plan_edits(edits, site.folder)
    real = os.utime

    def meddle(*args, **keys):
        path.write_text("theirs = 1\n")
        return real(*args, **keys)

    monkeypatch.setattr(os, "utime", meddle)
    with pytest.raises(TriageError, match="changed by another program"):
        apply(plan, ID)
    assert path.read_text() == "theirs = 1\n"
    assert site.left() == []


def test_two_runs_do_not_meet(site, edits):
    """The folder is locked while one is at work."""
    path = site.install()
    plan = plan_edits(edits, site.folder)
    descriptor = os.open(path.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        with pytest.raises(TriageError, match="another triage"):
            apply(plan, ID)
    finally:
        os.close(descriptor)
    apply(plan, ID)


def test_a_full_disk_leaves_nothing_behind(site, edits, monkeypatch):
    """An error of the system is one clear line, and the file is as it was."""
    path = site.install()
    before = path.read_bytes()
    plan = plan_edits(edits, site.folder)
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TriageError, match="No space left on device; nothing was done"):
        apply(plan, ID)
    assert path.read_bytes() == before
    assert site.left() == []


def test_a_file_of_another_user_needs_that_user(site, edits, monkeypatch):
    """When the owner cannot be kept, nothing is changed."""
    path = site.install()
    before = path.read_bytes()
    plan = plan_edits(edits, site.folder)
    real = os.fstat

    def other(descriptor):
        values = list(real(descriptor))
        if not os.readlink(f"/proc/self/fd/{descriptor}").endswith("triage-part"):
            values[4] = 54321
        return os.stat_result(values)

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fstat", other)
    monkeypatch.setattr(os, "fchown", refuse)
    with pytest.raises(TriageError, match="belongs to user 54321"):
        apply(plan, ID)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert site.left() == []


def interrupted(at, action):
    """Run an action in a child that is killed at its n-th system call that changes something; say whether it was."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    count = 0

    def counted(call):
        def run(*args, **keys):
            nonlocal count
            count += 1
            if count == at:
                os._exit(9)
            return call(*args, **keys)

        return run

    try:
        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        action()
    finally:
        os._exit(0)


@pytest.mark.parametrize("then", ["revert", "apply"])
def test_an_interrupted_apply_is_recovered_at_every_step(site, edits, then):
    """Killed anywhere, the file is whole: it can be reverted, or applied again and then reverted."""
    path = site.install()
    before = path.read_bytes()
    after = plan_edits(edits, site.folder).changes[0].after
    killed = 0
    while interrupted(killed + 1, lambda: patch(edits, site)):
        killed += 1
        assert path.read_bytes() in (before, after)
        if then == "apply":
            mend(FILE, site.folder, edits)
            patch(edits, site)
            assert path.read_bytes() == after
        revert(FILE, site.folder, ID, edits)
        assert path.read_bytes() == before
        assert [name for name in site.left() if not name.endswith("part")] == []
    assert killed > 10
    assert path.read_bytes() == after


def test_an_interrupted_revert_is_recovered_at_every_step(site, edits):
    """Killed anywhere, the next revert ends with the original and nothing beside it."""
    path = site.install()
    before = path.read_bytes()
    patch(edits, site)
    killed = 0
    while interrupted(killed + 1, lambda: revert(FILE, site.folder, ID, edits)):
        killed += 1
        revert(FILE, site.folder, ID, edits)
        assert path.read_bytes() == before
        patch(edits, site)
    assert killed > 3
    assert path.read_bytes() == before
    assert site.left() == []


@pytest.mark.parametrize("recover", ["mend", "revert"])
@pytest.mark.parametrize("rest", [b"", b"\0" * 64])
def test_a_file_cut_short_is_put_back(site, edits, recover, rest):
    """A machine that stops may leave the beginning of a file, or zeros for what was not written."""
    path = site.install()
    before = path.read_bytes()
    after = plan_edits(edits, site.folder).changes[0].after
    for length in (0, 1, len(after) // 2, len(after) - 1):
        patch(edits, site)
        path.write_bytes(after[:length] + rest)
        assert state(FILE, site.folder, edits).state == "half"
        mend(FILE, site.folder, edits) if recover == "mend" else revert(FILE, site.folder, ID, edits)
        assert path.read_bytes() == before
        assert site.left() == []


def test_a_short_file_of_somebody_else_is_not_taken_for_ours(site, edits):
    """Only a beginning of exactly what was to be written counts as cut short."""
    path = site.install()
    patch(edits, site)
    path.write_bytes(b"import functools\n")
    assert mend(FILE, site.folder, edits) is None
    with pytest.raises(TriageError, match="changed since"):
        revert(FILE, site.folder, ID, edits)


def test_nothing_of_the_target_is_imported_or_run(site, make_edit, tmp_path):
    """A module that acts when it is imported stays quiet."""
    trap = tmp_path / "ran"
    site.install(f"open({str(trap)!r}, 'w')\ndef f(pool):\n    return {OLD}\n")
    edits = [make_edit(function="f", replace=OLD, replacement=NEW)]
    patch(edits, site)
    revert(FILE, site.folder, ID, edits)
    assert not trap.exists()


_lines = st.lists(
    st.sampled_from(
        [
            "x = 'pool.buffer(0)'",
            "# pool.buffer(0)",
            "",
            "\tif x: pass",
            "    y = '''\u00e9 \\",
            "'''",
            "@decorated",
            "async def g(pool): return pool.buffer(0)",
            "\x0c",
            "z = [1,",
            "  2]",
            "if x:",
            "    pass",
        ]
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    above=_lines,
    below=_lines,
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    cookie=st.sampled_from(
        ["", "# -*- coding: latin-1 -*-", "# vim: fileencoding=utf-8", "\ufeff", "#!/usr/bin/python"]
    ),
    indent=st.sampled_from(["    ", "\t", " "]),
    last=st.booleans(),
    layout=st.sampled_from(["pool.buffer(0)", "pool . buffer(0 )", "pool.buffer(  # c\n 0\n)", "(pool.buffer(0))"]),
)
def test_apply_and_revert_restore_every_byte(above, below, ending, cookie, indent, last, layout):
    """Whatever stands around the expression: it applies and reverts to the same bytes, or is refused untouched."""
    encoding = "latin-1" if "latin" in cookie else "utf-8"
    lines = [cookie, *above, "class B:", f"{indent}def f(self, pool):", f"{indent}{indent}v = 'ü', {layout}", *below]
    text = "\n".join(lines).replace("\n", ending) + (ending if last else "")
    before = text.encode(encoding)
    edit = Edit(FILE, "B.f", OLD, NEW)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, FILE)
        path.parent.mkdir(parents=True)
        path.write_bytes(before)
        result = check(edit, Path(folder))
        if result.outcome != "applies":
            assert result.outcome in ("unreadable", "not-unique", "other-code")
            return
        apply(plan_edits([edit], Path(folder)), ID)
        after = path.read_bytes()
        assert after.replace(b"pool.start", b"0", 1) == before
        compile(after, "patched", "exec", dont_inherit=True)
        assert check(edit, Path(folder)).outcome == "already-fixed"
        revert(FILE, Path(folder), ID, [edit])
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]
