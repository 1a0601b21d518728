"""Checks of signatures against the published releases of SGLang: functions and flags that they name are there."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from triage.lazy import regex
from triage.library.globs import path_fits
from triage.library.lint import Checked, Issue, Validator
from triage.library.releases import contains
from triage.releases import table
from triage.releases.flags import flag_in, flag_range
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OWN = regex(r"(?:sglang/)?srt/|sglang/")


class NotReleased(Issue):
    """A function or a flag of SGLang that the releases in question do not have: it can neither match nor help."""

    severity = "warning"
    instead = "its name in these releases, or the releases that have it"


class Released(Validator):
    """Finds frames and flags that the releases which a signature names do not have."""

    def check(self, one: Checked) -> Iterator[Issue]:
        ranges = one.signature.releases.get("sglang", ())
        concerned = _concerned(ranges)
        if not concerned or one.signature.engine not in (None, "sglang"):
            return
        for at, key, value in one.leaves():
            lacking = _without(value, concerned) if key == "frames" and at.startswith("match") else []
            if len(lacking) < len(concerned):
                # Without a range, or beside an alternative, a function need not always be there.
                lacking = _newer(lacking, concerned) if ranges and "any" not in at else []
            if lacking:
                yield NotReleased(one.problem(at, f"{_some(lacking)} of sglang has no {value}"))
        for number, fix in enumerate(one.signature.fixes):
            there = [release for release in concerned if contains(fix.releases.get("sglang", (">=0",)), release)]
            for key in ("set", "raise", "lower") if fix.kind == "flag" else ():
                for text in fix.keys.get(key, ()):
                    flag = text.partition("=")[0]
                    if there and flag_range(flag) and not any(flag_in(release, flag).spelling for release in there):
                        said = f"{_some(there)} of sglang has no {flag}"
                        yield NotReleased(one.problem(f"fixes[{number}].{key}", said))


def _concerned(ranges: Sequence[str]) -> list[str]:
    """Return the releases that a signature is about: those of its range, all if it names none."""
    found = table()
    every = [found.releases[number] for number in found.order] if found else []
    return [release for release in every if not ranges or contains(ranges, release)]


def _newer(lacking: Sequence[str], concerned: Sequence[str]) -> list[str]:
    """Leave out the oldest of those that lack it: ranges such as `<0.5.18` reach back beyond what they are about."""
    oldest = 0
    while oldest < len(lacking) and lacking[oldest] == concerned[oldest]:
        oldest += 1
    return list(lacking[oldest:])


def _without(pattern: str, concerned: Sequence[str]) -> list[str]:
    """Return the releases that lack a frame's function, none where it is a function of another package."""
    path, _, function = pattern.rpartition(":")
    found = table()
    files = _files(path)
    if found is None or not path.strip("*/") or (not files and not _OWN.match(path)):
        return []
    there: set[int] = set()
    for file in files:
        source = found.source(file)
        wanted = function.rpartition(".")[2]
        for name in source.functions() if source else ():
            if source and fnmatchcase(name, wanted):
                there |= source.releases({version for version, _, _ in source.scopes(name)})
    return [release for release in concerned if found.number(release) not in there]


@cache
def _files(pattern: str) -> tuple[str, ...]:
    found = table()
    return tuple(file for file in (found.files() if found else ()) if path_fits(pattern, file))


def _some(releases: Sequence[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
