"""Scopes of source files, against what the interpreter itself compiles."""

import dis
from pathlib import Path
from types import CodeType

import pytest

import triage
from triage.releases.collect.scopes import scopes
from triage.releases.table import simple

# What can call another frame, or raise what a frame of Python code is asked about.
CALLING = (
    "CALL",
    "BINARY_",
    "LOAD_ATTR",
    "LOAD_METHOD",
    "IMPORT_NAME",
    "FOR_ITER",
    "RAISE_VARARGS",
    "BEFORE_WITH",
    "SEND",
    "GET_ITER",
)


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def calling_lines(code):
    """The lines that a traceback may show for a frame of this code while it calls something."""
    line = None
    for one in dis.get_instructions(code):
        place = getattr(one, "positions", None)
        line = place.lineno if place else one.starts_line or line
        if one.opname.startswith(CALLING) and line:
            yield line


@pytest.mark.parametrize("path", sorted(Path(triage.__file__).parent.glob("*/*.py"))[::4], ids=lambda path: path.name)
def test_every_line_that_calls_is_known(path):
    """Of every scope that is compiled, whatever the release of Python."""
    source = path.read_bytes()
    found = {}
    for scope in scopes(source):
        found.setdefault(simple(scope.name), set()).update(scope.first + line for line in scope.lines)
    for code in codes(compile(source, path.name, "exec", dont_inherit=True)):
        if not code.co_name.startswith("<") or code.co_name == "<module>":
            assert set(calling_lines(code)) <= found[code.co_name], code.co_name


def named(text, name):
    """The calling lines of a scope in a text, by their numbers in it."""
    (scope,) = [scope for scope in scopes(text.encode()) if scope.name == name]
    return {scope.first + line: called for line, called in scope.lines.items()}


def test_call_over_several_lines_is_known_at_both_lines_that_python_prints():
    """That of the object up to 3.9, that of the method's name later."""
    found = named("def f():\n    x = (a\n        .b()\n        .c())\n", "f")
    assert "c" in found[4]
    assert "c" in found[2]
    assert "b" in found[3]


def test_imports_name_modules():
    """All that may be run by them."""
    found = named("from a.b import c\nimport d.e\n", "<module>")
    assert found == {1: {"a", "b", "c"}, 2: {"d", "e"}}


def test_lambda_is_a_frame_of_its_own():
    """Its calls are not those of the function around it."""
    assert named("def f():\n    x = lambda: g()\n", "f") == {}


def test_decorators_and_defaults_belong_to_the_scope_around():
    """They are run where the function is defined."""
    text = "@d(1)\ndef f(a=g()):\n    h()\n"
    assert named(text, "<module>") == {1: {"d"}, 2: {"d", "g"}}
    assert named(text, "f") == {3: {"h"}}


def test_class_body_is_a_frame():
    """It is called where the class is defined."""
    text = "class A(b.C):\n    x = f()\n"
    assert "A" in named(text, "<module>")[1]
    assert named(text, "A") == {2: {"f"}}


def test_deep_nesting_is_no_problem():
    """Neither of expressions nor of definitions."""
    text = "x = " + "f(" * 80 + ")" * 80 + "\n"
    assert named(text, "<module>") == {1: {"f"}}


def test_what_is_no_python_is_an_error():
    """It is said, not guessed."""
    with pytest.raises(SyntaxError):
        scopes(b"def f(:\n")
