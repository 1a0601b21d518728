"""Checks of names: facts, flags, ids, titles and the signatures that others refer to."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePath

from triage.data import knowledge
from triage.library import where
from triage.library.flags import known
from triage.library.lint import Checked, Issue, Validator
from triage.library.template import NAMES
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class UnknownFact(Issue):
    """A name that is neither a fact that triage knows nor a capture of this signature would be unknown for ever."""

    instead = "a name of triage/knowledge/facts.yaml, or of a group (?P<name>..) of this signature"


class UnknownFacts(Validator):
    """Finds misspelt names in `when:`, `where:` and in braces."""

    def check(self, one: Checked) -> Iterator[Issue]:
        captures = {name for _, regex in one.regexes() for name in re.compile(regex).groupindex}
        for at, name in _names(one):
            if name not in captures and not _is_fact(name):
                yield UnknownFact(one.problem(at, f"{name!r} is no fact and no capture", _near(name, captures)))
        for at, name, known_names, called in _places(one):
            if name not in known_names:
                yield UnknownFact(one.problem(at, f"{name!r} is no {called}", f"one of {', '.join(known_names)}"))


class UnknownFlag(Issue):
    """A flag that no release has."""

    severity = "warning"
    instead = "a flag as the engine's --help spells it"


class UnknownFlags(Validator):
    """Finds flags in fixes that SGLang and vLLM do not have."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for number, fix in enumerate(one.signature.fixes):
            for key in ("set", "remove", "raise", "lower") if fix.kind == "flag" else ():
                for text in fix.keys.get(key, ()):
                    name = re.split(r"[= ]", text)[0]
                    if name.startswith("--") and not name.isupper() and not known(name):
                        yield UnknownFlag(one.problem(f"fixes[{number}].{key}", f"no release has {name}"))


class IdIsNotPath(Issue):
    """A signature's file is named by its id, so that each is found where the other is known."""

    instead = "signatures/AREA/SLUG.yaml for the id AREA/SLUG"


class IdsAndPaths(Validator):
    """Finds files that are not where their id says."""

    def check(self, one: Checked) -> Iterator[Issue]:
        wanted = PurePath(f"{one.signature.id}.yaml").parts
        if PurePath(one.file).parts[-len(wanted) :] != wanted:
            yield IdIsNotPath(one.problem("id", f"the file of {one.signature.id} must be {'/'.join(wanted)}"))


class NameTaken(Issue):
    """Two signatures with one id or alias: only one of them can be meant."""

    instead = "an id of its own, or one signature with an `any:` of both"


class NamesTaken(Validator):
    """Finds ids and aliases that stand for two signatures."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, name in [("id", one.signature.id), *(("aliases", alias) for alias in one.signature.aliases)]:
            owner = self.owners.setdefault(name, one.file)
            if owner != one.file:
                yield NameTaken(one.problem(at, f"{name} already names the signature in {owner}"))


class TitleTaken(Issue):
    """Two signatures with one title cannot be told apart in a report, and are often one."""

    instead = "what tells this one from the other"


class TitlesTaken(Validator):
    """Finds titles that stand over two signatures."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}

    def check(self, one: Checked) -> Iterator[Issue]:
        title = " ".join(one.signature.title.lower().split())
        owner = self.owners.setdefault(title, one.file) if title else one.file
        if owner != one.file:
            yield TitleTaken(one.problem("title", f"is the title of {owner} too"))


class UnknownSignature(Issue):
    """`explains:` names a signature that is not there, so it explains nothing."""

    instead = "an id that `triage signatures list` shows"


class UnknownSignatures(Validator):
    """Finds `explains:` that lead nowhere; what triage brings along is known to packs made elsewhere too."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.asked: list[tuple[str, UnknownSignature]] = []

    def check(self, one: Checked) -> Iterator[Issue]:
        self.there.update((one.signature.id, *one.signature.aliases))
        for number, other in enumerate(one.signature.explains):
            issue = UnknownSignature(one.problem(f"explains[{number}]", f"there is no signature {other.id}"))
            self.asked.append((other.id, issue))
        yield from ()

    def finish(self) -> Iterator[Issue]:
        missing = [(name, issue) for name, issue in self.asked if name not in self.there]
        if missing:
            from triage.library.packs import load

            library = load(standing=False)
            yield from (issue for name, issue in missing if library.get(name) is None)


def _names(one: Checked) -> Iterator[tuple[str, str]]:
    """Yield every name that must be a fact or a capture, with where it stands."""
    special = ("phase", "rank", "where")
    for at, when in _whens(one):
        yield from ((f"{at}.{name}", name) for name in when if name not in special)
        if "where" in when:
            yield from ((f"{at}.where", name) for name in sorted(where.names(where.parse(when["where"]))))
    for at, key, value in one.leaves():
        if isinstance(value, str) and key in ("title", "cause", "not_when", "detail", "set", "command"):
            yield from ((at, name) for name in NAMES.findall(value))


def _places(one: Checked) -> Iterator[tuple[str, str, Iterable[str], str]]:
    """Yield names of phases and kinds of ranks, with what they may be."""
    from triage.lines.ranks import KEYS

    phases = tuple(knowledge("phase_words"))
    for at, when in _whens(one):
        value = when.get("phase", ())
        for text in value if isinstance(value, list) else [value] if value else []:
            yield from ((f"{at}.phase", name, phases, "phase") for name in re.findall(r"[a-z][\w-]*", str(text)))
        yield from ((f"{at}.rank.{name}", name, KEYS, "kind of rank") for name in when.get("rank", {}))
    for at, key, value in one.leaves():
        if key == "phase" and at.endswith((".silence.phase", "]")) and ".silence.phase" in at:
            yield at, str(value), phases, "phase"


def _whens(one: Checked) -> Iterator[tuple[str, dict[str, Any]]]:
    record = one.parsed.record
    yield "when", record.get("when", {})
    yield from ((f"fixes[{number}].when", fix.get("when", {})) for number, fix in enumerate(record.get("fixes", ())))


def _is_fact(name: str) -> bool:
    family, dot, rest = name.partition(".")
    return (bool(dot and rest) and family in knowledge("facts")["families"]) or name in _facts()


@cache
def _facts() -> frozenset[str]:
    table = knowledge("facts")
    names = {name for key in ("releases", "run", "arguments", "vllm_arguments") for name in table[key]}
    return frozenset(names | set(knowledge("flags")["facts"].values()) | set(table["event_data"]))


def _near(name: str, captures: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted({*_facts(), *captures}), 1, 0.75)
    return f"did you mean {near[0]!r}?" if near else ""
