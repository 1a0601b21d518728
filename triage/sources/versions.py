"""Releases of what is installed for a service, read from dist-info folders; nothing of it is imported or run.

Source: the core metadata specification (PEP 566) and the layout of dist-info folders (PEP 376, PEP 405 for pyvenv.cfg).
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath

from triage.data import knowledge
from triage.lazy import regex
from triage.sources.words import commands
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SITE = ("site-packages", "dist-packages")
_DIST_INFO = regex(r"([A-Za-z0-9][A-Za-z0-9._-]*?)-([^-]+)\.dist-info")
_RELEASE = regex(r"[0-9][0-9A-Za-z.+!_]{0,63}")
_VERSION = regex(rb"^Version:[ \t]*(\S{1,64})[ \t]*\r?$", re.MULTILINE)
_SETTING = regex(r"^\s*([a-z_-]+)\s*=\s*(.*?)\s*$", re.MULTILINE)
_PYTHON = regex(r"(?:python|pypy)\d?(?:\.\d{1,2})?t?")
_PYTHON_FOLDER = regex(r"python(\d\.\d{1,2})t?")
_CONTAINER_PROGRAMS = ("docker", "podman", "nerdctl", "apptainer", "singularity")
_MOST_ENTRIES = 20_000
_MOST_BYTES = 65_536
# A path may come out of a log; these trees hold no packages and reading them can do harm or hang.
_NEVER = ("/proc/", "/sys/", "/dev/", "/net/", "/run/user/")


def installed_versions(paths: Iterable[str] = (), interpreter: str | None = None, root: str = "") -> dict[str, str]:
    """Take file paths of a traceback, or the path of a Python interpreter (or another program of its environment).

    Return the releases of the packages that matter beside them, by the name of the fact (`sglang`, `torch`, `nccl`,
    ...), and `python_version` where the environment says it. `root` is put before every path (a service's
    RootDirectory=). Packages that are there in two releases are left out. Nothing is raised.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        if (site := site_folder(path)) is not None:
            folders[Path(f"{root}{site}")] = None
    found: dict[str, str] = {}
    program = PurePosixPath(interpreter or "")
    if interpreter is not None and _is_safe(interpreter) and program.parent.name == "bin":
        prefix = Path(f"{root}{program.parent.parent}")  # parents first, so that none leads out of the root
        found.update(_python_version(prefix))
        folders.update(dict.fromkeys(_site_folders(prefix, root)))
    for folder in folders:
        for name, version in _releases(folder).items():
            found.setdefault(name, version)
    return found


def site_folder(path: str) -> str | None:
    """Take a path out of a traceback; return the site-packages or dist-packages folder that it lies in, if any."""
    if not _is_safe(path):
        return None
    parts = PurePosixPath(path).parts
    for index in range(len(parts) - 1, 0, -1):
        if parts[index] in _SITE:
            return str(PurePosixPath(*parts[: index + 1]))
    return None


def interpreter_of(command: str | Sequence[str]) -> str | None:
    """Take a command line (ExecStart=); return a program of the Python environment that it runs in, None if unknown.

    That is the interpreter, a script beside one (`/opt/venv/bin/sglang`), or an environment's `activate`. A command
    that starts a container says nothing of this host's packages.
    """
    programs = [word for words in commands(command) for word in words]
    if any(word.rpartition("/")[2] in _CONTAINER_PROGRAMS for word in programs):
        return None
    ranked = sorted((rank, word) for word in programs if (rank := _rank(word)) is not None)
    return ranked[0][1] if ranked else None


def _rank(program: str) -> int | None:
    """Order programs by how surely their folder belongs to a Python environment of the service's own; None if not."""
    folder, _, base = program.rpartition("/")
    if not _is_safe(program) or not folder.endswith("/bin"):
        return None
    python = bool(_PYTHON.fullmatch(base)) or base == "activate"
    if folder in {"/usr/bin", "/bin"}:
        return 2 if python else None
    return 0 if python else 1


def _is_safe(path: str) -> bool:
    return (
        path.startswith("/")
        and not path.startswith(_NEVER)
        and "\0" not in path
        and ".." not in PurePosixPath(path).parts
    )


def _site_folders(prefix: Path, root: str) -> Iterator[Path]:
    """Yield the package folders of an environment, and of the interpreter behind it where it sees those too."""
    yield from _below(prefix)
    settings = _settings(prefix)
    if settings.get("include-system-site-packages") == "true" and _is_safe(settings.get("home", "")):
        yield from _below(Path(f"{root}{PurePosixPath(settings['home']).parent}"))


def _below(prefix: Path) -> Iterator[Path]:
    local = [prefix / "local"] if prefix.name == "usr" else []  # Debian keeps pip's packages apart from its own
    for base in [*local, prefix]:
        for lib in (base / "lib", base / "lib64"):
            for folder in sorted(_entries(lib), reverse=True):
                if folder.startswith("python"):
                    for site in _SITE:
                        if (lib / folder / site).is_dir():
                            yield lib / folder / site


def _entries(folder: Path) -> list[str]:
    found = []
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_ENTRIES:
                    break
                found.append(entry.name)
    except OSError:
        pass
    return found


def _releases(folder: Path) -> dict[str, str]:
    packages: dict[str, str] = knowledge("launch")["packages"]
    found: dict[str, set[str]] = {}
    for entry in _entries(folder):
        match = _DIST_INFO.fullmatch(entry)
        fact = packages.get(re.sub(r"[-_.]+", "-", match[1]).lower()) if match else None
        if match is None or fact is None:
            continue
        said = _VERSION.search(_head(folder / entry / "METADATA").partition(b"\n\n")[0])
        version = said[1].decode("ascii", "replace") if said else match[2]
        if _RELEASE.fullmatch(version):
            found.setdefault(fact, set()).add(version)
    return {fact: releases.pop() for fact, releases in found.items() if len(releases) == 1}


def _python_version(prefix: Path) -> dict[str, str]:
    settings = _settings(prefix)
    version = settings.get("version") or ".".join(settings.get("version_info", "").split(".")[:3])
    if _RELEASE.fullmatch(version):
        return {"python_version": version}
    folders = {match[1] for name in _entries(prefix / "lib") if (match := _PYTHON_FOLDER.fullmatch(name))}
    return {"python_version": folders.pop()} if len(folders) == 1 else {}


def _settings(prefix: Path) -> dict[str, str]:
    text = _head(prefix / "pyvenv.cfg").decode("utf-8", "replace")
    return dict(_SETTING.findall(text))


def _head(path: Path) -> bytes:
    """Return a regular file's first bytes, nothing for what is no regular file or can't be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return os.read(descriptor, _MOST_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(descriptor)
