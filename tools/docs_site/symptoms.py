"""What a signature looks like from outside: its symptoms by kind, for the indexes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from docs_site.excerpts import Excerpt
    from triage.library.signature import Match, Signature

Index = dict[str, list["Signature"]]


def matches(match: Match) -> Iterator[Match]:
    """Take a match; yield it and every match inside it that may hold, not what must not."""
    yield match
    for inner in (*match.all, *match.any):
        yield from matches(inner)


def _exceptions(match: Match) -> Iterable[str]:
    return (name.rpartition(".")[2] for name in match.exception)


def _messages(match: Match) -> Iterator[str]:
    yield from filter(None, (match.message, match.message_is))
    if match.native and match.native.message:
        yield match.native.message
    for part in match.log.parts if match.log else ():
        if part.line:
            yield part.line


def _patterns(match: Match) -> Iterator[str]:
    if match.message_re:
        yield match.message_re
    for part in match.log.parts if match.log else ():
        if part.line_re:
            yield part.line_re


def _xids(match: Match) -> Iterable[str]:
    return map(str, match.kernel.xid) if match.kernel else ()


def _kernel(match: Match) -> Iterator[str]:
    if match.kernel and match.kernel.oom is not None:
        yield "out-of-memory kill"
    if match.kernel and match.kernel.segfault is not None:
        yield "segfault"


def _signals(match: Match) -> Iterable[str]:
    named = (*(match.native.signal if match.native else ()), *(match.unit.signal if match.unit else ()))
    return (name if name.startswith("SIG") or name.isdecimal() else f"SIG{name}" for name in named)


# kind -> what of a match is a symptom of it
KINDS: dict[str, Callable[[Match], Iterable[str]]] = {
    "exception": _exceptions,
    "message": _messages,
    "pattern": _patterns,
    "frame": lambda match: (frame.text for frame in match.frames),
    "result": lambda match: match.unit.result if match.unit else (),
    "exit-status": lambda match: match.unit.exit_status if match.unit else (),
    "step": lambda match: match.unit.step if match.unit else (),
    "signal": _signals,
    "symbol": lambda match: (*match.native.symbol, *match.native.library) if match.native else (),
    "xid": _xids,
    "kernel": _kernel,
}


def index(kind: str, signatures: Iterable[Signature]) -> Index:
    """Take one of `KINDS` and the signatures; return symptom -> signatures, in the order of a dictionary.

    Numbers are in numerical order; signs before the first letter count nothing.
    """
    found: defaultdict[str, dict[str, Signature]] = defaultdict(dict)
    for one in signatures:
        for match in matches(one.match):
            for symptom in KINDS[kind](match):
                found[symptom][one.id] = one
    return {symptom: list(found[symptom].values()) for symptom in sorted(found, key=_order)}


def by_phase(signatures: Iterable[Signature], excerpts: Mapping[str, Excerpt], order: list[str]) -> Index:
    """Take the signatures, their excerpts and the phases in order; return phase -> signatures.

    The phase is where the start-up stood in the signature's fixture, and those that its conditions name.
    """
    found: defaultdict[str, list[Signature]] = defaultdict(list)
    for one in signatures:
        named = [str(value) for group in (one.when.phase.wanted if one.when.phase else ()) for _, value in group]
        silent = [name for match in matches(one.match) if match.silence for name in match.silence.phase]
        shown = excerpts[one.id].phase if one.id in excerpts else None
        for phase in dict.fromkeys([*named, *silent, *([shown] if shown else [])]):
            found[phase].append(one)
    return {phase: found[phase] for phase in order if phase in found}


def _order(text: str) -> tuple[int, str, str]:
    number = text.partition("/")[0]
    plain = text.lower().lstrip("()[]{}<>'\"`^.*+?\\:=-_/ ")
    return (int(number) if number.isdecimal() else -1, plain, text)
