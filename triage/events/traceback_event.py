"""A finished stack of lines to the event that it is: exception, evidence, decisive text."""

from __future__ import annotations

from triage.events.chain import assemble, main_of
from triage.events.positions import TEXT_LIMIT, evidence, position
from triage.events.traceback_read import Printed, read
from triage.events.traceback_stack import Stack
from triage.lazy import regex
from triage.model import Assembly, ChainLink, Event, Evidence, ExceptionInfo, Line

_EVIDENCE = 12
_MESSAGE_LINES = 4
# Of the text so much is the main exception's where others follow.
_MAIN_TEXT = 1500
_THREAD = regex(r"Exception in thread (?P<name>.+?):?$")


def event_of(stack: Stack) -> Event | None:
    """Take a stack that takes no more lines; return its event, None where it holds neither frames nor an exception."""
    taken = stack.lines
    printed = read([(line.text, kind) for line, kind in taken])
    if not printed:
        return None
    event = _event(stack, [line for line, _ in taken], printed)
    if stack.head is None:
        event.data["headless"] = "1"
    return event


def literal_event(line: Line, number: int, intro: str, texts: list[tuple[str, int]]) -> Event | None:
    r"""Take a line that holds a whole traceback with literal `\n`, its lines and shapes; return its event."""
    printed = read(texts)
    if not printed:
        return None
    stack = Stack(None, number, intro)
    stack.last = line
    for one in printed:
        one.frame_at = one.exception_at = None
    event = _event(stack, [line], printed)
    event.assembly = "exact" if printed[-1].complete else "partial"
    return event


def _event(stack: Stack, lines: list[Line], printed: list[Printed]) -> Event:
    links = [
        ChainLink(one.type, one.text(), one.relation or "context", one.frames, [n for n in one.notes if n.strip()])
        for one in printed
    ]
    main = main_of(links)
    info = assemble(links, main)
    head = lines[0]
    rank = stack.rank or next((line.rank for line in lines if line.rank), None)
    event = Event(
        kind="exception",
        rule="traceback",
        at=position(head),
        stream=head.stream,
        text=_text(info),
        # Without head and exception line it is no more than somebody's stack.
        level=0.0 if stack.head is not None or printed[-1].complete or info.type else None,
        exception=info,
        evidence=_evidence(lines, printed, main),
        ranks=list(dict.fromkeys([*([rank] if rank else []), *stack.also])),
        assembly=_assembly(stack, printed),
        unit=head.unit,
        invocation=head.invocation,
        end=lines[-1].time,
        order=stack.order,
    )
    if rank and event.at.rank is None:
        event.at.rank = rank
    if stack.intro:
        event.data["intro"] = stack.intro[:300]
        thread = _THREAD.search(stack.intro)
        if thread is not None:
            event.data["thread"] = thread["name"][:120]
    return event


def _assembly(stack: Stack, printed: list[Printed]) -> Assembly:
    if stack.head is None or stack.cut or not printed[-1].complete or any(one.cut for one in printed):
        return "partial"
    return "inferred" if stack.inferred else "exact"


def _text(info: ExceptionInfo) -> str:
    """The main exception's line and message, then those of the others, 2,000 characters at most."""
    parts = [_line_of(info.type, info.message)[: _MAIN_TEXT if info.chain else TEXT_LIMIT]]
    parts += list(info.notes[:3])
    parts += [_line_of(link.type, link.message)[:600] for link in info.chain]
    return "\n".join(part for part in parts if part)[:TEXT_LIMIT]


def _line_of(name: str, message: str) -> str:
    return f"{name}: {message}" if message else name


def _evidence(lines: list[Line], printed: list[Printed], main: int) -> list[Evidence]:
    """The head, the main exception's innermost frame and its exception line; then the other exceptions' lines."""
    wanted: list[int] = [0]
    for one in (printed[main], *(p for place, p in enumerate(printed) if place != main)):
        if one.frame_at is not None:
            wanted += [one.frame_at, one.frame_at + 1] if one is printed[main] else []
        if one.exception_at is not None:
            length = min(one.text().count("\n") + 1, _MESSAGE_LINES) if one is printed[main] else 1
            wanted += range(one.exception_at, one.exception_at + length)
    places = sorted(dict.fromkeys(place for place in wanted[: _EVIDENCE * 2] if place < len(lines)))
    if len(places) > _EVIDENCE:
        first = set(list(dict.fromkeys(place for place in wanted if place < len(lines)))[:_EVIDENCE])
        places = [place for place in places if place in first]
    return [evidence(lines[place]) for place in places]
