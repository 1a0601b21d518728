"""What a mixed log must still say: the failures of its ranks' own logs, and the same root."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise

from triage.events.chain import short
from triage.fingerprint import mask_volatile
from triage.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.library import Library
    from triage.model import Failure, Incident
    from triage.testing.weave import Woven

_SHOWN = 160


class _Known(NamedTuple):
    """A failure of one rank's own log: what it is, its level, the lines of the log from its first to its last."""

    what: tuple[str, str]
    level: float
    first: int
    last: int
    root: bool


class Answers:
    """The failures that the logs of single ranks have, found once and compared with as many mixed logs as wanted."""

    def __init__(self, logs: Sequence[str], library: Library | None = None) -> None:
        """Take the logs and the signatures to diagnose with (triage's own by default).

        Raises `TriageError` for a log with nothing in it.
        """
        if library is None:
            from triage.library import load

            library = load(standing=False)
        self._library = library
        cache: dict[str, list[_Known]] = {}
        for log in logs:
            if log not in cache:
                cache[log] = self._known(log)
        self._ranks = [cache[log] for log in logs]

    def _diagnosed(self, data: bytes) -> Incident:
        from triage.pipeline import Options, diagnose
        from triage.sources.text import TextSource

        source = TextSource("-", BytesIO(data), "interleaved")
        return diagnose([source], options=Options(library=self._library)).incidents[-1]

    def _known(self, log: str) -> list[_Known]:
        data = log.encode()
        found = []
        for failure in self._diagnosed(data).failures:
            if failure.level is not None and failure.evidence:
                offsets = [shown.at.offset for shown in failure.evidence]
                first, last = (data.count(b"\n", 0, offset) for offset in (min(offsets), max(offsets)))
                root = failure.role == "root"
                found.append(_Known(_what(failure), failure.level, first, last, root))
        return found

    def changes(self, woven: Woven) -> list[str]:
        """Take the mixed logs; return in words what is not in their report although all its lines are there.

        The root must be that of the rank whose own root is the strongest, and of several the one that began first. Of
        those that were printed at once any may be the root: whose head comes first says nothing of them. Nothing is
        asked of a log in which a failure has lost its first line or one inside: the rest may look like another's.
        """
        if any(_torn(one, whole) for known, whole in zip(self._ranks, woven.whole, strict=True) for one in known):
            return []
        incident = self._diagnosed(woven.data)
        told = {_what(failure) for failure in incident.failures}
        problems: list[str] = []
        roots: list[tuple[float, int, int, tuple[str, str]]] = []
        torn = False
        for known, whole in zip(self._ranks, woven.whole, strict=True):
            for one in known:
                if not all(number in whole for number in range(one.first, one.last + 1)):
                    torn = torn or one.root
                    continue
                if one.root:
                    roots.append((one.level, whole[one.first], whole[one.last], one.what))
                if one.what not in told:
                    problems.append(f"lost: {_words(one.what)}")
        if roots and not torn:
            level, _, end, _ = min(roots)
            wanted = [what for strength, begin, _, what in roots if strength == level and begin <= end]
            root = next((failure for failure in incident.failures if failure.role == "root"), None)
            if root is None or _what(root) not in wanted:
                said = _words(_what(root)) if root is not None else "none"
                problems.append(f"another root: {said}, not {_words(min(roots)[3])}")
        return list(dict.fromkeys(problems))


def changes(logs: Sequence[str], woven: Woven, library: Library | None = None) -> list[str]:
    """Take the logs of single ranks and the same logs mixed; return in words which failures or root that cost.

    Who compares many mixed logs makes `Answers` once and asks that.
    """
    return Answers(logs, library).changes(woven)


def _torn(one: _Known, whole: dict[int, int]) -> bool:
    """Whether a line of a failure is missing before another one that is there."""
    there = [number in whole for number in range(one.first, one.last + 1)]
    return any(not earlier and later for earlier, later in pairwise(there))


def _what(failure: Failure) -> tuple[str, str]:
    """What a failure is, whatever rank it is of: an exception by its type and the first line of its message."""
    info = failure.exception
    if info is not None:
        return short(info.type), mask_volatile(info.message.strip().partition("\n")[0])[:_SHOWN]
    return failure.rule, mask_volatile(failure.text.strip().partition("\n")[0])[:_SHOWN]


def _words(what: tuple[str, str]) -> str:
    return ": ".join(part for part in what if part)
