"""Keeps secrets out of what is shown: tokens and keys always, prompts, hosts and people in what is made to be shared.

What a secret looks like is data: `triage/knowledge/secrets.yaml`.
"""

from __future__ import annotations

import re
from functools import cache

from triage.data import knowledge
from triage.lazy import regex
from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


_SECRET_NAME = regex(r"(?i)api_?key|secret|passw|passphrase|(?:^|[._])(?:hf_|access_|auth_)?token$|hub_token")


def mask(text: str, share: bool = False) -> str:
    """Take any text; return it with its secrets replaced by placeholders such as `<hf-token-1>`.

    With `share` also prompts, host names, addresses and users' names. Never raises; takes time in proportion to the
    text. Placeholders are no secrets: a masked text can be masked again.
    """
    return Masker(share).text(text)


@dataclass(slots=True)
class _Row(Record):
    name: str
    share: bool
    literals: tuple[str, ...]
    source: str
    kept: str
    compiled: re.Pattern[str] | None = None
    keep: re.Pattern[str] | None = None

    def compile(self) -> re.Pattern[str]:
        if self.compiled is None:
            self.keep = regex(self.kept, re.DOTALL)
            self.compiled = regex(self.source)
        return self.compiled


@cache
def _rows() -> tuple[_Row, ...]:
    table = knowledge("secrets")
    rows = []
    for row in table["rows"]:
        source = row["re"]
        for name, part in table["parts"].items():
            source = source.replace(f"%{name}%", part)
        kept = "|".join(filter(None, (table["unset"], row.get("keep"))))
        rows.append(_Row(row["name"], row.get("share", False), tuple(row["any"]), source, kept))
    return tuple(rows)


class Masker:
    """Masks the texts of one report, so that equal secrets get equal placeholders throughout.

    `hosts` are names of hosts that the report is about; with `share` they are replaced wherever they stand.
    """

    def __init__(self, share: bool = False, hosts: Iterable[str] = ()) -> None:
        self.share = share
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}
        self._done: dict[str, str] = {}
        self._hosts: re.Pattern[str] | None = None
        if share:
            common = set(knowledge("secrets")["common"])
            names = {name for name in hosts if 2 < len(name) < 256 and name.lower() not in common}
            found = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
            self._hosts = regex(rf"(?<![\w.-])(?:{found})(?![\w-])") if found else None

    def text(self, text: str) -> str:
        """Take any text; return it with its secrets replaced."""
        done = self._done.get(text)
        if done is None:
            done = self._done[text] = self._masked(text)
        return done

    def host(self, name: str) -> str:
        """Take the name of a host; return what stands for it."""
        return self._placeholder("host", name) if self.share and name != "localhost" else self.text(name)

    def secret(self, value: str) -> str:
        """Take a value whose name says that it is secret; return its placeholder."""
        return self._placeholder("secret", value) if value else value

    def _masked(self, text: str) -> str:
        lower = text.lower()
        for row in _rows():
            if row.share and not self.share:
                continue
            for literal in row.literals:
                if literal in lower:
                    break
            else:
                continue
            text = row.compile().sub(lambda found, row=row: self._replaced(found, row), text)  # type: ignore[misc]
        if self._hosts is not None:
            text = self._hosts.sub(lambda found: self._placeholder("host", found[0]), text)
        return text

    def _replaced(self, found: re.Match[str], row: _Row) -> str:
        whole = found[0]
        group = found.lastgroup
        if group is None:
            return whole
        value = found[group]
        if not value or (row.keep is not None and row.keep.fullmatch(value)):
            return whole
        start, end = (position - found.start() for position in found.span(group))
        return whole[:start] + self._placeholder(row.name, value) + whole[end:]

    def _placeholder(self, name: str, value: str) -> str:
        known = self._known.get((name, value))
        if known is None:
            self._counts[name] = number = self._counts.get(name, 0) + 1
            known = self._known[name, value] = f"<{name}-{number}>"
        return known


def secret_name(name: str) -> bool:
    """Take the name of a fact or variable; return whether its value is a secret (`api_key`, `env.HF_TOKEN`)."""
    return _SECRET_NAME.search(name) is not None
