"""The checks of single signatures and of their names."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from triage.data import knowledge
from triage.library import literals, where
from triage.library.flags import known
from triage.library.lint import Checked, Issue, Validator
from triage.library.template import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator


class LeadingWildcard(Issue):
    """A regex that begins with `.*` matches from every place of a line: slow, and never needed in a search."""


class LeadingWildcards(Validator):
    """Finds regexes that begin with a wildcard."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, regex in one.regexes():
            if re.match(r"\^?(?:\((?:\?:|\?P<\w+>)?)*\.[*+]", regex):
                yield LeadingWildcard(one.problem(at, "begins with a wildcard", "leave it out: regexes are searched"))


class NestedQuantifier(Issue):
    """A repeat inside a repeat, such as `(a+)+`, may take time that doubles with every character."""


class NestedQuantifiers(Validator):
    """Finds unbounded repeats inside unbounded repeats."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, regex in one.regexes():
            if _nested(literals.parsed(regex), inside=False):
                said = "has an unbounded repeat inside an unbounded repeat"
                yield NestedQuantifier(one.problem(at, said, "bound the outer one: {0,9}"))


class NoLiteral(Issue):
    """A line that is looked for needs a literal of four characters or more, or it would never be found."""


class NoLiterals(Validator):
    """Finds lines and regexes of `log:` that no scan can look for."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if key in ("line", "sequence") and len(literals.piece_of(value)) < literals.MIN_LENGTH:
                yield NoLiteral(one.problem(at, f"{value!r} is too short to be looked for"))
            if key == "line_re" and not literals.literals_of(value):
                yield NoLiteral(one.problem(at, f"no {literals.MIN_LENGTH} characters in a row are needed for a match"))


class SlowMessage(Issue):
    """A `message_re` without a literal is tried on every message of every failure."""

    severity = "warning"


class SlowMessages(Validator):
    """Finds regexes on messages that cannot be looked up."""

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if key == "message_re" and not literals.literals_of(value):
                yield SlowMessage(
                    one.problem(at, "has no literal of four characters or more", "add what never changes")
                )


class VolatileText(Issue):
    """Text that differs between runs, hosts or releases, so that the signature would match once."""


class VolatileTexts(Validator):
    """Finds addresses, times, process ids, home folders and line numbers in texts that must be found."""

    patterns = (
        (r"0x[0-9a-fA-F]{6,}", "an address"),
        (r"\b20\d\d-\d\d-\d\d\b|\b\d\d:\d\d:\d\d\b", "a time"),
        (r"\bpid[ =:]\d{2,}", "a process id"),
        (r"(?:^|[\s\"'=])/(?:home|root|tmp|Users)/\w", "a path of one machine"),
        (r"\bline \d+\b", "a line number"),
        (r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b(?<!127\.0\.0\.1)(?<!0\.0\.0\.0)", "an address"),
    )

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, key, value in one.leaves():
            if key in ("message", "message_is", "line", "sequence") and at.startswith(("match", "with")):
                for pattern, called in self.patterns:
                    if found := re.search(pattern, value):
                        yield VolatileText(one.problem(at, f"holds {called}: {found[0].strip()!r}", "leave it out"))


class NoReference(Issue):
    """Nothing says where the failure is known from."""


class NoReferences(Validator):
    """Finds signatures without a reference."""

    def check(self, one: Checked) -> Iterator[Issue]:
        if not one.signature.references and not one.signature.disabled:
            yield NoReference(one.problem("references", "there is no reference", "link an issue, a change or a manual"))


class UnknownFact(Issue):
    """A name that is neither a fact that triage knows nor a capture of this signature: it would be unknown for ever."""


class UnknownFacts(Validator):
    """Finds misspelt names in `when:`, `where:` and in braces."""

    def check(self, one: Checked) -> Iterator[Issue]:
        captures = {name for _, regex in one.regexes() for name in re.compile(regex).groupindex}
        for at, name in _names(one):
            if name not in captures and not _is_fact(name):
                yield UnknownFact(one.problem(at, f"{name!r} is no fact and no capture", _near(name, captures)))


class UnknownFlag(Issue):
    """A flag that no release has."""

    severity = "warning"


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
    """A signature's file is named by its id: `signatures/AREA/SLUG.yaml`."""


class IdsAndPaths(Validator):
    """Finds files that are not where their id says."""

    def check(self, one: Checked) -> Iterator[Issue]:
        wanted = PurePath(f"{one.signature.id}.yaml").parts
        if PurePath(one.file).parts[-len(wanted) :] != wanted:
            yield IdIsNotPath(one.problem("id", f"the file of {one.signature.id} must be {'/'.join(wanted)}"))


class NameTaken(Issue):
    """Two signatures have one id or alias."""


class NamesTaken(Validator):
    """Finds ids and aliases that stand for two signatures."""

    def __init__(self) -> None:
        self.owners: dict[str, str] = {}

    def check(self, one: Checked) -> Iterator[Issue]:
        for at, name in [("id", one.signature.id), *(("aliases", alias) for alias in one.signature.aliases)]:
            owner = self.owners.setdefault(name, one.file)
            if owner != one.file:
                yield NameTaken(one.problem(at, f"{name} already names the signature in {owner}"))


class UnknownSignature(Issue):
    """`explains:` names a signature that is not there."""


class UnknownSignatures(Validator):
    """Finds `explains:` that lead nowhere."""

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
        yield from (issue for name, issue in self.asked if name not in self.there)


def _names(one: Checked) -> Iterator[tuple[str, str]]:
    """Yield every name that must be a fact or a capture, with where it stands."""
    special = ("phase", "rank", "where")
    record = one.parsed.record
    for at, when in [("when", record.get("when", {}))] + [
        (f"fixes[{number}].when", fix.get("when", {})) for number, fix in enumerate(record.get("fixes", ()))
    ]:
        yield from ((f"{at}.{name}", name) for name in when if name not in special)
        if "where" in when:
            yield from ((f"{at}.where", name) for name in sorted(where.names(where.parse(when["where"]))))
    for at, key, value in one.leaves():
        if isinstance(value, str) and key in ("title", "cause", "not_when", "detail", "set", "command"):
            yield from ((at, name) for name in NAMES.findall(value))


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


def _nested(nodes: Any, *, inside: bool) -> bool:
    """Say whether a repeat without an upper bound holds another one, by the tree of Python's own regex parser."""
    for operator, argument in nodes:
        inner = list(_parts(argument))
        repeat = operator in literals.REPEATS
        unbounded = repeat and argument[1] == literals.UNBOUNDED
        if unbounded and inside:
            return True
        if any(_nested(part, inside=inside or unbounded) for part in inner):
            return True
    return False


def _parts(argument: Any) -> Iterator[Any]:
    """Yield the lists of nodes inside a node's argument."""
    if hasattr(argument, "data"):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for one in argument:
            yield from _parts(one)
