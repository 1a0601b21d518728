"""What is measured: each row holds triage against what an operator would use instead, with the bound it must keep."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from benchmarks import journals
from benchmarks.measure import Command

if TYPE_CHECKING:
    from benchmarks.data import Sizes

WORDS = "Error|error|FAILED|fatal|assert|Traceback"
_DONE = (0, 1, 3)  # a failure was found and diagnosed, or is unknown
_GREP = (0, 1)
_SHORT = 5

Measure = Literal["cpu", "wall", "cpu-difference", "throughput"]


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `must` and `stretch` bound the ratio (`cpu`, `wall`), the milliseconds more than theirs
    (`cpu-difference`) or the MB a CPU second from below (`throughput`, of `size` bytes).

    With `memory` triage's peak is measured too: `peak` of the whole process, `own` without the files that it maps. What
    takes milliseconds is run more often: `times` as many pairs as the others.
    """

    name: str
    ours: Command
    theirs: Command
    against: str
    must: float | None
    stretch: float | None = None
    measure: Measure = "cpu"
    size: int = 0
    memory: Literal["peak", "own"] | None = None
    times: int = 1


def programs() -> str:
    """Return the command that starts triage: the console script beside this Python, else its module."""
    script = Path(sys.executable).with_name("triage")
    return str(script) if script.is_file() else f"{sys.executable} -m triage"


def rows(folder: Path, sizes: Sizes) -> list[Row]:
    """Return the rows that can be measured here: those whose inputs and rivals exist."""
    return [*_texts(folder), *_journals(folder), *_starts(folder, sizes)]


def _texts(folder: Path) -> list[Row]:
    triage = programs()
    grep = f"grep -cE '{WORDS}'"
    some = "--signatures packs/some --format json"
    plain = Command(f"{triage} logs big.log {some}", fine=_DONE)
    found = [
        Row("plain log, some signatures", plain, Command(f"{grep} big.log"), "grep -cE", 0.9, 0.6, memory="peak"),
        Row(
            "plain log, many signatures",
            Command(f"{triage} logs big.log --signatures packs/many --format json", fine=_DONE),
            Command(f"{grep} big.log"), "grep -cE", 1.2, 0.9, memory="peak",
        ),
        Row(
            "many exception signatures instead of few",
            Command(f"{triage} logs big.log --signatures packs/many-alone --format json", fine=_DONE),
            Command(f"{triage} logs big.log --signatures packs/few-alone --format json", fine=_DONE),
            "triage with few", 1.2,
        ),
        Row(
            ".gz", Command(f"{triage} logs big.log.gz {some}", fine=_DONE), Command(f"zcat big.log.gz | {grep}"),
            "zcat, grep -cE", 0.35, 0.25, memory="peak",
        ),
        Row(
            "standard input", Command(f"cat big.log | {triage} logs - {some}", fine=_DONE),
            Command(f"cat big.log | {grep}"), "cat, grep -cE", 0.7, measure="wall", memory="peak",
        ),
    ]  # fmt: skip
    if (folder / "big.log.zst").is_file():
        ours = Command(f"{triage} logs big.log.zst {some}", fine=_DONE)
        theirs = Command(f"zstd -dc big.log.zst | {grep}")
        found.insert(4, Row(".zst", ours, theirs, "zstd -dc, grep -cE", 0.9, memory="peak"))
    if shutil.which("rg"):
        found.append(Row("plain log, for comparison", plain, Command(f"rg -c '{WORDS}' big.log"), "rg -c", None))
    if shutil.which("lnav"):
        theirs = Command(f"lnav -n -c ':filter-in {WORDS}' big.log")
        found.append(Row("plain log, for comparison", plain, theirs, "lnav -n", None))
    return found


def _journals(folder: Path) -> list[Row]:
    if not (folder / "journal").is_dir() or not shutil.which("journalctl"):
        return []
    triage = f"{programs()} journal {journals.UNIT} --format json"
    whole = Command(f"{triage} -D journal", fine=_DONE)
    rival = Command(f"journalctl -D journal -u {journals.UNIT} --no-pager -n all | grep -E '{WORDS}'", fine=_GREP)
    fallback = Command(f"PYTHONPATH=without-systemd {triage} -D journal", fine=_DONE)
    found = [Row("journal, the whole unit, journalctl only", fallback, rival, "journalctl, grep -E", 1.0, memory="own")]
    try:
        import systemd._reader  # noqa: F401
    except ImportError:
        return found
    newest = Command(f"{triage} -D journal --invocation 0", fine=_DONE)
    small = Command(f"{triage} -D journal-small --invocation 0", fine=_DONE)
    return [
        Row("journal, the whole unit", whole, rival, "journalctl, grep -E", 0.4, 0.1, memory="own"),
        *found,
        Row(
            "journal, the newest failure", newest, small, "the same of a small journal", 100,
            measure="cpu-difference", memory="own", times=_SHORT,
        ),
    ]  # fmt: skip


def _starts(folder: Path, sizes: Sizes) -> list[Row]:
    triage = programs()
    empty = Command([str(folder / "empty")])
    small = f"{triage} logs small.log"
    home = folder / "home"
    first = f"XDG_CACHE_HOME={home}/first"

    def forget() -> None:
        """Leave the cache as it is where triage was used before, but never with these signatures."""
        shutil.rmtree(home / "first", ignore_errors=True)
        shutil.copytree(home / "cache", home / "first")

    return [
        Row(
            "triage --version", Command(f"exec {triage} --version"), empty, "an empty console script", 1.5, 1.2,
            times=_SHORT,
        ),
        Row(
            "small log, JSON", Command(f"exec {small} --format json", fine=_DONE), empty, "an empty console script",
            5, memory="peak", times=_SHORT,
        ),
        Row(
            "small log, drawn on a terminal", Command(f"exec {small}", terminal=True, fine=_DONE), empty,
            "an empty console script", 10, times=_SHORT,
        ),
        Row(
            "own signatures, read for the first time",
            Command(f"{first} exec {small} --signatures packs/own --format json", before=forget, fine=_DONE),
            Command(f"exec {small} --format json", fine=_DONE), "without them", 150, measure="cpu-difference",
            times=_SHORT,
        ),
        Row(
            "a log of tracebacks only",
            Command(f"{triage} logs tracebacks.log --signatures packs/some --format json", fine=_DONE),
            Command(f"grep -cE '{WORDS}' tracebacks.log"), "grep -cE", 20, measure="throughput",
            size=sizes.tracebacks, memory="peak",
        ),
    ]  # fmt: skip
