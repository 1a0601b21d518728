"""The files of the hook: where they lie, what they hold, and that removing leaves nothing behind."""

import os
import sys

import pytest

from triage.beside import owners
from triage.beside.unitfiles import MARK, Place, carry_out, hooked, is_ours, plan_install, plan_remove
from triage.model import TriageError


@pytest.fixture
def place(tmp_path):
    """The system's folders, elsewhere."""
    (tmp_path / "units").mkdir()
    return Place(
        tmp_path / "units",
        tmp_path / "local/lib/systemd/catalog/triage.catalog",
        (tmp_path / "run", tmp_path / "cache"),
    )


def files(place):
    top = place.units.parent
    return sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("sglang", "sglang.service"),
        ("sglang@", "sglang@.service"),
        ("sglang@gpu-1.service", "sglang@gpu-1.service"),
        ("a\\x2db", "a\\x2db.service"),
    ],
)
def test_a_service_a_template_or_an_instance_can_have_one(name, full):
    """As systemctl takes names."""
    assert hooked(name) == full


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("x.socket", "is no service"),
        ("../../etc/passwd", "cannot be the name"),
        ("a b", "cannot be the name"),
        ("-x;y", "cannot be the name"),
        ("triage-diagnose@a", "the hook's own"),
        ("n" * 240, "too long"),
    ],
)
def test_what_can_have_none_is_said(name, why):
    """A name becomes a path and an argument."""
    with pytest.raises(TriageError, match=why):
        hooked(name)


def test_it_runs_as_root_and_apart_and_cannot_fail_or_delay_the_unit(place):
    """`+` for root, `-` for no failure, timeout and --no-block for no delay, OnFailure for what never started."""
    hook = plan_install("x@.service", place).write[place.drop_in("x@.service")]
    (line,) = [line for line in hook.splitlines() if line.startswith("ExecStopPost=")]
    assert line.startswith("ExecStopPost=-+/")
    assert " timeout 5 " in line.replace("/usr/bin/", " ").replace("/bin/", " ").replace("  ", " ")
    assert '[ "$$SERVICE_RESULT" = success ] ||' in line
    assert "--no-block" in line
    assert "OnFailure=triage-diagnose@%n.service" in hook


def test_the_service_that_diagnoses_is_bounded(place):
    """In time, memory and priority; and out of the way of what serves."""
    text = plan_install("x.service", place).write[place.template]
    wanted = ("TimeoutStartSec=", "MemoryMax=", "CPUWeight=", "Nice=", "OOMScoreAdjust=9", "PrivateNetwork=yes")
    for setting in wanted:
        assert setting in text
    assert f"ExecStart={sys.executable} -I -m triage to-journal --hook -- %i" in text


def test_of_a_user_it_needs_no_root(tmp_path, monkeypatch):
    """No `+`, no sandbox that a user manager lacks, no catalogue, which is the system's."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    place = Place.of(user=True)
    plan = plan_install("x.service", place)
    assert sorted(path.relative_to(tmp_path / "systemd/user").as_posix() for path in plan.write) == [
        "triage-diagnose@.service", "x.service.d/50-triage.conf",
    ]  # fmt: skip
    hook = plan.write[place.drop_in("x.service")]
    assert "ExecStopPost=-/" in hook
    assert "systemctl --user start" in hook
    assert "ProtectSystem" not in plan.write[place.template]
    assert plan.commands == [["systemctl", "--user", "daemon-reload"]]


def test_what_is_written_is_what_is_removed(place):
    """The shared files go with the last hook, folders when they are empty."""
    before = files(place)
    for unit in ("a.service", "b@.service"):
        carry_out(plan_install(unit, place))
    assert len(files(place)) == 4
    assert all(is_ours(place.units.parent / name) for name in files(place))
    place.made[0].mkdir()
    (place.made[0] / "a.service.json").write_text("{}")
    carry_out(plan_remove("a.service", place))
    assert place.template.exists()
    assert place.made[0].exists()
    assert not place.drop_in("a.service").parent.exists()
    carry_out(plan_remove("b@.service", place))
    assert files(place) == before
    assert not place.catalog.parent.parent.exists()


def test_a_folder_with_other_files_stays(place):
    """An operator's drop-ins are not triage's."""
    carry_out(plan_install("a.service", place))
    other = place.drop_in("a.service").with_name("10-own.conf")
    other.write_text("[Service]\n")
    carry_out(plan_remove("a.service", place))
    assert other.exists()


def test_installing_twice_is_installing_once(place):
    """Also by a newer triage."""
    carry_out(plan_install("a.service", place))
    place.template.write_text(f"{MARK}\nold\n")
    carry_out(plan_install("a.service", place))
    assert "ExecStart=" in place.template.read_text()


def test_files_of_others_are_left_alone(place):
    """With one line that says so."""
    place.drop_in("a.service").parent.mkdir()
    place.drop_in("a.service").write_text("[Service]\n")
    with pytest.raises(TriageError, match="not triage's"):
        plan_install("a.service", place)
    with pytest.raises(TriageError, match="has no hook"):
        plan_remove("a.service", place)


def test_where_hooks_are_is_said(place):
    """To who mistypes a name."""
    carry_out(plan_install("a.service", place))
    with pytest.raises(TriageError, match=r"hooks there: a\.service"):
        plan_remove("b.service", place)


def test_a_write_that_fails_leaves_no_half_file(place, monkeypatch):
    """A disk is full when it is needed most."""
    plan = plan_install("a.service", place)
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(TriageError, match="no space left"):
        carry_out(plan)
    assert files(place) == []


def test_code_that_others_can_change_is_not_run_as_root(tmp_path, monkeypatch):
    """A venv of a user would give that user root."""
    import triage

    folder = tmp_path / "triage"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr(triage, "__file__", str(folder / "__init__.py"))
    with pytest.raises(TriageError, match="can be changed by others than root"):
        owners.check_owned_by_root()
