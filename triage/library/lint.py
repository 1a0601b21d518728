"""Checks of signatures that parse: what would make them match too much, too little, too slowly, or say too little.

A check is a pair of an `Issue` and a `Validator`; both are found by being defined, and an issue's name is its class's
(`LeadingWildcard` is `leading-wildcard`). `error` means that the signature must not be accepted, `warning` that a
person has to look.
"""

from __future__ import annotations

import re

from triage.library.packs import files
from triage.library.parse import Parsed, parse_file
from triage.library.problems import Problem
from triage.library.signature import Signature
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Issue:
    """Something to mend. `problem` says where; a subclass's docstring why it matters, `instead` what to write."""

    problem: Problem
    severity: ClassVar[Severity] = "error"
    instead: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The issue's name, from its class."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(self).__name__).lower()

    @property
    def why(self) -> str:
        """Why it matters, in a sentence."""
        return " ".join((type(self).__doc__ or "").split())

    @property
    def write(self) -> str:
        """What to write instead: of this very problem where that is known, else of its kind."""
        return self.problem.hint or self.instead

    @property
    def place(self) -> str:
        """Where it is, how severe and what, with its name, as one line."""
        return self._line("")

    def _line(self, hint: str) -> str:
        problem = self.problem
        where = f"{problem.file}:{problem.line}" if problem.line else problem.file
        what = f"{problem.field}: {problem.message}" if problem.field else problem.message
        return f"{where}: {self.severity}: {what}{hint} [{self.name}]"

    def __str__(self) -> str:
        """Return it as one line: place, severity, what, what to write instead, name."""
        return self._line(f" ({self.write})" if self.write else "")


@dataclass(slots=True)
class Checked:
    """A signature with its source: what a validator looks at."""

    signature: Signature
    parsed: Parsed
    file: str

    def problem(self, at: str, message: str, hint: str = "") -> Problem:
        """Return a problem of a field (`match.any[0].message_re`), with the line of it or of what holds it."""
        place = at
        while place and place not in self.parsed.lines:
            place = re.sub(r"(\[\d+\]|\.?[^.\[\]]+)$", "", place)
        return Problem(self.file, self.parsed.lines.get(place, 1), at, message, hint)

    def leaves(self) -> Iterator[tuple[str, str, Any]]:
        """Yield path, key and value of every value in it; an element of a list has the key of its list."""
        yield from _leaves(self.parsed.record, "", "")

    def regexes(self) -> Iterator[tuple[str, str]]:
        """Yield path and text of every regex."""
        yield from ((at, value) for at, key, value in self.leaves() if key in ("message_re", "line_re"))


class Validator:
    """A check. `check` looks at one signature, `finish` at what was seen of all of them."""

    def check(self, one: Checked) -> Iterable[Issue]:  # noqa: ARG002 - for those who check
        """Return the issues of one signature."""
        return ()

    def finish(self) -> Iterable[Issue]:
        """Return the issues that only all signatures together show."""
        return ()


class DoesNotLoad(Issue):
    """The file is no sound signature: triage leaves it out."""

    instead = "what docs/signatures.md shows for this key; an editor knows it from `triage signatures schema`"


def check(places: Iterable[Path]) -> list[Issue]:
    """Take folders or files of signatures; return all issues, by file and line."""
    from triage.library import checks  # noqa: F401 - defines the validators

    found: list[Issue] = []
    validators = [validator() for validator in Validator.__subclasses__()]
    for place in places:
        for path in files(place):
            parsed, problems = parse_file(path)
            found.extend(DoesNotLoad(problem) for problem in problems)
            for one in parsed:
                checked = Checked(Signature.from_record(one.record, str(path)), one, str(path))
                found.extend(issue for validator in validators for issue in validator.check(checked))
    found.extend(issue for validator in validators for issue in validator.finish())
    return sorted(found, key=lambda issue: (issue.problem.file, issue.problem.line, issue.problem.field))


def _leaves(value: Any, at: str, key: str) -> Iterator[tuple[str, str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{at}.{name}" if at else name, name)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{index}]", key)
    else:
        yield at, key, value
