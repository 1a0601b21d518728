"""The format of a signature, key by key: what the loader accepts and the published JSON Schema describes."""

from __future__ import annotations

import re
import warnings

from triage.library.containers import Either, Later, ListOf, MapOf, Record, Variant
from triage.library.shapes import Choice, Duration, Null, Number, Shape, Text, Truth, Value

FORMAT = 1
ID = r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*){1,3}"
ROLES = ("root", "consequence", "teardown", "notice")
SCOPES = ("rank", "host", "run")
RISKS = ("none", "restart", "accuracy", "speed", "data")


def _regex_problem(text: str) -> str:
    from triage.library.literals import parsed

    try:
        parsed(text)
        if "(?<" in text:  # that a look-behind has no fixed width is seen later than all other errors
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        return f"no valid regex: {error}"
    return ""


def _release_problem(text: str) -> str:
    from triage.library.releases import problem

    return problem(text)


def _package_problem(text: str) -> str:
    return "" if text == "any" else _release_problem(text)


def _where_problem(text: str) -> str:
    from triage.library.where import WhereError, parse

    try:
        parse(text)
    except WhereError as error:
        return str(error)
    return ""


def _comparison_problem(text: str) -> str:
    from triage.library.conditions import condition

    try:
        condition(text)
    except ValueError as error:
        return str(error)
    return ""


_id = Text(ID, says="an id such as sglang/pp-triton-layer0-value-buffer")
_text = Text()
_line = Text(limit=400)
_regex = Text(limit=1000, check=_regex_problem, free=True)
_duration = Duration()
_scope = Choice(*SCOPES)
_name = Text(r"[\w.+/-]+", says="a name", limit=200)
_names = ListOf(Text(r"[\w.+/*-]+", says="a name", limit=200), lone=True)
_number = Number(whole=True)
_status = ListOf(
    Value(Text(r"\d{1,3}|(?:\d{1,3}/)?[A-Z_]+", says="a status such as 2 or 203/EXEC"), _number), lone=True
)
_signal = ListOf(Value(Text(r"(?:SIG)?[A-Z0-9+]{2,10}", says="a signal such as SIGSEGV"), _number), lone=True)
_frame = Text(
    r"(?!.*\*\*.*\*\*)(?!.*[^\s:/*]\*\*)(?!.*\*\*[^:/])[^\s:]+:[^\s:]+",
    says="a frame such as layers/attention/triton_backend.py:__init__, with one ** as a whole component at most",
    limit=300,
)
_releases = MapOf(ListOf(Text(limit=200, check=_release_problem), lone=True), key=r"[a-z][\w-]*", says="a package")
_risk = ListOf(Choice(*RISKS), lone=True)
_value = Value(Text(limit=200, check=_comparison_problem), Truth(), Number(), Null())
_values = Either(scalar=_value, sequence=ListOf(_value))

_part = Record({"line": _line, "line_re": _regex}, one_of=[("line", "line_re")])
_log = Record(
    {
        "line": _line,
        "line_re": _regex,
        "sequence": ListOf(Either(scalar=_line, mapping=_part), least=2, most=10),
        "window": _duration,
        "scope": _scope,
    },
    one_of=[("line", "line_re", "sequence")],
    needs={"window": "sequence", "scope": "sequence"},
)
_match = Later("match", lambda: MATCH)
_matches = ListOf(_match, most=40)
MATCH: Record = Record(
    {
        "exception": ListOf(Text(r"[A-Za-z_][\w.]*", says="an exception's type", limit=200), lone=True),
        "message": _line,
        "message_is": _line,
        "message_re": _regex,
        "frames": ListOf(_frame, most=20),
        "native": Record(
            {
                "signal": _signal,
                "message": _line,
                "symbol": ListOf(Text(limit=300), lone=True),
                "library": _names,
                "thread": Choice("crashing", "any"),
            }
        ),
        "log": _log,
        "unit": Record({"result": _names, "exit_status": _status, "signal": _signal, "step": _names}),
        "kernel": Record(
            {
                "oom": Value(Choice("global", "memcg"), Truth()),
                "xid": ListOf(_number, lone=True),
                "segfault": Value(_line, Truth()),
                "process": Text(limit=100),
            },
            one_of=[("oom", "xid", "segfault")],
        ),
        "silence": Record({"phase": _names}, empty=True),
        "any": _matches,
        "all": _matches,
        "not": ListOf(_match, lone=True, most=40),
    },
    at_most_one=[("message", "message_is", "message_re")],
)


class _When(MapOf):
    """Conditions by the name of a fact or capture; `phase`, `rank` and `where` have a meaning of their own."""

    def __init__(self) -> None:
        super().__init__(_values, key=r"[A-Za-z_][\w.]*", says="the name of a fact")
        self.special: dict[str, Shape] = {
            "rank": MapOf(_values, key=r"[a-z][a-z_]*", says="a kind of rank such as pp", most=8),
            "where": Text(limit=400, check=_where_problem),
        }

    def shape_of(self, key: str) -> Shape:
        return self.special.get(key, self.value)

    def schema(self) -> dict[str, object]:
        return {**super().schema(), "properties": {key: shape.schema() for key, shape in self.special.items()}}


_when = _When()
_common: dict[str, Shape] = {"title": _text, "detail": _text, "when": _when, "releases": _releases, "risk": _risk}
_runs: dict[str, Shape] = {**_common, "command": ListOf(Text(limit=300), most=40)}
_flag = ListOf(
    Text(r"-{1,2}[A-Za-z0-9][\w-]*(?:[= ].+)?", says="a flag such as --attention-backend=flashinfer"), lone=True
)
_setting = ListOf(Text(r"[A-Za-z_]\w*=.*", says="a setting such as NAME=value"), lone=True)
_packages = MapOf(Text(limit=100, check=_package_problem), key=r"[A-Za-z0-9][\w.-]*", says="a package", most=10)


def _fix(kind: str, fields: dict[str, Shape], required: tuple[str, ...] = ()) -> Record:
    there = tuple(key for key in ("set", "remove", "raise", "lower") if key in fields)
    return Record(
        {"kind": Choice(kind), **fields},
        required=("kind", *required),
        one_of=[there] if kind == "flag" else (),
        at_most_one=[there] if kind == "env" else (),
    )


_FLAGS = ("set", "remove", "raise", "lower")
FIX = Variant(
    "kind",
    {
        "edit": _fix(
            "edit",
            {
                **_common,
                "file": Text(r"(?!/)(?!.*\.\.)[\w./-]+\.py", says="a path below the package folder's parent"),
                "function": Text(r"[\w.<>]+", says="a function such as Class.method"),
                "replace": _text,
                "with": _text,
                "fixed_when": _text,
            },
            ("title", "file", "function", "replace", "with"),
        ),
        "flag": _fix("flag", {**_common, **dict.fromkeys(_FLAGS, _flag)}),
        "env": _fix("env", {**_runs, "set": _setting, "remove": _names}),
        "unit": _fix("unit", {**_runs, "set": _setting}, ("title",)),
        "config": _fix("config", {**_runs, "file": Text(limit=300), "set": ListOf(_text, lone=True)}, ("title",)),
        "install": _fix("install", {**_runs, "to": _packages}),
        "upgrade": _fix("upgrade", {**_runs, "to": _packages}),
        "downgrade": _fix("downgrade", {**_runs, "to": _packages}),
        "hardware": _fix("hardware", _runs, ("title",)),
        "ask": _fix("ask", _runs, ("title",)),
    },
)

_other = Record({"match": _match, "within": _duration, "scope": _scope}, required=["match"])
_explained = Record({"id": _id, "within": _duration, "scope": _scope}, required=["id"])
SIGNATURE = Record(
    {
        "format": Number(whole=True),
        "id": _id,
        "title": Text(limit=200),
        "engine": Choice("sglang", "vllm", "any"),
        "match": _match,
        "with": ListOf(_other, most=20),
        "without": ListOf(_other, most=20),
        "when": _when,
        "releases": _releases,
        "role": Choice(*ROLES),
        "explains": ListOf(Either(scalar=_id, mapping=_explained)),
        "cause": _text,
        "not_when": _text,
        "fixes": ListOf(FIX, most=20),
        "references": ListOf(Text(r"https?://\S+", says="an address", limit=300), lone=True),
        "aliases": ListOf(_id, lone=True),
        "disabled": Truth(),
    },
    required=["format", "id"],
)
# What a signature that is not disabled needs too.
REQUIRED = ("title", "match", "cause")
