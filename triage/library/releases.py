"""Whether a release lies in the range that a signature names, and what to say about it.

Versions are PEP 440. What was built from a source tree (development builds, release candidates, `+g1a2b3c`) may or may
not hold a change that went into a release next to it: near a boundary the answer is None, not a guess.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.library import pep440
from triage.library.pep440 import Plain, Range
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from packaging.version import Version

# Local labels that name a build's platform, not a source tree: torch 2.9.1+cu128, 2.8.0+rocm6.4, 2.9.0+cpu.
_PLATFORM = regex(r"(?:cu|cuda|rocm|hip|cpu|xpu|npu|ascend|corex|musa|mps|metax)[\d.]*\Z")
_SAFE_PATH = regex(r"/[\w./+-]{1,300}\Z")


def problem(text: str) -> str:
    """Return what is wrong with a range such as `>=0.4.6.post5,<0.5.18`, '' if nothing is."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return "" if len(SpecifierSet(text)) else "names no release"
    except InvalidSpecifier:
        return f"{text!r} is no PEP 440 range such as >=0.4.6.post5,<0.5.18"


def release_of(facts: Mapping[str, object], package: str) -> object:
    """Return a package's release as facts have it: a version, a list of those that it can be, None if nothing says."""
    release = facts.get(package)
    return release if release is not None else facts.get(f"{package}_candidates")


def in_words(version: object) -> str:
    """Return a release in words: of a list `0.5.6 or 0.5.6.post1`, `0.5.4 to 0.5.6.post2`."""
    if not isinstance(version, (list, tuple)):
        return str(version)
    return f"{version[0]} to {version[-1]}" if len(version) > 2 else " or ".join(map(str, version))


def contains(ranges: Sequence[str], version: object) -> bool | None:
    """Say whether a version lies in one of the ranges; None if it is not known or too near to a boundary to tell.

    A version may also be a list of candidates: the answer is theirs if they agree.
    """
    if isinstance(version, (list, tuple)):
        answers = {contains(ranges, candidate) for candidate in version}
        return answers.pop() if len(answers) == 1 else None
    found = parse(version)
    if found is None:
        return None
    answers = {_in_range(Range(text), found) for text in ranges}
    return True if True in answers else None if None in answers else False


def parse(version: object) -> Plain | Version | None:
    """Return the PEP 440 version of a fact; None for what is none, and for the 0.0.0 of a build without history."""
    if not isinstance(version, str) or len(version) > 100:
        return None
    try:
        found = pep440.version(version)
    except ValueError:
        return None
    return found if any(found.release) else None


def fixed_in(ranges: Sequence[str], version: object = None) -> str:
    """Return the first release after the range that holds `version` (else after the last range), '' if it is open."""
    found = parse(version)
    chosen = [text for text in ranges if found is not None and _in_range(Range(text), found)] or list(ranges[-1:])
    bounds = [bound for text in chosen for bound in Range(text) if bound.operator == "<"]
    return bounds[0].version if bounds else ""


def verdict(package: str, ranges: Sequence[str], version: object, python: object = None) -> str:
    """Return the sentence that says what the release at hand means for a defect of these ranges.

    `python` is the service's interpreter where it is known: the command that tells the release then asks it.
    """
    several = isinstance(version, (list, tuple))
    fix = fixed_in(ranges, version[-1] if isinstance(version, (list, tuple)) else version)
    after = f"; fixed in {fix}" if fix else ""
    inside = contains(ranges, version)
    if inside:
        return (
            f"you run {package} {in_words(version)}{after or ', which has this defect; no release with a fix is known'}"
        )
    if inside is False:
        if _older(ranges, version):
            return f"you run {package} {in_words(version)}, which is older than this defect: look elsewhere"
        of = f" of {fix}" if fix else ""
        return f"you run {package} {in_words(version)}: you already have the fix{of}: look elsewhere"
    if several:
        return f"you run {package} {in_words(version)}{after}; `{ask(package, python)}` tells which"
    if parse(version) is not None:
        near = f"too near to the fix in {fix} to tell" if fix else "too near to the boundary to tell"
        return f"you run {package} {in_words(version)}, {near}"
    return f"{package}'s version unknown: run `{ask(package, python)}`{after}"


def ask(package: str, python: object = None) -> str:
    """Return the command that prints the installed release of a package."""
    if isinstance(python, str) and _SAFE_PATH.match(python):
        import shlex

        return f"{shlex.quote(python)} -m pip show {package}"
    return f"pip show {package}"


def _in_range(range_: Range, version: Plain | Version) -> bool | None:
    if _from_source(version) and any(_near(bound, version) for bound in _bounds(range_)):
        return None
    return range_.contains(version.public if not _from_source(version) else version.base_version)


def _from_source(version: Plain | Version) -> bool:
    return version.is_prerelease or bool(version.local and not _PLATFORM.match(version.local))


def _bounds(range_: Range) -> list[Plain | Version]:
    bounds = (parse(one.version.removesuffix(".*")) for one in range_)
    return [bound for bound in bounds if bound is not None]


def _near(bound: Plain | Version, version: Plain | Version) -> bool:
    """Say whether two are of the same or of neighbouring releases: 0.5.17 and 0.5.18, 0.5.18 and 0.6.0, 0.9 and 1.0."""
    low, high = sorted([_three(bound), _three(version)])
    if low[:2] == high[:2]:
        return high[2] - low[2] <= 1
    if low[0] == high[0]:
        return high[1] - low[1] == 1 and high[2] == 0
    return high[0] - low[0] == 1 and high[1:] == (0, 0)


def _three(version: Plain | Version) -> tuple[int, int, int]:
    return version.major, version.minor, version.micro


def _older(ranges: Sequence[str], version: object) -> bool:
    found = parse(version[-1] if isinstance(version, (list, tuple)) else version)
    lower = [parse(bound.version) for text in ranges for bound in Range(text) if bound.operator in (">=", ">", "==")]
    bounds = [bound for bound in lower if bound is not None]
    return found is not None and bool(bounds) and len(bounds) >= len(ranges) and found < min(bounds)
