"""Proves signatures' edits on published wheels.

    python tools/released_edits.py [--releases 0.5.9,0.5.18] [--wheels DIR] [SIGNATURE...]

For each signature with edits (all of them by default) and each release: the named files are taken out of the published
wheel; where an edit claims the release it must apply, compile, be idempotent and revert to the same bytes; everywhere
else it must be refused, or find the defect already gone. pip downloads the wheels by name, from where it is set up to.
Exit status 0 if every claim holds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from triage.fixes.apply import apply, revert
from triage.fixes.edit import edits_of, plan_edits
from triage.library import load
from triage.library.releases import contains

RELEASES = (
    "0.4.0.post2,0.4.3.post4,0.4.4.post1,0.4.4.post2,0.4.6.post1,0.4.6.post2,0.4.6.post4,0.4.6.post5,0.4.7,0.4.8,"
    "0.4.8.post1,0.4.9,0.4.9.post1,0.4.9.post2,0.4.10.post2,0.5.1,0.5.1.post2,0.5.1.post3,0.5.2,0.5.3,0.5.3.post3,0.5.4,"
    "0.5.4.post3,0.5.5.post3,0.5.6,0.5.6.post2,0.5.7,0.5.8.post1,0.5.9,0.5.10.post1,0.5.11,0.5.12.post1,0.5.13,0.5.14,"
    "0.5.15,0.5.16,0.5.17,0.5.18,0.5.19,0.5.20,0.5.21,0.5.22,0.5.23"
)


def wheel_of(package: str, release: str, folder: Path) -> Path | None:
    """Return the wheel of a release, downloaded into `folder` if it is not there; None if pip has none for us."""
    name = package.replace("-", "_")
    found = sorted(folder.glob(f"{name}-{release}-*.whl"))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", str(folder), f"{package}=={release}"]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)
        found = sorted(folder.glob(f"{name}-{release}-*.whl"))
    return found[0] if found else None


def unpack(wheel: Path, files: set[str], folder: Path) -> None:
    """Write the named files of a wheel, and its METADATA, below `folder`."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name in files or name.endswith(".dist-info/METADATA"):
                place = folder / name
                if ".." not in place.parts:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(archive.read(name))


def prove(signature, edits, release: str, wheel: Path, folder: Path) -> tuple[bool, str]:
    """Say whether a signature's edits do on one release what they claim, and what they did."""
    files = {edit.file for edit in edits}
    unpack(wheel, files, folder)
    before = {file: (folder / file).read_bytes() for file in files if (folder / file).is_file()}
    planned = plan_edits(edits, folder)
    said = "; ".join(f"{one.outcome} {one.why}" for one in planned.results)
    claimed = any(contains(ranges, release) for edit in edits for ranges in edit.releases.values())
    if not claimed:
        return not planned.changes, said
    if not planned.ok or not planned.changes:
        return False, said
    apply(planned, signature.id)
    again = plan_edits(edits, folder)
    if again.changes or not again.ok:
        return False, f"not idempotent: {'; '.join(one.why for one in again.results)}"
    for change in planned.changes:
        compile((folder / change.file).read_bytes(), change.file, "exec", dont_inherit=True)
        revert(change.file, folder, signature.id, edits)
    after = {file: (folder / file).read_bytes() for file in before}
    left = [path.name for path in folder.rglob("*triage*")]
    return after == before and not left, said


def main() -> int:
    parser = argparse.ArgumentParser(description="Proves signatures' edits on published wheels.")
    parser.add_argument("signatures", nargs="*", metavar="SIGNATURE")
    parser.add_argument("--releases", default=RELEASES, help="comma-separated")
    parser.add_argument("--wheels", type=Path, help="keep the downloads here and use them again")
    args = parser.parse_args()
    library = load()
    wanted = [library.get(name) for name in args.signatures] or [one for one in library.signatures if edits_of(one)]
    if None in wanted:
        parser.error(f"there is no signature {args.signatures[wanted.index(None)]}")
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        wheels = args.wheels or Path(scratch, "wheels")
        wheels.mkdir(parents=True, exist_ok=True)
        for release in args.releases.split(","):
            for signature in wanted:
                edits = edits_of(signature)
                package = next((name for edit in edits for name in edit.releases), "sglang")
                wheel = wheel_of(package, release, wheels)
                if wheel is None:
                    print(f"?    {package} {release}: no wheel for this Python")
                    wrong += 1
                    break
                folder = Path(scratch, release, signature.id)
                right, said = prove(signature, edits, release, wheel, folder)
                wrong += not right
                print(f"{'ok  ' if right else 'WRONG'} {package} {release} {signature.id}: {said}", flush=True)
    print(f"{wrong} claims do not hold" if wrong else "every claim holds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
