"""Which folder holds the package that is to be changed, and which release stands in it.

The folder is what the operator names, or what the unit's own interpreter imports from; a log never chooses it. Found by
reading file names and metadata: the interpreter is not run.
"""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path

from triage.lazy import regex
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_METADATA = ("*.dist-info/METADATA", "*.egg-info/PKG-INFO")
_SITE = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages")
_HEADER_BYTES = 65_536
_SHEBANG = regex(rb"#!(/\S*/python[\w.]*)|#!/bin/sh\r?\n'''exec' \"?(/[^\"\n]*/python[\w.]*)")


def folder_of(directory: Path, package: str) -> Path:
    """Take a site-packages directory, an environment, or a source checkout; return the folder that holds the package.

    Of an editable install it is the checkout that it names. Raises `TriageError` if there is none, or more than one.
    """
    if not directory.is_dir():
        raise TriageError(f"--target {directory}: is no directory")
    if directory.name == package and (directory / "__init__.py").is_file():
        return directory.parent.resolve()
    nearby = [directory, directory / "python", directory / "src"]
    found = _distinct(place for place in nearby if _holds(place, package))
    if not found:
        sites = [*nearby[:1], *site_folders([directory])]
        found = _distinct(place for site in sites for place in _imports(site, package))
    return _the_one(found, package, f"--target {directory}")


def folder_of_unit(unit: str, package: str) -> Path:
    """Take a systemd unit; return the folder from which the interpreter of its ExecStart imports the package.

    Raises `TriageError` if the unit, its interpreter or the package cannot be found.
    """
    from triage.sources.systemctl import unit_state
    from triage.sources.versions import interpreter_of

    asked = f"--unit {unit}"
    state = unit_state(unit)
    if state is None or not state.exec_start:
        raise TriageError(f"{asked}: systemd knows no such unit with an ExecStart=; use --target DIR")
    if state.root_directory:
        raise TriageError(f"{asked}: it runs in RootDirectory={state.root_directory}; use --target DIR")
    program = interpreter_of(state.exec_start)
    if program is None:
        raise TriageError(f"{asked}: {state.exec_start[:200]!r} names no Python of this host; use --target DIR")
    return folder_of_interpreter(_python_of(Path(program)), package, f"{asked}: {program}")


def folder_of_interpreter(python: Path, package: str, asked: str) -> Path:
    """Take an interpreter's path; return the folder from which it imports the package.

    `asked` names it in errors. Raises `TriageError` if there is none.
    """
    sites = site_folders(prefixes(python))
    version = re.search(r"python(3\.\d+)$", os.path.realpath(python))
    if version:
        sites = [site for site in sites if site.parent.name in (f"python{version[1]}", "python3")]
    found = _distinct(place for site in sites for place in _imports(site, package))
    # Of one Python the first on its path is the one that it imports.
    return _the_one(found[:1] if version else found, package, asked)


def prefixes(python: Path) -> list[Path]:
    """Take an interpreter's path; return the environments that it imports from, its own first.

    Those are the venv (the folder above `bin`; its `python` is a link that must not be followed) and, where
    pyvenv.cfg lets it see the system's packages, the one it was made from.
    """
    own = python.parent.parent
    settings = _settings(own / "pyvenv.cfg")
    if settings is None:
        real = Path(os.path.realpath(python)).parent.parent
        return [*_system(own), *([] if real == own else _system(real))]
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        return [own, *_system(Path(settings["home"]).parent)]
    return [own]


def site_folders(environments: Sequence[Path]) -> list[Path]:
    """Return the site-packages and dist-packages directories of environments, in order."""
    return _distinct(site for base in environments for pattern in _SITE for site in sorted(base.glob(pattern)))


def installed_release(parent: Path, distribution: str) -> str | None:
    """Return the release of a distribution, from its metadata next to the package or from the package's version file.

    None where nothing says it, or several things say several releases.
    """
    found = {release for folder in _metadata(parent, distribution) if (release := _header(folder, "Version"))}
    if not found:
        found = {release for release in _version_files(parent / distribution.replace("-", "_")) if release}
    return found.pop() if len(found) == 1 else None


def _python_of(program: Path) -> Path:
    """Take an interpreter, or a script (`/opt/venv/bin/sglang`) or `activate` beside one; return the interpreter.

    pip and uv name it in a script's first line, or, where its path is too long for that, in the second.
    """
    if program.name.startswith("python"):
        return program
    try:
        with program.open("rb") as file:
            head = file.read(2048)
    except OSError:
        head = b""
    named = _SHEBANG.match(head)
    return Path(os.fsdecode(named[1] or named[2])) if named else program.parent / "python3"


def _system(base: Path) -> list[Path]:
    """Return where a Python that is no venv imports from; a distribution's own looks into /usr/local first."""
    return [Path("/usr/local"), Path("/usr")] if base in (Path("/usr"), Path("/")) else [base]


def _settings(file: Path) -> dict[str, str] | None:
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    pairs = (line.partition("=") for line in lines)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _holds(folder: Path, package: str) -> bool:
    return (folder / package / "__init__.py").is_file() or (folder / package / "srt").is_dir()


def _imports(site: Path, package: str) -> Iterator[Path]:
    """Yield the folder from which `import package` reads with this directory on the path."""
    if _holds(site, package):
        yield site
        return
    for metadata in _metadata(site, package):
        try:
            said = json.loads((metadata.parent / "direct_url.json").read_bytes())
            url = said["url"] if said["dir_info"].get("editable") else ""
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
        if isinstance(url, str) and url.startswith("file:///"):
            from urllib.parse import unquote

            checkout = Path(unquote(url.removeprefix("file://")))
            yield from (place for place in (checkout, checkout / "src") if _holds(place, package))


def _metadata(parent: Path, distribution: str) -> Iterator[Path]:
    wanted = _normal(distribution)
    for pattern in _METADATA:
        for file in sorted(parent.glob(pattern)):
            # NAME-VERSION.dist-info, NAME-VERSION-pyX.Y.egg-info, or NAME.egg-info beside the sources.
            if _normal(file.parent.name.rsplit(".", 1)[0].partition("-")[0]) == wanted:
                yield file


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _header(file: Path, name: str) -> str | None:
    try:
        with file.open("rb") as stream:
            text = stream.read(_HEADER_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    match = re.search(rf"^{name}:[ \t]*(\S{{1,100}})\s*$", text.split("\n\n", 1)[0], re.MULTILINE)
    return match[1] if match else None


def _version_files(package: Path) -> Iterator[str | None]:
    """Yield the literal `__version__` of a source checkout; 0.0.0 stands for a build without history."""
    for name in ("_version.py", "version.py", "__init__.py"):
        try:
            tree = ast.parse((package / name).read_bytes()[:_HEADER_BYTES])
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in tree.body:
            targets = [ast.unparse(one) for one in node.targets] if isinstance(node, ast.Assign) else []
            if "__version__" in targets and isinstance(value := getattr(node, "value", None), ast.Constant):
                yield value.value if isinstance(value.value, str) and re.match(r"(?!0\.0\.0)\d", value.value) else None
                return


def _distinct(folders: Iterator[Path]) -> list[Path]:
    return list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in folders))


def _the_one(found: list[Path], package: str, asked: str) -> Path:
    if not found:
        raise TriageError(f"{asked}: there is no package {package} there")
    if len(found) > 1:
        places = ", ".join(map(str, found))
        raise TriageError(f"{asked}: {package} is there more than once, name one of them: {places}")
    return found[0]
