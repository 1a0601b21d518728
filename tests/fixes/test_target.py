"""Which folder holds the package, and which release is in it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from triage.fixes.target import folder_of, folder_of_interpreter, folder_of_unit, installed_release
from triage.model import TriageError


def package(folder, version=None, name="engine"):
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").touch()
    if version:
        metadata(folder, version, name)
    return folder


def metadata(folder, version, name="engine"):
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nVersion: 9\n")
    return info


def venv(folder, python="3.12", **settings):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to("/usr/bin/env")
    lines = {"home": "/usr/bin", "version": f"{python}.3", **settings}
    (folder / "pyvenv.cfg").write_text("".join(f"{key} = {value}\n" for key, value in lines.items()))
    site = folder / "lib" / f"python{python}" / "site-packages"
    site.mkdir(parents=True)
    return site


@pytest.mark.parametrize("below", [".", "python", "src", "lib/python3.12/site-packages", "lib/python3/dist-packages"])
def test_a_target_may_be_the_folder_an_environment_or_a_checkout(tmp_path, below):
    """All of them lead to the folder that holds the package."""
    place = package(tmp_path / below)
    assert folder_of(tmp_path, "engine") == place.resolve()


def test_a_target_may_be_the_package_itself(tmp_path):
    """The folder above it is meant."""
    assert folder_of(package(tmp_path) / "engine", "engine") == tmp_path.resolve()


def test_an_editable_install_leads_to_its_checkout(tmp_path):
    """direct_url.json of the distribution says where the sources lie."""
    site = venv(tmp_path / "venv")
    checkout = package(tmp_path / "work tree")
    info = metadata(site, "1.0")
    url = {"url": f"file://{str(checkout).replace(' ', '%20')}", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(url))
    assert folder_of(tmp_path / "venv", "engine") == checkout.resolve()
    url["dir_info"] = {}
    (info / "direct_url.json").write_text(json.dumps(url))
    with pytest.raises(TriageError, match="no package engine"):
        folder_of(tmp_path / "venv", "engine")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"url": 1, "dir_info": {"editable": true}}', '{"dir_info": 1}'])
def test_a_broken_direct_url_is_no_answer(tmp_path, text):
    """Whatever stands there, the package is just not found."""
    site = venv(tmp_path)
    (metadata(site, "1.0") / "direct_url.json").write_text(text)
    with pytest.raises(TriageError, match="no package"):
        folder_of(tmp_path, "engine")


def test_two_packages_in_one_environment_must_be_told_apart(tmp_path):
    """Two Pythons with the package each: which one is meant is not guessed."""
    package(tmp_path / "lib/python3.10/site-packages")
    package(tmp_path / "lib/python3.12/site-packages")
    with pytest.raises(TriageError, match=r"more than once.*python3\.10.*python3\.12"):
        folder_of(tmp_path, "engine")


def test_a_target_that_is_none_is_said(tmp_path):
    """Neither a file nor an empty folder will do."""
    with pytest.raises(TriageError, match="no directory"):
        folder_of(tmp_path / "nowhere", "engine")
    with pytest.raises(TriageError, match="no package engine"):
        folder_of(tmp_path, "engine")


def test_an_interpreter_of_a_venv_imports_from_there(tmp_path):
    """The link to the base interpreter is not followed."""
    site = package(venv(tmp_path))
    assert folder_of_interpreter(tmp_path / "bin" / "python", "engine", "x") == site.resolve()


def test_a_venv_may_see_the_packages_below_it(tmp_path):
    """Only if pyvenv.cfg says so."""
    base = package(tmp_path / "base/lib/python3.12/site-packages")
    home = str(tmp_path / "base/bin")
    venv(tmp_path / "closed", home=home)
    venv(tmp_path / "open", home=home, **{"include-system-site-packages": "true"})
    assert folder_of_interpreter(tmp_path / "open/bin/python", "engine", "x") == base.resolve()
    with pytest.raises(TriageError, match="no package"):
        folder_of_interpreter(tmp_path / "closed/bin/python", "engine", "x")


def test_an_interpreter_imports_for_its_own_version(tmp_path):
    """python3.12 does not look into python3.10's folder."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.12").touch()
    (tmp_path / "bin" / "python3").symlink_to("python3.12")
    package(tmp_path / "lib/python3.10/site-packages")
    right = package(tmp_path / "lib/python3.12/site-packages")
    assert folder_of_interpreter(tmp_path / "bin/python3", "engine", "x") == right.resolve()


@pytest.mark.parametrize(
    "head", ["#!{python}\n", "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n", "#!/usr/bin/env python3\n", ""]
)
def test_a_unit_leads_to_its_interpreters_packages(tmp_path, monkeypatch, head):
    """Of a console script the first line names the interpreter; else it is the one beside it."""
    site = package(venv(tmp_path / "venv"))
    script = tmp_path / "venv/bin/engine"
    script.write_text(head.format(python=tmp_path / "venv/bin/python"))
    (tmp_path / "venv/bin/python3").symlink_to("python")
    unit(monkeypatch, exec_start=f"{script} serve --port 1")
    assert folder_of_unit("engine.service", "engine") == site.resolve()
    unit(monkeypatch, exec_start=f"{tmp_path}/venv/bin/python -m engine.launch")
    assert folder_of_unit("engine.service", "engine") == site.resolve()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, "no such unit"),
        ({"exec_start": ""}, "no such unit"),
        ({"exec_start": "/usr/bin/docker run engine"}, "names no Python"),
        ({"exec_start": "/opt/venv/bin/python -m engine", "root_directory": "/srv"}, "RootDirectory=/srv"),
        ({"exec_start": "/nowhere/venv/bin/python -m engine"}, "no package engine"),
    ],
)
def test_a_unit_that_leads_nowhere_is_said(monkeypatch, state, message):
    """What was found instead, and what to name instead."""
    unit(monkeypatch, **state) if state else monkeypatch.setattr("triage.sources.systemctl.unit_state", lambda _: None)
    with pytest.raises(TriageError, match=message):
        folder_of_unit("engine.service", "engine")


def unit(monkeypatch, exec_start, root_directory=""):
    state = SimpleNamespace(exec_start=exec_start, root_directory=root_directory)
    monkeypatch.setattr("triage.sources.systemctl.unit_state", lambda _: state)


def test_the_release_is_read_from_metadata(tmp_path):
    """Of the distribution's own dist-info, its header only, however the name is spelled."""
    metadata(tmp_path, "0.5.9", "Some_Engine")
    metadata(tmp_path, "9.9", "some_engine_extra")
    assert installed_release(tmp_path, "some-engine") == "0.5.9"
    assert installed_release(tmp_path, "engine") is None


def test_two_releases_in_one_folder_are_unknown(tmp_path):
    """What an upgrade that broke off leaves says nothing."""
    metadata(tmp_path, "1.0")
    metadata(tmp_path, "1.1")
    assert installed_release(tmp_path, "engine") is None


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ('__version__ = "1.2.3"\n', "1.2.3"),
        ('import x\n__version__ = version = "1.2.dev4+g12"\n', "1.2.dev4+g12"),
        ('__version__ = "0.0.0.dev0"\n', None),
        ("__version__ = make()\n", None),
        ("__version__ = (\n", None),
        ("\0", None),
    ],
)
def test_a_checkouts_release_is_read_from_its_version_file(tmp_path, text, release):
    """As a literal: nothing is imported."""
    package(tmp_path)
    (tmp_path / "engine" / "version.py").write_text(text)
    assert installed_release(tmp_path, "engine") == release
