"""The inputs of a measurement, made once for each set of sizes and kept in one folder."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20260525


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large the inputs are: bytes of logs, entries of journals, numbers of signatures."""

    log: int = 1_000_000_000
    tracebacks: int = 50_000_000
    small: int = 256 << 10
    journal: int = 1_000_000
    few: int = 50
    some: int = 500
    many: int = 2000
    own: int = 300


def make(folder: Path, sizes: Sizes) -> None:
    """Make what is missing in a folder. Each input is made by a process of its own, so that this one stays small."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "sizes.json"
    wanted = {"seed": SEED, **asdict(sizes)}
    if stamp.is_file() and json.loads(stamp.read_text(encoding="ascii")) == wanted:
        return
    subprocess.run([sys.executable, "-m", "benchmarks.data", str(folder), json.dumps(asdict(sizes))], check=True)
    stamp.write_text(json.dumps(wanted), encoding="ascii")


def _write(folder: Path, sizes: Sizes) -> None:
    import shutil

    from benchmarks import journals, logs, signatures
    from triage.library import load

    logs.write(folder / "big.log", sizes.log, SEED)
    logs.write(folder / "small.log", sizes.small, SEED, logs.Mix(runs=1))
    logs.write_tracebacks(folder / "tracebacks.log", sizes.tracebacks, SEED)
    subprocess.run(["gzip", "-kf", str(folder / "big.log")], check=True)
    if shutil.which("zstd"):
        subprocess.run(["zstd", "-qkf", str(folder / "big.log")], check=True)
    if journals.available():
        for name, entries in (("journal", sizes.journal), ("journal-small", min(sizes.journal, 2000))):
            shutil.rmtree(folder / name, ignore_errors=True)
            journals.write(folder / name, entries, SEED)
    packaged = load(standing=False)
    shutil.rmtree(folder / "packs", ignore_errors=True)
    signatures.write(folder / "packs" / "some", max(sizes.some - len(packaged.entries), 1), SEED)
    signatures.write(folder / "packs" / "many", max(sizes.many - len(packaged.entries), 1), SEED)
    signatures.write(folder / "packs" / "own", sizes.own, SEED)
    for name, count in (("few-alone", sizes.few), ("many-alone", sizes.many)):
        signatures.write(folder / "packs" / name, count, SEED, lines=0)
        signatures.switch_off(folder / "packs" / name, [entry.id for entry in packaged.entries])


if __name__ == "__main__":
    from pathlib import Path

    _write(Path(sys.argv[1]), Sizes(**json.loads(sys.argv[2])))
