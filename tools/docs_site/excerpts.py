"""For each signature a piece of a log that shows it, masked, with the lines that decided marked."""

from __future__ import annotations

from bisect import bisect_right
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from triage.fingerprint import mask_volatile
from triage.library.fixtures import Fixture, fixtures
from triage.report.masking import Masker
from triage.report.text import middle, visible

if TYPE_CHECKING:
    from pathlib import Path

    from triage.library import Library
    from triage.model import Evidence, Incident, Report

_AROUND, _MARKS, _WIDTH = 2, 10, 400
# A physical line may stand before the text that it carries: the fields of a journal entry come first.
_AHEAD = 60


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a fixture: its lines, the numbers (from 1) of those that decided, where the start-up stood."""

    fixture: str
    lines: tuple[str, ...]
    marked: tuple[int, ...]
    phase: str | None


def excerpts(pack: Path, library: Library, jobs: int = 1) -> dict[str, Excerpt]:
    """Take a pack and the signatures; return an excerpt for each signature that has a fixture in the pack, by id."""
    chosen = _chosen(fixtures(pack))
    if jobs <= 1:
        return {one.signature: excerpt(one, library) for one in chosen}
    with ProcessPoolExecutor(jobs, initializer=_share, initargs=(library,)) as pool:
        found = pool.map(_shared_excerpt, chosen, chunksize=8)
        return {one.signature: made for one, made in zip(chosen, found, strict=True)}


def excerpt(fixture: Fixture, library: Library) -> Excerpt:
    """Take a fixture and the signatures; diagnose it; return the lines that show its signature."""
    from triage.pipeline import Options, diagnose

    report = diagnose([str(fixture.path)], options=Options(library=library))
    raw = fixture.path.read_bytes()
    starts = [0, *accumulate(map(len, raw.splitlines(keepends=True)))]
    plain = [line.decode("utf-8", "replace") for line in raw.splitlines()]
    shown = _masked(plain, report)
    found, phase = _evidence(fixture.signature, report)
    marks = sorted({mark for one in found for mark in _place(one, starts, plain)})
    lines, marked = _cut(shown, marks)
    return Excerpt(fixture.name, lines, marked, phase)


_library: list[Library] = []


def _share(library: Library) -> None:
    _library[:] = [library]


def _shared_excerpt(fixture: Fixture) -> Excerpt:
    return excerpt(fixture, _library[0])


def _chosen(found: list[Fixture]) -> list[Fixture]:
    """Return of each signature's fixtures the shortest one that reads as a log, not as JSON or a journal's export."""
    best: dict[str, tuple[bool, int, Fixture]] = {}
    for one in found:
        if one.proves != "match":
            continue
        with one.path.open("rb") as file:
            start = file.read(200)
        key = (start.startswith((b"{", b"__")), one.path.stat().st_size, one)
        if one.signature not in best or key[:2] < best[one.signature][:2]:
            best[one.signature] = key
    return [one for _, _, one in best.values()]


def _masked(lines: list[str], report: Report) -> list[str]:
    """Mask secrets, prompts, hosts and people, all lines at once, as a secret may stand on several."""
    hosts = {member.host for incident in report.incidents for member in incident.members if member.host}
    masker = Masker(share=True, hosts=hosts)
    whole = masker.text("\n".join(lines)).split("\n")
    kept = whole if len(whole) == len(lines) else [masker.text(line) for line in lines]
    return [middle(visible(line.rstrip()), _WIDTH) for line in kept]


def _evidence(name: str, report: Report) -> tuple[list[Evidence], str | None]:
    """Return the decisive lines of the failures that the signature fits, those of the diagnosed incident first."""
    for verdict in reversed(report.verdicts):
        incident = report.incidents[verdict.incident - 1]
        found = _of(name, incident)
        if found:
            return found, incident.phase
    return [], report.incidents[-1].phase if report.incidents else None


def _of(name: str, incident: Incident) -> list[Evidence]:
    fitting = [failure for failure in incident.failures if any(one.signature == name for one in failure.diagnoses)]
    fitting.sort(key=lambda failure: failure.role != "root")
    # What another rank repeats, with other numbers in it, shows nothing more.
    once: dict[str, Evidence] = {}
    for one in fitting[0].evidence if fitting else ():
        once.setdefault(mask_volatile(one.text), one)
    return list(once.values())


def _place(found: Evidence, starts: list[int], lines: list[str]) -> list[int]:
    """Return the indexes of the physical lines that hold what was found."""
    said = [line.strip() for line in found.text.splitlines() if line.strip()]
    if not said or not lines:
        return []
    first = min(max(bisect_right(starts, found.at.offset) - 1, 0), len(lines) - 1)
    at = next((n for n in range(first, min(first + _AHEAD, len(lines))) if said[0] in lines[n]), first)
    marks = [at]
    for text in said[1:]:
        below = next((n for n in range(marks[-1] + 1, min(marks[-1] + 4, len(lines))) if text in lines[n]), None)
        if below is not None:
            marks.append(below)
    return marks


def _cut(lines: list[str], marks: list[int]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Keep what stands around the marked lines; say how many lines were left out between."""
    marks = marks[:_MARKS]
    centres = marks or [max(len(lines) - 1 - _AROUND, 0)]
    kept = sorted({n for mark in centres for n in range(mark - _AROUND, mark + _AROUND + 1) if 0 <= n < len(lines)})
    shown: list[str] = []
    marked: list[int] = []
    last = -1
    for number in kept:
        left_out = number - last - 1
        if left_out == 1:
            shown.append(lines[number - 1])
        elif left_out:
            shown.append(f"[… {left_out:,} lines left out]")
        shown.append(lines[number])
        if number in marks:
            marked.append(len(shown))
        last = number
    if kept and kept[-1] < len(lines) - 1:
        shown.append(f"[… {len(lines) - 1 - kept[-1]:,} lines left out]")
    return tuple(shown), tuple(marked)
