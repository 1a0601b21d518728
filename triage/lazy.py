"""Regular expressions that are compiled when they are first used, and only once for all runs.

There are some four hundred in the modules and tables, and a log needs some two hundred of them; compiling these takes
longer than reading a small log. So what `re` makes of a pattern, the list of numbers that its engine runs on, is kept
in the user's cache for this very Python. The engine checks such a list before it takes it, but not well enough to trust
it with a damaged one (it can be made to crash), so a checksum stands beside the rows. That is no guard against someone
who may write the user's files: that the file is the user's alone is what `yaml_cache` sees to.
"""

from __future__ import annotations

import json
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
            from triage.yaml_cache import kept_bytes

            head, _, rows = (kept_bytes(_place()) or b"").partition(b"\n")
            self.rows = json.loads(rows) if rows and head == _head(rows) else {}
        return self.rows


def _head(rows: bytes) -> bytes:
    """Return what stands above rows that are this Python's and not damaged."""
    from zlib import crc32

    return f"{crc32(rows)} {_PYTHON}".encode()


_STORE = _Store()
# Two machines with one home may have the same release of Python.
_PYTHON = " ".join(f"{sys.version} {sys.byteorder} {sys.maxsize:x}".split())


def _place() -> str:
    from triage.yaml_cache import cache_folder

    return f"{cache_folder()}/expressions-{sys.implementation.cache_tag}.jsonl"


def compile_once(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Take what `re.compile` takes; return the pattern, from the cache if it is there. Raises `re.error` as it does."""
    rows = _STORE.load()
    key = f"{flags} {pattern}" if isinstance(pattern, str) else f"{flags} bytes {pattern!r}"
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


def _numbers(pattern: str | bytes, flags: int) -> list[Any]:
    """Do what `re.compile` does, up to the engine (CPython's Lib/re/_compiler.py)."""
    from array import array

    try:
        from re import _compiler as compiler  # type: ignore[attr-defined]
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_compile as compiler
        import sre_parse as parser
    nodes = parser.parse(pattern, flags)
    code = compiler._code(nodes, flags)  # noqa: SLF001
    state = nodes.state
    return [flags | state.flags, state.groups - 1, state.groupdict, array("I", map(int, code)).tobytes().hex()]


def _engine(pattern: str | bytes, row: list[Any]) -> Any:
    import _sre  # type: ignore[import-not-found]

    flags, groups, names, numbers = row
    places: list[str | None] = [None] * (groups + 1)
    for name, place in names.items():
        places[place] = name
    return _sre.compile(pattern, flags, _unpacked(numbers), groups, names, tuple(places))


def _unpacked(numbers: str) -> list[int]:
    return memoryview(bytes.fromhex(numbers)).cast("I").tolist()


def keep() -> None:
    """Keep what was compiled in this run for the next ones."""
    rows = _STORE.rows
    if not _STORE.fresh or rows is None:
        return
    from triage.yaml_cache import keep_bytes

    raw = json.dumps(rows if len(rows) <= _MOST else {}).encode()
    keep_bytes(_place(), _head(raw) + b"\n" + raw)
    _STORE.fresh = False
