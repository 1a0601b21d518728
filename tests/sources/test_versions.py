"""Releases of installed packages, from dist-info folders."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.sources.versions import installed_versions, interpreter_of, site_folder


def install(site, name, version, metadata=None):
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    text = f"Metadata-Version: 2.4\nName: {name}\nVersion: {metadata or version}\n\nVersion: 9.9.9\n"
    (folder / "METADATA").write_text(text)


@pytest.fixture
def venv(tmp_path):
    root = tmp_path / "venv"
    site = root / "lib" / "python3.11" / "site-packages"
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n")
    for name, version in (("sglang", "0.5.6.post2"), ("torch", "2.9.1+cu128"), ("sgl-kernel", "0.3.21"),
                          ("nvidia-nccl-cu12", "2.27.5"), ("mooncake-transfer-engine", "0.3.13.post1"), ("idna", "3.1")):  # fmt: skip
        install(site, name, version)
    return root


EXPECTED = {
    "sglang": "0.5.6.post2", "torch": "2.9.1+cu128", "sgl_kernel": "0.3.21", "nccl": "2.27.5", "mooncake": "0.3.13.post1",
}  # fmt: skip


def test_reads_the_packages_beside_a_tracebacks_path(venv):
    """The site-packages folder of a frame tells what is installed there."""
    frame = f"{venv}/lib/python3.11/site-packages/sglang/srt/managers/scheduler.py"
    assert installed_versions([frame, "/nowhere/x.py", "<string>"]) == EXPECTED


def test_reads_the_packages_of_an_interpreter(venv):
    """So does the virtual environment of ExecStart=, which also knows its Python."""
    assert installed_versions(interpreter=f"{venv}/bin/python") == {**EXPECTED, "python_version": "3.11.7"}


def test_a_root_directory_comes_first(venv, tmp_path):
    """Paths of a service with RootDirectory= lie below it."""
    inside = f"/{venv.name}/bin/python3"
    assert installed_versions(interpreter=inside, root=str(tmp_path))["sglang"] == "0.5.6.post2"


def test_a_root_directory_is_not_left(tmp_path):
    """A program at the top of the root, or in no bin folder, leads to nothing beside the root."""
    install(tmp_path / "lib" / "python3.11" / "site-packages", "sglang", "0.5.9")
    root = str(tmp_path / "root")
    for interpreter in ("/", "/python", "/x/python", "/bin/python"):
        assert installed_versions(interpreter=interpreter, root=root) == {}


def test_system_packages_count_where_the_environment_sees_them(venv, tmp_path):
    """include-system-site-packages leads to the interpreter's own packages, the environment's win."""
    base = tmp_path / "base"
    install(base / "lib" / "python3.11" / "site-packages", "torch", "2.1.0")
    install(base / "lib" / "python3.11" / "site-packages", "triton", "3.5.1")
    (venv / "pyvenv.cfg").write_text(
        f"home = {base}/bin\ninclude-system-site-packages = true\nversion_info = 3.11.7.final.0\n"
    )
    found = installed_versions(interpreter=f"{venv}/bin/python")
    assert (found["torch"], found["triton"], found["python_version"]) == ("2.9.1+cu128", "3.5.1", "3.11.7")


def test_two_releases_of_one_package_are_unknown(venv):
    """A left-over dist-info of another release: which one runs can't be told."""
    install(venv / "lib" / "python3.11" / "site-packages", "sglang", "0.5.9")
    assert "sglang" not in installed_versions(interpreter=f"{venv}/bin/python")


def test_metadata_counts_before_the_folders_name(tmp_path):
    """The version is METADATA's own header, not what follows it."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    install(site, "sglang", "0.5.6", metadata="0.5.6.post2")
    (site / "torch-2.9.1.dist-info").mkdir()
    assert installed_versions(interpreter=f"{tmp_path}/bin/python") == {
        "sglang": "0.5.6.post2", "torch": "2.9.1", "python_version": "3.12",
    }  # fmt: skip


def test_hostile_metadata_is_not_followed(tmp_path):
    """Links, pipes and nonsense in place of METADATA are not read."""
    site = tmp_path / "lib" / "python3.12" / "site-packages"
    install(site, "vllm", "0.11.0", metadata="$(reboot)")
    for name in ("sglang", "torch"):
        (site / f"{name}-1.0.dist-info").mkdir()
    os.mkfifo(site / "sglang-1.0.dist-info" / "METADATA")
    (tmp_path / "secret").write_text("Version: 6.6.6\n")
    (site / "torch-1.0.dist-info" / "METADATA").symlink_to(tmp_path / "secret")
    found = installed_versions(interpreter=f"{tmp_path}/bin/python")
    assert (found["sglang"], found["torch"]) == ("1.0", "1.0")
    assert "vllm" not in found


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/opt/v/lib/python3.11/site-packages/torch/x.py", "/opt/v/lib/python3.11/site-packages"),
        ("/usr/lib/python3/dist-packages/yaml/__init__.py", "/usr/lib/python3/dist-packages"),
        ("/sgl-workspace/sglang/python/sglang/srt/x.py", None),
        ("site-packages/x.py", None),
        ("/proc/1/root/opt/site-packages/x.py", None),
        ("/a/../../etc/site-packages/x.py", None),
        ("<frozen importlib>", None),
    ],
)
def test_only_package_folders_are_looked_into(path, folder):
    """Other paths of a traceback, and trees that are never safe, are left alone."""
    assert site_folder(path) == folder


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/usr/bin/python3 -m sglang.launch_server", "/usr/bin/python3"),
        ("/opt/venv/bin/sglang serve x", "/opt/venv/bin/sglang"),
        ("/usr/bin/env /opt/v/bin/python3.11 -m x", "/opt/v/bin/python3.11"),
        ("/usr/bin/numactl -N0 /opt/v/bin/python -m x", "/opt/v/bin/python"),
        ("/bin/bash -c 'source /opt/v/bin/activate && python -m sglang.launch_server'", "/opt/v/bin/activate"),
        ("/bin/bash -c '/usr/bin/python3 -m x'", "/usr/bin/python3"),
        ("/usr/bin/docker run -it lmsysorg/sglang /opt/v/bin/python -m x", None),
        ("/bin/sleep 100", None),
        ("python -m x", None),
    ],
)
def test_finds_the_environment_of_a_command_line(command, program):
    """The program that says most surely which Python the service runs in; none inside a container."""
    assert interpreter_of(command) == program


@given(st.lists(st.text(alphabet="/.abcsite-packagesdist\0<> ", max_size=40), max_size=4), st.text(max_size=30))
def test_any_path_is_survived(paths, interpreter):
    """Nothing is raised, nothing is found where nothing is."""
    assert installed_versions(paths, interpreter, root="/nonexistent") == {}
