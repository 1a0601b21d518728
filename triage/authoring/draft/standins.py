"""Makes a log fit to be shared: secrets, hosts and people masked, echoed source code replaced by stand-ins.

Placeholders such as `<host-1>` become neutral names of the same form, so that prefixes and addresses stay readable as
what they are. A stand-in calls what the next frame is in, as the code did.
"""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.report.masking import Masker
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triage.model import Frame, Incident

_NEUTRAL = {"host": "node-{}", "address": "192.0.2.{}", "user": "user{}", "email": "user{}@example.org"}
_PLACEHOLDER = regex(r"<(host|address|user|email)-(\d{1,6})>")
_MASKED = regex(r"<[a-z][a-z-]{1,20}-\d{1,6}>")
_FRAME = regex(
    r'^(?P<head>.*?)(?P<indent> +)File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.+?))?\s*$'
)
_ECHO = regex(r"^(?P<head>.*? {2,})(?P<source>\S.*)$")
_TIME = regex(r"[\d:.,T+Z/-]{8,40}")
_CARETS = regex(r"[\s~^]+\Z")
_WARNING = regex(r"^(?P<head>.*?)\S+:\d+: \w*Warning: ")


def shareable(text: str, incident: Incident) -> tuple[str, int]:
    """Take lines of a log and the incident in them; return them masked, and how many different values were masked."""
    masker = Masker(share=True, hosts=_hosts(incident))
    masked = masker.text(_without_source(text, _calls(incident)))
    found = len(set(_MASKED.findall(masked)) - set(_MASKED.findall(text)))
    return _PLACEHOLDER.sub(lambda hit: _NEUTRAL[hit[1]].format(hit[2]), masked), found


def _hosts(incident: Incident) -> set[str]:
    hosts = {member.host for member in incident.members} | {process.host for process in incident.processes}
    hosts.update(failure.first.host for failure in incident.failures)
    return {host for host in hosts if host}


def _calls(incident: Incident) -> dict[str, str]:
    """Return for each source line that a traceback echoed its stand-in: a call of what the next frame is in.

    Different lines get different stand-ins: mixed tracebacks of several ranks are told apart by them.
    """
    calls: dict[str, str] = {}
    used: dict[str, int] = {}
    for stack, type_ in _stacks(incident):
        for number, frame in enumerate(stack, 1):
            source = (frame.text or "").strip()
            if not source or source in calls:
                continue
            does = f"owner.{stack[number].function}(item)" if number < len(stack) else f"{type_}(message)"
            used[does] = count = used.get(does, 0) + 1
            verb = "raise " if number == len(stack) else "out = "
            calls[source] = f"{verb}{does}" if count == 1 else f"{verb}{does}  # {count}"
    return calls


def _stacks(incident: Incident) -> Iterator[tuple[list[Frame], str]]:
    for found in (failure.exception for failure in incident.failures):
        if found is not None:
            yield found.frames, found.type.rpartition(".")[2] or "Error"
            yield from ((one.frames, one.type.rpartition(".")[2] or "Error") for one in found.chain)


def _without_source(text: str, calls: dict[str, str]) -> str:
    return "".join(_replaced(text.splitlines(keepends=True), calls))


def _replaced(lines: Iterable[str], calls: dict[str, str]) -> Iterator[str]:
    # By prefix, which tells ranks that print at once apart: a line indented deeper than this is source code.
    due: dict[str, int] = {}
    for whole in lines:
        line = whole.rstrip("\r\n")
        end = whole[len(line) :]
        if found := _FRAME.match(line):
            due[_timeless(found["head"])] = len(found["indent"])
            yield whole
            continue
        echoed = _ECHO.match(line)
        if echoed and (said := calls.get(echoed["source"])):
            yield f"{echoed['head']}{said}{end}"
            continue
        head = next((head for head in due if _timeless(line[: len(head)]) == head), None)
        if head is not None:
            rest = line[len(head) :]
            blanks = len(rest) - len(rest.lstrip(" "))
            if blanks > due[head] and rest.strip():
                yield whole if _CARETS.match(rest) else f"{line[: len(head)]}{' ' * blanks}<source line>{end}"
                continue
            if rest.strip():
                del due[head]
        yield whole
        if warned := _WARNING.match(line):
            due[_timeless(warned["head"])] = 0


def _timeless(head: str) -> str:
    """Return a prefix with its times levelled: a second may pass between two lines of one traceback."""
    return _TIME.sub(lambda found: re.sub(r"\d", "0", found[0]), head)
