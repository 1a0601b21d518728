"""The table of what was measured, as Markdown, and the profile of the row that is furthest from its bound."""

from __future__ import annotations

import io
import os
import platform
import pstats
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Command, Cost, Runs, median, run
from benchmarks.rows import WORDS, Row, programs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.data import Sizes

MEMORY = 64.0
"""MiB that triage may take, whatever it reads."""


@dataclass(frozen=True, slots=True)
class Result:
    """A row with its runs, and triage's own memory in MiB where the row asks for it."""

    row: Row
    runs: Runs
    own: float | None = None

    @property
    def values(self) -> list[float]:
        """What the bound holds for, of each pair of runs."""
        row, runs = self.row, self.runs
        if row.measure == "cpu-difference":
            return [1000 * one for one in runs.differences("cpu")]
        if row.measure == "throughput":
            return [row.size / 1e6 / one.cpu for one in runs.ours]
        return runs.ratios(row.measure)

    @property
    def excess(self) -> float:
        """By how much the bound is missed: above 1 it is."""
        if self.row.must is None:
            return 0.0
        found = median(self.values)
        return self.row.must / found if self.row.measure == "throughput" else found / self.row.must

    @property
    def memory(self) -> float | None:
        """The most memory of any run in MiB, None where the row does not ask for it."""
        if self.row.memory is None:
            return None
        return self.own if self.own is not None else max(one.peak for one in self.runs.ours)


def table(results: Sequence[Result], sizes: Sizes, count: int) -> str:
    """Return the page with the table."""
    lines = [
        "# What triage costs",
        "",
        "Written by `python -m benchmarks`; do not edit.",
        "",
        (
            f"CPU is user and system seconds of the whole process tree, medians of {count} pairs of runs in turn "
            "(A B A B), of what takes milliseconds five times as many, files in the page cache. The ratio is the "
            "median of the pairs' ratios, behind it the least and the greatest. Other work on the machine lengthens "
            "all of it, small processes less than large ones. "
            f"grep looks for `{WORDS}`. triage does all that it does: ranks, roots, signatures, report."
        ),
        "",
        *_machine(),
        "",
        *_inputs(sizes),
        "",
        "| what | triage | against | | ratio | must | |",
        "|---|---|---|---|---|---|---|",
        *(_row(one) for one in results),
        "",
        (
            f"Peak memory of triage (must: {MEMORY:g} MiB). `own` leaves out mapped files, above all libsystemd's maps "
            "of the journal (`RssAnon`, looked at every 20 ms); `whole` is the kernel's maximum of the process "
            "(`ru_maxrss`)."
        ),
        "",
        "| what | MiB | | |",
        "|---|---|---|---|",
        *(_memory(one) for one in results if one.memory is not None),
        "",
    ]
    return "\n".join(lines)


def _row(one: Result) -> str:
    row, values = one.row, one.values
    wall = row.measure == "wall"
    unit = {"cpu-difference": " ms more", "throughput": " MB/s"}.get(row.measure, "")
    digits = 0 if unit else 2
    ratio = f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f}){unit}"
    bound = "" if row.must is None else f"{'>=' if row.measure == 'throughput' else '<='} {row.must:g}{unit}"
    if row.stretch is not None:
        bound += f" ({row.stretch:g})"
    kept = "" if row.must is None else "yes" if one.excess <= 1 else "**no**"
    ours, theirs = _seconds(one.runs.ours, wall=wall), _seconds(one.runs.theirs, wall=wall)
    return f"| {row.name} | {ours} | {row.against} | {theirs} | {ratio} | {bound} | {kept} |"


def _seconds(costs: Iterable[Cost], *, wall: bool) -> str:
    found = median([one.wall if wall else one.cpu for one in costs])
    return (f"{found:.2f} s" if found >= 1 else f"{1000 * found:.0f} ms") + (" wall" if wall else "")


def _memory(one: Result) -> str:
    how = "own" if one.own is not None else "whole"
    found = one.memory or 0.0
    return f"| {one.row.name} | {found:.0f} | {how} | {'yes' if found <= MEMORY else '**no**'} |"


def _machine() -> list[str]:
    info = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", info.read_text(encoding="utf-8")) if info.is_file() else []
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return [
        (
            f"- {models[0] if models else platform.machine()}, {os.cpu_count()} CPUs, {memory:.0f} GiB, "
            f"Linux {platform.release().split('-')[0]}, load when it began {os.getloadavg()[0]:.1f}"
        ),
        f"- CPython {platform.python_version()}, {', '.join(_packages())}",
        f"- {', '.join(_tools())}",
    ]


def _packages() -> list[str]:
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for name in ("sglang-triage", "hyperscan", "isal", "backports.zstd", "systemd-python", "PyYAML", "rich"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return found


def _tools() -> list[str]:
    found = []
    for name in ("grep", "zcat", "zstd", "journalctl", "rg", "lnav"):
        if not shutil.which(name):
            found.append(f"no {name}")
            continue
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
        number = re.search(r"v?(\d+(?:\.\d+)*)", (said.stdout or said.stderr).partition("\n")[0])
        found.append(f"{name} {number[1] if number else ''}".strip())
    return found


def _inputs(sizes: Sizes) -> list[str]:
    return [
        (
            f"- logs of {sizes.log / 1e6:g} MB (20 runs of 8 ranks, each ends with 8 tracebacks, those of 8 runs "
            f"interleaved line by line), {sizes.small / 1024:g} KiB (one such run) and {sizes.tracebacks / 1e6:g} "
            "MB (nothing but "
            "tracebacks)"
        ),
        f"- a journal of {sizes.journal} entries, 60 % of them of the unit, which failed 10 times",
        (
            f"- signatures: some = {sizes.some}, many = {sizes.many}, the packaged ones among them, 30 % of the others "
            f"ask for log lines; few = {sizes.few} and many = {sizes.many} exception signatures where they are "
            "compared, "
            f"with the packaged ones switched off; own = {sizes.own}"
        ),
    ]


def profile(result: Result, folder: Path, env: Mapping[str, str]) -> str:
    """Run a row's triage once more under cProfile; return where its time goes."""
    row = result.row
    words = row.ours.words
    assert isinstance(words, str)
    script = programs()
    inner = script.removeprefix(sys.executable).strip()
    line = words.replace(script, f"{sys.executable} -m cProfile -o profile.bin {inner}")
    run(Command(line, row.ours.terminal, row.ours.before, row.ours.fine), folder, env)
    text = io.StringIO()
    stats = pstats.Stats(str(folder / "profile.bin"), stream=text).strip_dirs()
    stats.sort_stats("tottime").print_stats(25)
    stats.sort_stats("cumtime").print_stats(40)
    said = re.sub(r"^.*profile\.bin\n", "", text.getvalue(), flags=re.MULTILINE)
    said = "\n".join(line.rstrip() for line in said.splitlines() if line.strip())
    return f"The row that is furthest from its bound, under cProfile: {row.name}\n\n{said}\n"
