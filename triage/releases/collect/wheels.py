"""Published packages: which there are, and what of one release goes into the table. pip knows where they come from."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.parser import HeaderParser

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from triage.model import TriageError
from triage.releases.collect.arguments import FILES, Option, options
from triage.releases.collect.scopes import Scope, scopes
from triage.releases.frames import COVERED
from triage.releases.table import MODULE, canonical, module, simple
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PACKAGE = "sglang"
OLDEST = "0.4.0"
# What a service depends on by exact release; the names as METADATA has them, in lower case with hyphens.
PINNED = (
    "torch",
    "torchvision",
    "torchaudio",
    "torchao",
    "sgl-kernel",
    "sglang-kernel",
    "flashinfer",
    "flashinfer-python",
    "flashinfer-cubin",
    "transformers",
    "xgrammar",
    "llguidance",
    "outlines",
    "compressed-tensors",
    "cuda-python",
    "nvidia-cutlass-dsl",
    "vllm",
)
# The extras under which older releases ask for what a server on NVIDIA's GPUs needs.
_EXTRAS = ("", "runtime-common", "runtime_common", "srt")


@dataclass(slots=True)
class Release:
    """What is kept of one release: the scopes of its files by path, its launch arguments, what it asks for by name."""

    version: str
    scopes: dict[str, list[Scope]]
    options: list[Option]
    pins: dict[str, str]

    def names(self) -> set[str]:
        """Return the names that frames of this release may bear: of scopes, and of modules as imports call them."""
        names = {canonical(simple(scope.name)) for found in self.scopes.values() for scope in found} - {MODULE}
        return names | {module(path) for path in self.scopes}


def published(oldest: str = OLDEST) -> list[str]:
    """Return the final and post releases that pip can get, oldest first. Raises `TriageError` where pip cannot say."""
    said = _pip("index", "versions", PACKAGE, "--json")
    if said.returncode == 0:
        versions = json.loads(said.stdout)["versions"]
    else:  # pip before 25.1 has no --json
        said = _pip("index", "versions", PACKAGE)
        found = re.search(r"^Available versions: (.*)$", said.stdout, re.MULTILINE)
        if found is None:
            raise TriageError(f"pip does not say which releases of {PACKAGE} there are: {said.stderr.strip()[-300:]}")
        versions = found[1].split(", ")
    wanted = [one for one in map(Version, versions) if one >= Version(oldest) and not one.is_prerelease]
    return [str(one) for one in sorted(wanted)]


def download(version: str, folder: Path) -> Path:
    """Download a release into a folder; return the wheel. Raises `TriageError` where there is none for this Python."""
    said = _pip(
        "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), f"{PACKAGE}=={version}"
    )
    wheels = sorted(folder.glob("*.whl"))
    if said.returncode or not wheels:
        raise TriageError(f"{PACKAGE} {version}: {said.stderr.strip()[-300:] or 'pip brought no wheel'}")
    return wheels[0]


def read(wheel: Path, version: str, cache: dict[bytes, list[Scope]] | None = None) -> Release:
    """Take a wheel; return what is kept of it. `cache` maps files' bytes to their scopes, of this and other releases.

    Raises `TriageError` where a file is no Python that this interpreter knows.
    """
    cache = {} if cache is None else cache
    found: dict[str, list[Scope]] = {}
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        try:
            for name in filter(COVERED.fullmatch, names):
                source = archive.read(name)
                if source not in cache:
                    cache[source] = scopes(source)
                found[name] = cache[source]
            flags = options({name: archive.read(name) for name in names if FILES.fullmatch(name)})
        except (SyntaxError, ValueError) as error:
            python = sys.version.split()[0]
            raise TriageError(f"{PACKAGE} {version}: {error}: not to be read with Python {python}") from error
        metadata = next(name for name in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        pins = requirements(archive.read(metadata).decode("utf-8", "replace"))
    return Release(version, found, flags, pins)


def requirements(metadata: str) -> dict[str, str]:
    """Take a METADATA file (PEP 566); return the ranges that it asks for, by package, of those that matter here."""
    found: dict[str, str] = {}
    for line in HeaderParser().parsestr(metadata).get_all("Requires-Dist", []):
        try:
            one = Requirement(line)
        except InvalidRequirement:
            continue
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if name in PINNED and _asked(one, found.get(name, "")):
            found[name] = str(one.specifier)
    return found


def _asked(one: Requirement, before: str) -> bool:
    """Say whether a requirement holds for a server on NVIDIA's GPUs, and says more than what was found before."""
    return bool(one.specifier) and not before and any(_holds(one, extra) for extra in _EXTRAS)


def _holds(one: Requirement, extra: str) -> bool:
    environment: Mapping[str, str] = {"extra": extra, "sys_platform": "linux", "platform_machine": "x86_64"}
    return one.marker is None or one.marker.evaluate(dict(environment))


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True)
