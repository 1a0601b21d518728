"""Compiles signatures into a pack, as `triage.library.pack` reads it."""

from __future__ import annotations

import json
import os

from triage.hashing import sha256
from triage.library.atoms import Atoms, atoms, line_patterns
from triage.library.index import Row, rarest
from triage.library.literals import literals_of
from triage.library.pack import checksum
from triage.library.problems import Problem
from triage.library.spoken import spoken
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triage.library.signature import Signature
    from triage.patterns import LinePattern


class Writer:
    """Takes signatures one by one; `bytes` returns them as `Pack` reads them."""

    def __init__(self, *, thorough: bool = False) -> None:
        """With `thorough` the pack also says of its expressions what matching would have to derive."""
        self._thorough = thorough
        self._found: dict[str, _Written] = {}
        self._problems: list[Problem] = []

    def add(self, signature: Signature, file: str, line: int = 0) -> None:
        """Take a signature and its file's name in the pack, and the line of its id. The first of an id is kept."""
        if (other := self._found.get(signature.id)) is not None:
            name = other.file or os.path.basename(signature.file)  # noqa: PTH119 - pathlib takes longer to load
            self.complain(Problem(file, line, "id", f"{signature.id} is also in {name}"))
            return
        text = _worded.encode(signature.record)
        regexes = "{}"
        if self._thorough:
            said = {regex: (literals_of(regex), spoken(regex)) for regex in _regexes(signature.record)}
            regexes = _dense.encode(said)
        self._found[signature.id] = _Written(
            file,
            signature.disabled,
            signature.aliases,
            sha256(text.encode())[:16],
            f'{{"record":{text},"regexes":{regexes}}}',
            atoms(signature.match),
            line_patterns(signature),
        )

    def complain(self, problem: Problem) -> None:
        """Take what is wrong with a file of the pack, named as in the pack."""
        self._problems.append(problem)

    def bytes(self, key: str = "") -> bytes:
        """Return the pack; `key` says which state of the files it is."""
        ids = sorted(self._found)
        all_ = [self._found[one] for one in ids]
        rows: list[Row] = [(number, *needs) for number, one in enumerate(all_) for needs in one.atoms]
        index = {"rows": rows, "pieces": rarest(row[2] for row in rows)}
        rest = "\n".join([_dense.encode(index), *(one.record for one in all_)]).encode()
        head = {
            "key": key,
            "ids": ids,
            "files": [one.file for one in all_],
            "digests": [one.digest for one in all_],
            "disabled": [number for number, one in enumerate(all_) if one.disabled],
            "aliases": [(number, alias) for number, one in enumerate(all_) for alias in one.aliases],
            "problems": [[p.file, p.line, p.field, p.message, p.hint, p.column] for p in self._problems],
            "lines": [
                (number, p.id, p.literals, p.regex, p.level, p.role)
                for number, one in enumerate(all_)
                for p in one.lines
            ],
            "sum": checksum(rest),
        }
        return b"\n".join([_dense.encode(head).encode(), rest])


@dataclass(slots=True)
class _Written:
    file: str
    disabled: bool
    aliases: tuple[str, ...]
    digest: str
    record: str
    atoms: Sequence[Atoms]
    lines: Sequence[LinePattern]


_worded = json.JSONEncoder(ensure_ascii=False)
_dense = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def _regexes(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (value[key] for key in ("message_re", "line_re") if key in value)
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _regexes(one)
