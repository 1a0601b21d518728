"""Which exception of a chain is the one that says why, and how to make another one of them the main one.

`ExceptionInfo` holds the main exception; the others are its `chain`, in the order in which they were printed, `place`
of them before the main one. Between two exceptions printed one after the other stands one relation;
`chain[i].relation` is the i-th of them, so the printed order and every relation survive a promotion.
"""

from __future__ import annotations

from functools import cache

from triage.data import knowledge
from triage.lazy import regex
from triage.model import ChainLink, ExceptionInfo, Relation
from triage.records import FrozenRecord, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

# The shortest message whose repetition proves that a wrapper quotes it.
_QUOTED = 8
# What comes of `raise type(error)(text) from error` where the type wants more than a text.
_REMADE = regex(r"(?P<type>[A-Za-z_]\w*)\.__init__\(\) missing \d+ required ")


@dataclass(frozen=True, slots=True)
class _Kinds(FrozenRecord):
    status: frozenset[str]
    wrappers: frozenset[str]
    texts: re.Pattern[str]
    consequences: frozenset[str]


@cache
def _kinds() -> _Kinds:
    table = knowledge("chains")
    return _Kinds(
        status=frozenset(table["status"]),
        wrappers=frozenset(table["wrappers"]["types"]),
        texts=regex("|".join(f"(?:{text})" for text in table["wrappers"]["texts"])),
        consequences=frozenset(table["consequences"]),
    )


def short(name: str) -> str:
    """Take a type as printed; return its last part, without the cause that Ray puts in brackets."""
    return name.split("(", maxsplit=1)[0].rpartition(".")[2]


def main_of(links: Sequence[ChainLink]) -> int:
    """Take the exceptions of one traceback in printed order; return the place of the one that says why.

    `links[i].relation` ties the i-th to the one printed before it; the first one's is not read. An exception without
    a type (its line is missing) is chosen only where there is no other.
    """
    best = 0
    for place in range(1, len(links)):
        if links[best].type and _remade(links[place], links[:place]):
            continue
        if not links[best].type or (
            links[place].type and _counts_more(links[best], links[place], links[place].relation)
        ):
            best = place
    return best


def _counts_more(earlier: ChainLink, later: ChainLink, relation: Relation) -> bool:
    kinds = _kinds()
    if relation == "group":
        return False
    if relation == "remote":
        return True
    if relation == "cause":
        if short(earlier.type) in kinds.consequences and short(later.type) not in kinds.consequences:
            return True
        # A status gives way to what says more, not to another empty shell.
        return short(earlier.type) in kinds.status and short(later.type) not in kinds.status and bool(later.message)
    if short(earlier.type) in kinds.status and short(later.type) not in kinds.consequences:
        return True
    if short(later.type) in kinds.consequences:
        return short(earlier.type) in kinds.consequences
    return not (short(later.type) in kinds.wrappers and _announces(earlier, later))


def _remade(later: ChainLink, earlier: Sequence[ChainLink]) -> bool:
    """Whether the later exception is only the failed attempt to raise one of the earlier ones once more."""
    found = _REMADE.match(later.message) if short(later.type) == "TypeError" else None
    return found is not None and any(short(link.type) == found["type"] for link in earlier)


def _announces(earlier: ChainLink, later: ChainLink) -> bool:
    """Whether the later exception only repeats or announces the earlier one."""
    told = earlier.message.strip().split("\n", 1)[0][:200]
    if len(told) >= _QUOTED and told in later.message:
        return True
    return _kinds().texts.search(later.message) is not None


def assemble(links: Sequence[ChainLink], main: int) -> ExceptionInfo:
    """Take the exceptions in printed order and the place of the main one; return them as one ExceptionInfo."""
    relations = [link.relation for link in links[1:]]
    one = links[main]
    others = [link for place, link in enumerate(links) if place != main]
    return ExceptionInfo(
        type=one.type,
        message=one.message,
        frames=one.frames,
        notes=one.notes,
        chain=[
            ChainLink(link.type, link.message, relation, link.frames, link.notes)
            for link, relation in zip(others, relations, strict=True)
        ],
        place=main,
    )


def promote(info: ExceptionInfo, link: int) -> ExceptionInfo:
    """Take an exception and the number of one of its links, 1 for the first; return it with that one as the main one.

    0 is the main one itself and changes nothing, as does a number beyond the chain. The order in which the exceptions
    were printed is kept, `info` is left as it is.
    """
    if not 0 < link <= len(info.chain):
        return info
    place = min(info.place, len(info.chain))
    relations: list[Relation] = [one.relation for one in info.chain]
    main = ChainLink(info.type, info.message, "context", info.frames, info.notes)
    links = [*info.chain[:place], main, *info.chain[place:]]
    chosen = link - 1 if link - 1 < place else link
    tied = [
        ChainLink(one.type, one.message, relation, one.frames, one.notes)
        for one, relation in zip(links, [relations[0], *relations], strict=True)
    ]
    return assemble(tied, chosen)
