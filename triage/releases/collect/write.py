"""Adds a release to the table. A source file that did not change keeps its piece as it stands."""

from __future__ import annotations

import json
from itertools import pairwise

from packaging.version import Version

from triage.releases.table import ABSENT, MAGIC, Source, Table, canonical, packed
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from triage.releases.collect.arguments import Option
    from triage.releases.collect.scopes import Scope
    from triage.releases.collect.wheels import Release


# So many letters of columns are compressed together: the fewer, the less is read for one, and the larger the table.
_PART = 32 << 10


def add(path: Path, release: Release) -> None:
    """Take the table's file, which need not exist, and a release; write the table with it. Raises `OSError`."""
    old = Table(path) if path.exists() else None
    releases = [*(old.releases if old else []), release.version]
    number = len(releases) - 1
    pieces: dict[str, bytes] = {}
    names = release.names()
    for file in sorted({*release.scopes, *(old.files() if old else [])}):
        pieces[file] = _source(old, file, release.scopes.get(file), names, number)
    options = [json.loads(line) for line in old.lines("flags")] if old else []
    pieces["flags"] = packed("\n".join(map(_json, _flags(options, release.options, number))))
    pins = dict(json.loads(line) for line in old.lines("pins")) if old else {}
    pieces["pins"] = packed("\n".join(map(_json, _pins(pins, release.pins, number).items())))
    _write(path, releases, pieces)


def _source(old: Table | None, file: str, scopes: Iterable[Scope] | None, known: set[str], number: int) -> bytes:
    """Return a source file's piece with a release that has these scopes of it, None where it has no such file."""
    raw = old.raw(file) if old else None
    source = Source(raw, number) if raw is not None else None
    names = {name: index for index, name in enumerate(source.names)} if source else {}
    columns = (
        {name: {version: (first, body) for version, first, body in source.places(name)} for name in source.columns}
        if source
        else {}
    )
    runs = source.runs if source else []
    count = max((version for _, version in runs), default=ABSENT) + 1
    version = runs[-1][1] if runs else ABSENT
    if scopes is None:
        row, run = None, ABSENT
    else:
        row = {name: (scope.first, _body(scope, known, names)) for name, scope in _named(scopes)}
        last = {name: places[version] for name, places in columns.items() if version in places}
        run = version if row == last and version != ABSENT else count
    if raw is not None and run == version:
        return raw
    for name, place in (row or {}).items() if run == count else ():
        columns.setdefault(name, {})[count] = place
    return piece_of([*runs, [number, run]], names, _texts(columns, max(count, run + 1)))


def piece_of(runs: list[list[int]], names: Iterable[str], columns: Mapping[str, str]) -> bytes:
    """Take what `triage.releases.table.Source` holds, columns as text by their names; return it as a piece."""
    head = [_json(runs), " ".join(names)]
    parts: list[bytes] = []
    here: list[str] = []
    size = 0
    for number, (name, text) in enumerate(columns.items(), start=1):
        here.append(name)
        size += len(text)
        if size >= _PART or number == len(columns):
            parts.append(packed("\n".join(columns[one] for one in here)))
            head.append(f"{len(parts[-1])} {' '.join(here)}")
            here, size = [], 0
    first = packed("\n".join(head))
    return b"".join([len(first).to_bytes(4, "little"), first, *parts])


def _named(scopes: Iterable[Scope]) -> Iterator[tuple[str, Scope]]:
    """Yield scopes with names of their own: the second of one qualified name is `A.b#2`."""
    seen: dict[str, int] = {}
    for scope in scopes:
        seen[scope.name] = seen.get(scope.name, 0) + 1
        yield scope.name if seen[scope.name] == 1 else f"{scope.name}#{seen[scope.name]}", scope


def _body(scope: Scope, known: set[str], names: dict[str, int]) -> str:
    """Return a scope as `triage.releases.table.Source` reads it; names that are new get the next numbers."""
    lines = sorted(scope.lines)
    steps = " ".join(str(after - before) for before, after in pairwise([0, *lines]))
    called = []
    for line in lines:
        ours = sorted({canonical(one) for one in scope.lines[line]} & known)
        called.append(",".join(str(names.setdefault(one, len(names))) for one in ours))
    return f"{scope.length}|{steps}|{' '.join(called)}"


def _texts(columns: Mapping[str, Mapping[int, tuple[int, str]]], count: int) -> dict[str, str]:
    """Return the columns as text. Neighbours in the file stand side by side, move together and compress well so."""
    texts = {}
    for name, places in sorted(columns.items(), key=lambda column: column[1][max(column[1])][0]):
        steps, changes = [], []
        bodies: dict[str, int] = {}
        before, last = 0, ""
        for version in range(count):
            if version not in places:
                steps.append("-")
                continue
            first, body = places[version]
            steps.append(str(first - before))
            if body != last:
                changes.append(f"{version}:{bodies.setdefault(body, len(bodies))}")
            before, last = first, body
        texts[name] = "\t".join([" ".join(steps), " ".join(changes), *bodies])
    return texts


def _flags(old: list[Any], options: Iterable[Option], number: int) -> list[Any]:
    """Return `[[option, spans], ...]`: an option's fields, and the first and last numbers of releases that have it."""
    found = {json.dumps(option): (option, spans) for option, spans in old}
    for one in options:
        option = [one.names, one.dest, one.type, one.nargs, one.choices, one.state, one.instead]
        _, spans = found.setdefault(json.dumps(option), (option, []))
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [[option, spans] for option, spans in found.values()]


def _pins(old: dict[str, list[list[Any]]], pins: Mapping[str, str], number: int) -> dict[str, list[list[Any]]]:
    """Return `{package: runs}`, where '' stands for releases that do not ask for it."""
    for name in sorted({*old, *pins}):
        runs = old.setdefault(name, [])
        said = pins.get(name, "")
        if (runs[-1][1] if runs else "") != said:
            runs.append([number, said])
    return old


def _write(path: Path, releases: list[str], pieces: Mapping[str, bytes]) -> None:
    order = sorted(range(len(releases)), key=lambda number: Version(releases[number]))
    sizes = " ".join(str(len(raw)) for raw in pieces.values())
    header = packed("\n".join([_json([releases, order]), "\t".join(pieces), sizes]))
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(MAGIC + len(header).to_bytes(4, "little") + header)
        for raw in pieces.values():
            file.write(raw)
    part.replace(path)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
