"""Checks of texts: what differs from run to run, and what nobody has written yet."""

from __future__ import annotations

import re

from triage.library.lint import Checked, Issue, Validator
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a draft holds where only a person can say something.
UNWRITTEN = "WRITE:"
# In a regex an escaped sign stands for itself, an escaped letter or a class for many.
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])|\\.|\[(?:\\.|[^\]\\])*\]")


class VolatileText(Issue):
    """Text that differs between runs, hosts or releases, so that the signature would match once."""

    instead = "leave it out, or use message_re (line_re) with a named group in its place"


class VolatileTexts(Validator):
    """Finds addresses, times, process ids, home folders and line numbers in texts that must be found."""

    patterns = (
        (r"0x[0-9a-fA-F]{6,}", "an address"),
        (r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", "an id"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{12,}\b", "a hash"),
        (r"\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b", "a time"),
        (r"(?i)\bpid[ =:]{1,2}\d{2,}|\[\d{4,}\]", "a process id"),
        (r"(?:^|[\s\"'=(])/(?:home|root|tmp|Users|workspace|mnt|data)/\w", "a path of one machine"),
        (r"\bline \d+\b", "a line number"),
        (r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b(?<!127\.0\.0\.1)(?<!0\.0\.0\.0)", "an address"),
    )

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if not at.startswith(("match", "with")):
                continue
            if key in ("message", "message_is", "line", "sequence"):
                text = value
            elif key in ("message_re", "line_re"):
                text = _ESCAPED.sub(lambda found: found[1] or "\x00", value)
            else:
                continue
            for pattern, called in self.patterns:
                if found := re.search(pattern, text):
                    yield VolatileText(one.problem(at, f"holds {called}: {found[0].strip()!r}"))
                    break


class Unwritten(Issue):
    """A draft says here what a person has to find out; whoever is on call needs the answer, not the question."""

    instead = "the answer: why it happens, what decides it, what to do first, what not to believe"


class Unwrittens(Validator):
    """Finds what a draft left open."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, _, value in one.leaves():
            if isinstance(value, str) and value.startswith(UNWRITTEN):
                yield Unwritten(one.problem(at, f"is still to be written: {value.removeprefix(UNWRITTEN).strip()}"))
