"""The scopes of a source file, as a traceback names them, with the lines at which each may be on the stack.

Read from the syntax tree; nothing is imported or run. A frame that called another one stands on a line with a call, an
attribute, an operator, an import, a `with` or a `for`; which line of an expression over several lines is printed
differs between releases of Python, so all that any of them prints are listed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from triage.releases.table import MODULE
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What may call another frame without being a call.
_ACTIVE = (
    ast.AugAssign,
    ast.Assert,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.BinOp,
    ast.Compare,
    ast.Delete,
    ast.DictComp,
    ast.For,
    ast.FormattedValue,
    ast.GeneratorExp,
    ast.If,
    ast.IfExp,
    ast.Import,
    ast.ImportFrom,
    ast.JoinedStr,
    ast.ListComp,
    ast.Raise,
    ast.SetComp,
    ast.Starred,
    ast.Subscript,
    ast.UnaryOp,
    ast.While,
    ast.With,
    ast.Yield,
    ast.YieldFrom,
)


@dataclass(slots=True)
class Scope:
    """A function, class or module: its qualified name, its first line and number of lines.

    `lines` has the lines at which it may call, from its first line on (0), each with the names of what is called there.
    """

    name: str
    first: int
    length: int
    lines: dict[int, set[str]] = field(default_factory=dict)

    def note(self, line: int, *called: str) -> None:
        """Say that something of these names may be called on a line of the file."""
        self.lines.setdefault(line - self.first, set()).update(called)


def scopes(source: bytes) -> list[Scope]:
    """Take a Python file; return its scopes by first line, the module itself first.

    Raises `SyntaxError` and `ValueError` where it is no Python that this interpreter knows.
    """
    tree = ast.parse(source)
    module = Scope(MODULE, 1, source.count(b"\n") + 1)
    found = [module]
    _walk(tree.body, module, found)
    return sorted(found, key=lambda scope: (scope.first, -scope.length))


def _walk(nodes: Iterable[ast.AST], scope: Scope, found: list[Scope]) -> None:
    """Go through nodes of one scope. A stack of its own, since expressions nest deeper than Python recurses."""
    left = [*nodes]
    while left:
        node = left.pop()
        if isinstance(node, _DEFINITIONS):
            left.extend(_define(node, scope, found))
            continue
        if isinstance(node, ast.Lambda):
            continue  # its frames are called <lambda> and stand between two that are not
        if isinstance(node, ast.Call):
            name = _name(node.func)
            scope.note(node.lineno, *name)
            scope.note(node.func.end_lineno or node.lineno, *name)
        elif isinstance(node, ast.Attribute):
            scope.note(node.lineno, node.attr)
            scope.note(node.end_lineno or node.lineno, node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            scope.note(node.lineno, *_modules(node))
        elif isinstance(node, _ACTIVE):
            scope.note(node.lineno)
        elif isinstance(node, ast.Assign) and any(isinstance(one, (ast.Tuple, ast.List)) for one in node.targets):
            scope.note(node.lineno)  # what is unpacked may be of another length
        left.extend(ast.iter_child_nodes(node))


def _define(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope, found: list[Scope]
) -> Iterator[ast.AST]:
    """Add the scope of a definition; yield what of it is run in the scope around it."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    for one in node.decorator_list:
        scope.note(one.lineno, *_name(one))
        scope.note(node.lineno, *_name(one))
    qualified = node.name if scope.name == MODULE else f"{scope.name}.{node.name}"
    inner = Scope(qualified, first, (node.end_lineno or node.lineno) - first + 1)
    found.append(inner)
    _walk(node.body, inner, found)
    yield from node.decorator_list
    if isinstance(node, ast.ClassDef):
        for line in (first, node.lineno):  # its body is run there, in a frame of its name
            scope.note(line, node.name, "__init_subclass__")
        yield from node.bases
        yield from node.keywords
        return
    arguments = node.args
    yield from (one for one in [*arguments.defaults, *arguments.kw_defaults] if one is not None)
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    yield from (one.annotation for one in every if one is not None and one.annotation is not None)
    if node.returns is not None:
        yield node.returns


def _modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the names of modules that an import may run, without those of the packages around them."""
    if isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
    for one in node.names:
        yield from one.name.split(".")


def _name(node: ast.AST) -> tuple[str, ...]:
    """Return the name by which something is called: of `a.b(c)` it is b."""
    if isinstance(node, ast.Call):
        node = node.func
    return (node.id,) if isinstance(node, ast.Name) else (node.attr,) if isinstance(node, ast.Attribute) else ()
