"""The launch flags of a release, read from the syntax trees of its own files; nothing is imported or run.

Up to 0.5.12 every flag is an `add_argument` call in `ServerArgs.add_cli_args` (sglang/srt/server_args.py). Later ones
also derive flags from the annotated fields of dataclasses, `host: A[str, "help"]` and `load_format: A[str, Arg(...)]`,
which in still later releases stand in sglang/srt/arg_groups/fields/.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILES = re.compile(r"sglang/srt/(?:server_args\.py|arg_groups/.+\.py)")
"""The files of a release that flags are read from."""
_FIELDS = re.compile(r"sglang/srt/(?:server_args\.py|arg_groups/fields/.+\.py)")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_MANY = 64
_UNKNOWN = object()


@dataclass(slots=True)
class Option:
    """One launch argument: its spellings, the name of its value in ServerArgs, and what it accepts.

    `type` is the name of the type or parser, `bool` where it takes no value. `choices` is None where there are none or
    they are not literal. `state` says whether it is `deprecated` or stops the launch (`refused`); `instead` is what the
    release itself names in its place.
    """

    names: list[str]
    dest: str
    type: str = "str"
    nargs: str = ""
    choices: list[Any] | None = None
    state: str = ""
    instead: str = ""


@dataclass(slots=True)
class _Book:
    """What is known of names in all the files: literal values, the actions that stop the launch, and which value of
    the command line becomes which one of ServerArgs.
    """

    values: dict[str, ast.expr] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)


def options(sources: Mapping[str, bytes]) -> list[Option]:
    """Take the files of a release by their paths (those that `FILES` matches); return its launch arguments.

    Raises `SyntaxError` where one is no Python that this interpreter knows.
    """
    trees = {path: ast.parse(source) for path, source in sources.items() if FILES.fullmatch(path)}
    book = _Book()
    for tree in trees.values():
        _learn(tree, book)
    found: dict[str, Option] = {}
    for path, tree in sorted(trees.items(), key=lambda pair: pair[0] != "sglang/srt/server_args.py"):
        for option in _options(tree, book, fields=bool(_FIELDS.fullmatch(path))):
            if not any(name in found for name in option.names):
                found.update(dict.fromkeys(option.names, option))
    return sorted({id(one): one for one in found.values()}.values(), key=lambda one: one.names)


def _learn(tree: ast.Module, book: _Book) -> None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            book.values[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            book.values[node.target.id] = node.value
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    _learn_method(node.name, method, book)


def _learn_method(owner: str, method: ast.FunctionDef, book: _Book) -> None:
    if method.name == "__call__" and any(isinstance(one, ast.Raise) for one in method.body):
        book.stopping.add(owner)
    if owner == "ServerArgs" and method.name == "from_cli_args":
        for one in method.body:  # args.tp_size = args.tensor_parallel_size
            if isinstance(one, ast.Assign) and isinstance(one.value, ast.Attribute):
                target = one.targets[0]
                if isinstance(target, ast.Attribute):
                    book.renamed[one.value.attr] = target.attr


def _options(tree: ast.Module, book: _Book, *, fields: bool) -> Iterator[Option]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            names = [value for one in node.args if isinstance(value := _literal(one, book), str)]
            if names and all(map(_FLAG.fullmatch, names)):
                yield _of_call(names, node, book)
        elif fields and isinstance(node, ast.ClassDef):
            yield from _of_class(node, book)


def _of_call(names: list[str], node: ast.Call, book: _Book) -> Option:
    said = {one.arg: one.value for one in node.keywords if one.arg}
    long = next((name for name in names if name.startswith("--")), names[0])
    dest = _literal(said["dest"], book) if "dest" in said else None
    option = Option(names, str(dest) if isinstance(dest, str) else long.lstrip("-").replace("-", "_"))
    option.dest = book.renamed.get(option.dest, option.dest)
    _refine(option, said, book)
    return option


def _of_class(node: ast.ClassDef, book: _Book) -> Iterator[Option]:
    """Yield the options of annotated fields, `name: A[type, "help"]` or `name: A[type, Arg(...)]`."""
    for one in node.body:
        if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
            continue
        parts = _annotated(one.annotation)
        if parts is None:
            continue
        said = _arg(parts[1:])
        if said is None or _literal(said.get("no_cli"), book) is True:
            continue
        name = one.target.id
        spelt = _literal(said.get("cli_name"), book)
        more = _literal(said.get("aliases"), book)
        names = [spelt if isinstance(spelt, str) else f"--{name.replace('_', '-')}"]
        names += [alias for alias in more if isinstance(alias, str)] if isinstance(more, list) else []
        option = Option(names, name, **_typed(parts[0]))
        _refine(option, said, book)
        if all(map(_FLAG.fullmatch, names)):
            yield option


def _annotated(node: ast.expr) -> list[ast.expr] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return None
    if node.value.id not in ("A", "Annotated") or not isinstance(node.slice, ast.Tuple):
        return None
    return node.slice.elts


def _arg(parts: list[ast.expr]) -> dict[str, ast.expr] | None:
    """Return the keywords of `Arg(...)`, none for a mere help text; None where a field has neither."""
    for one in parts:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "Arg":
            return {keyword.arg: keyword.value for keyword in one.keywords if keyword.arg}
    plain = any(isinstance(one, (ast.Constant, ast.JoinedStr, ast.BinOp)) for one in parts)
    return {} if plain else None


def _typed(node: ast.expr) -> dict[str, Any]:
    """Return `type`, `nargs` and `choices` that an annotation stands for, as the release's own code reads it."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left = [one for one in (node.left, node.right) if not (isinstance(one, ast.Constant) and one.value is None)]
        return _typed(left[0]) if len(left) == 1 else {"type": "str"}
    if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
        outer = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
        if outer == "Optional":
            return _typed(node.slice)
        if outer == "Literal":
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            values = [one.value for one in parts if isinstance(one, ast.Constant)]
            return {"type": type(values[0]).__name__ if values else "str", "choices": values}
        if outer in ("List", "list"):
            return {"type": _typed(node.slice)["type"], "nargs": "+"}
        return {"type": "str"}
    name = node.id if isinstance(node, ast.Name) else ""
    return {"type": name if name in ("str", "int", "float", "bool") else "str"}


def _refine(option: Option, said: Mapping[str, ast.expr], book: _Book) -> None:
    """Put into an option what keywords of `add_argument` or `Arg` say of it."""
    for key in ("type", "type_parser"):
        if key in said:
            option.type = _named(said[key]) or option.type
    nargs = _literal(said.get("nargs"), book)
    option.nargs = str(nargs) if isinstance(nargs, (str, int)) else option.nargs
    choices = _literal(said.get("choices"), book)
    if isinstance(choices, list):
        option.choices = choices if len(choices) <= _MANY else None
    elif "choices" in said:
        option.choices = None
    action = said.get("action")
    if action is None:
        return
    value = _literal(action, book)
    name = value if isinstance(value, str) else _named(action)
    if name in ("store_true", "store_false", "store_const", "BooleanOptionalAction") or "StoreTrue" in name:
        option.type = "bool"
    if name == "BooleanOptionalAction":
        option.names += [f"--no-{one[2:]}" for one in option.names]
    refused = name in book.stopping or "error_message" in {*said, *_keys(said)}
    if refused or "Deprecated" in name:
        option.type = "bool" if name == "DeprecatedAction" else option.type
        option.state = "refused" if refused else "deprecated"
        new = _literal(said.get("new_flag") or _inner(said, "new_flag"), book)
        option.instead = new if isinstance(new, str) else ""


def _keys(said: Mapping[str, ast.expr]) -> list[object]:
    more = said.get("action_kwargs")
    return [key.value for key in more.keys if isinstance(key, ast.Constant)] if isinstance(more, ast.Dict) else []


def _inner(said: Mapping[str, ast.expr], name: str) -> ast.expr | None:
    more = said.get("action_kwargs")
    if isinstance(more, ast.Dict):
        for key, value in zip(more.keys, more.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                return value
    return None


def _named(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _literal(node: ast.expr | None, book: _Book, depth: int = 8) -> object:
    """Return the value of a literal, of a name that stands for one, or of a sum of lists; `_UNKNOWN` for all else."""
    if node is None or not depth:
        return _UNKNOWN
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        values = [_literal(one, book, depth - 1) for one in node.elts]
        return _UNKNOWN if any(isinstance(one, list) or one is _UNKNOWN for one in values) else values
    if isinstance(node, ast.Name):
        return _literal(book.values.get(node.id), book, depth - 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left, book, depth - 1), _literal(node.right, book, depth - 1)
        if isinstance(left, list) and isinstance(right, list):
            return left + right
        if isinstance(left, str) and isinstance(right, str):
            return left + right
    if isinstance(node, ast.Call) and _named(node.func) in ("list", "tuple", "set", "sorted") and len(node.args) == 1:
        return _literal(node.args[0], book, depth - 1)
    return _UNKNOWN
