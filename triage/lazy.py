"""Regular expressions that are compiled when they are first used, and only once for all runs.

There are some four hundred in the modules and tables, and a log needs some two hundred of them; compiling these takes
longer than reading a small log. So what `re` makes of a pattern, the list of numbers that its engine runs on, is kept
in the user's cache for this very Python. The engine checks such a list before it takes it, but not well enough to trust
it with a damaged one (it can be made to crash), so a checksum stands beside the rows. That is no guard against someone
who may write the user's files: that the file is the user's alone is what `yaml_cache` sees to.
"""

from __future__ import annotations

import re
import sys

from triage.typed import Any, AnyStr, cast

_SHARED = ("match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer", "groups", "groupindex")
_MOST = 4000


class _Regex:
    """Stands for a `re.Pattern`: its slots are empty until one is asked for, then they hold the pattern's own."""

    __slots__ = (*_SHARED, "flags", "pattern")

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _SHARED:
            raise AttributeError(name)
        compiled: Any = compile_once(self.pattern, self.flags)
        for one in _SHARED:
            setattr(self, one, getattr(compiled, one))
        return getattr(self, name)


def regex(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Take what `re.compile` takes; return what behaves like the pattern. An error in it shows at its first use."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, int(flags)))


class _Store:
    """What earlier runs kept: flags, groups and the engine's numbers by flags and pattern."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] | None = None
        self.fresh = False

    def load(self) -> dict[str, list[Any]]:
        if self.rows is None:
            from triage.yaml_cache import kept

            self.rows = _unpacked(kept(_place()))
        return self.rows


def _unpacked(found: Any) -> dict[str, list[Any]]:
    """Take what was kept; return its rows, none where they are another Python's or damaged."""
    import json

    if not isinstance(found, dict) or found.get("for") != _PYTHON:
        return {}
    text = found.get("rows")
    if not isinstance(text, str) or found.get("sum") != _sum(text):
        return {}
    rows: dict[str, list[Any]] = json.loads(text)
    return rows


def _sum(text: str) -> str:
    from triage.hashing import sha256

    return sha256(text.encode("utf-8", "surrogatepass"))


_STORE = _Store()
# Two machines with one home may have the same release of Python.
_PYTHON = f"{sys.version} {sys.byteorder} {sys.maxsize:x}"


def _place() -> str:
    from triage.yaml_cache import cache_folder

    return f"{cache_folder()}/expressions-{sys.implementation.cache_tag}.json"


def compile_once(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Take what `re.compile` takes; return the pattern, from the cache if it is there. Raises `re.error` as it does."""
    if not isinstance(pattern, str):
        return re.compile(pattern, flags)
    rows = _STORE.load()
    key = f"{flags} {pattern}"
    row = rows.get(key)
    try:
        if row is None:
            row = rows[key] = _numbers(pattern, flags)
            _STORE.fresh = True
        return cast("re.Pattern[AnyStr]", _engine(pattern, row))
    except re.error:
        raise
    except Exception:  # noqa: BLE001 - the inside of another Python's `re`, or a damaged cache
        rows.pop(key, None)
        return re.compile(pattern, flags)


def _numbers(pattern: str, flags: int) -> list[Any]:
    """Do what `re.compile` does, up to the engine (CPython's Lib/re/_compiler.py)."""
    try:
        from re import _compiler as compiler  # type: ignore[attr-defined]
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_compile as compiler
        import sre_parse as parser
    nodes = parser.parse(pattern, flags)
    code = compiler._code(nodes, flags)  # noqa: SLF001
    state = nodes.state
    return [flags | state.flags, state.groups - 1, state.groupdict, " ".join(str(int(one)) for one in code)]


def _engine(pattern: str, row: list[Any]) -> Any:
    import _sre  # type: ignore[import-not-found]

    flags, groups, names, numbers = row
    places: list[str | None] = [None] * (groups + 1)
    for name, place in names.items():
        places[place] = name
    return _sre.compile(pattern, flags, list(map(int, numbers.split())), groups, names, tuple(places))


def keep() -> None:
    """Keep what was compiled in this run for the next ones."""
    rows = _STORE.rows
    if not _STORE.fresh or rows is None:
        return
    import json

    from triage.yaml_cache import keep as write

    text = json.dumps(rows if len(rows) <= _MOST else {})
    write(_place(), {"for": _PYTHON, "sum": _sum(text), "rows": text})
    _STORE.fresh = False
