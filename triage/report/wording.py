"""The conditions of a signature in words, for everything that shows one: `triage explain` and the pages of the site.

A phrase is made of parts; those that stand for themselves (a message, a pattern, a name) are `Exact`, so that each
renderer can quote, mark or escape them in its own way.
"""

from __future__ import annotations

from triage.lazy import regex
from triage.records import dataclass
from triage.report.times import duration
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triage.library.conditions import When
    from triage.library.signature import Explained, FramePattern, Kernel, LinePart, Log, Match, Native, Other, Unit

_SCOPES = {"rank": "on the same rank", "host": "on the same host", "run": ""}
_OPERATOR = regex(r"^([<>=!~]+)\s*")
_RISKS = {
    "none": "no risk",
    "restart": "restart",
    "accuracy": "accuracy may change",
    "speed": "may be slower",
    "data": "may lose data",
}


class Exact(str):
    """Text that stands for itself, word for word."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: its phrase, and the conditions that it is made of, if it has any."""

    words: tuple[str, ...]
    parts: tuple[Clause, ...] = ()


def conditions(match: Match) -> list[Clause]:
    """Take a match; return its conditions, all of which must hold for the same failure."""
    found: list[Clause] = []
    if match.exception:
        found.append(_names("exception", match.exception))
    for words, text in (
        ("message contains", match.message),
        ("message is", match.message_is),
        ("message fits the pattern", match.message_re),
    ):
        if text is not None:
            found.append(Clause((words, Exact(text))))
    if match.frames:
        frames = tuple(map(_frame, match.frames))
        order = ", in this order, others may stand between" if len(frames) > 1 else ""
        found.append(Clause((f"on the stack{order}",), frames))
    if match.native:
        found += _native(match.native)
    if match.log:
        found.append(_log(match.log))
    if match.unit:
        found += _unit(match.unit)
    if match.kernel:
        found += _kernel(match.kernel)
    if match.silence:
        phases = _names("in phase", match.silence.phase).words if match.silence.phase else ()
        found.append(Clause(("a rank says nothing while the others wait for it", *phases)))
    for one in match.all:
        found += conditions(one)
    if len(match.any) == 1:
        found += conditions(match.any[0])
    elif match.any:
        found.append(Clause(("one of",), tuple(_whole(conditions(one)) for one in match.any)))
    for one in match.negated:
        found.append(_headed(("not",), conditions(one)))
    return found


def others(wanted: Sequence[Other]) -> list[Clause]:
    """Take what `with` or `without` asks for; return each as a clause: what it is, how near it must be."""
    return [_headed(_distance(one.within, one.scope) or ("in the same run",), conditions(one.match)) for one in wanted]


def when(wanted: When) -> list[Clause]:
    """Take the conditions on facts; return them in words."""
    found = [Clause((Exact(name), *_compared(condition.text))) for name, condition in wanted.facts]
    if wanted.phase:
        found.append(Clause(("phase", *_compared(wanted.phase.text))))
    found += [Clause((f"{name.upper()} rank", *_compared(condition.text))) for name, condition in wanted.rank]
    if wanted.where:
        found.append(Clause((Exact(wanted.where),)))
    return found


def releases(ranges: dict[str, tuple[str, ...]]) -> list[Clause]:
    """Take ranges of releases by package; return them in words."""
    return [Clause((package, *_either_of(spans))) for package, spans in ranges.items()]


def explained(edge: Explained) -> Clause:
    """Take an edge to another signature; return its id and how near that one's failure must be."""
    return Clause((Exact(edge.id), *_distance(edge.within, edge.scope)))


def risks(names: Iterable[str]) -> str:
    """Take the risks of a fix; return them in words: `restart, may be slower`."""
    return ", ".join(_RISKS.get(name, name) for name in names)


def _frame(wanted: FramePattern) -> Clause:
    function = "any function" if wanted.function == "*" else Exact(wanted.function)
    return Clause((function, "in", "any file" if wanted.path == "*" else Exact(wanted.path)))


def _native(wanted: Native) -> list[Clause]:
    found = [_names("crash by signal", wanted.signal)] if wanted.signal else []
    if wanted.message is not None:
        found.append(Clause(("text of native code contains", Exact(wanted.message))))
    where = "on the stack of any thread" if wanted.thread == "any" else "on the stack of the crashing thread"
    for called, names in (("symbol", wanted.symbol), ("library", wanted.library)):
        if names:
            found.append(Clause((*_names(called, names).words, where)))
    return found


def _log(wanted: Log) -> Clause:
    if len(wanted.parts) == 1:
        return Clause(("a line that", *_line(wanted.parts[0])))
    lines = tuple(Clause(_line(part)) for part in wanted.parts)
    return Clause((" ".join(("lines, in this order", *_distance(wanted.window, wanted.scope))),), lines)


def _line(part: LinePart) -> tuple[str, ...]:
    if part.line is not None:
        return "contains", Exact(part.line)
    return "fits the pattern", Exact(part.line_re or "")


def _unit(wanted: Unit) -> list[Clause]:
    rows = (
        ("systemd's result", wanted.result),
        ("exit status", wanted.exit_status),
        ("ended by signal", wanted.signal),
        ("failed at step", wanted.step),
    )
    return [_names(words, names) for words, names in rows if names]


def _kernel(wanted: Kernel) -> list[Clause]:
    found: list[Clause] = []
    if wanted.oom is not None:
        why = {"global": ", the host had none left", "memcg": ", its control group had reached its limit"}
        found.append(Clause((f"the kernel killed a process for want of memory{why.get(str(wanted.oom), '')}",)))
    if wanted.xid:
        found.append(_names("Xid", map(str, wanted.xid)))
    if wanted.segfault is not None:
        inside = () if wanted.segfault is True else ("in", Exact(wanted.segfault))
        found.append(Clause(("the kernel logged a segfault", *inside)))
    if wanted.process is not None:
        found.append(Clause(("process", Exact(wanted.process))))
    return found


def _whole(inner: list[Clause]) -> Clause:
    """Make one clause of conditions that must all hold."""
    return inner[0] if len(inner) == 1 else Clause(("all of",), tuple(inner))


def _headed(words: tuple[str, ...], inner: list[Clause]) -> Clause:
    """Put words before a condition; several conditions follow as parts."""
    if len(inner) == 1:
        return Clause((f"{' '.join(words)}:", *inner[0].words), inner[0].parts)
    return Clause(words, tuple(inner))


def _names(words: str, names: Iterable[str]) -> Clause:
    return Clause((words, *_either_of(names)))


def _either_of(names: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        found += ["or", Exact(name)] if found else [Exact(name)]
    return tuple(found)


def _compared(text: str) -> tuple[str, ...]:
    if text[:1] in "<>=!~":
        return (Exact(_OPERATOR.sub(r"\1 ", text)),)
    return "is", *_either_of(text.split(" or "))


def _distance(within: float | None, scope: str) -> tuple[str, ...]:
    near = f"within {duration(within)}" if within is not None else ""
    said = " ".join(filter(None, (near, _SCOPES.get(scope, ""))))
    return (said,) if said else ()
