"""Reading Python source: tokens, functions, places of code."""

from __future__ import annotations

import ast
import io
import tokenize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.fixes.pysource import (
    MAX_BYTES,
    SourceError,
    fragment,
    function_names,
    functions,
    nearest,
    occurrences,
    read,
)


def count(code, wanted, function="f"):
    source = read(code.encode())
    return len(occurrences(source, wanted, functions(source, function)))


def test_white_space_line_breaks_and_comments_inside_do_not_matter():
    """The same tokens match however they are laid out."""
    code = "def f(a):\n    return a.get(  # first\n        0 ,\n\n        key = 'x'\n    )\n"
    assert count(code, 'a.get(0, key="x")') == 1


def test_strings_and_comments_are_no_code():
    """What looks like the expression inside a string or a comment is not found."""
    code = 'def f(a):\n    # a.get(0)\n    "a.get(0)"\n    b = f"{a.get(0)}"\n    return """\na.get(0)\n"""\n'
    assert count(code, "a.get(0)") == 0


def test_code_is_found_behind_a_longer_name():
    """The tail of an attribute chain counts, part of a name does not."""
    assert count("def f(a):\n    return a.b.get(0)\n", "get(0)") == 1
    assert count("def f(a):\n    return a.forget(0)\n", "get(0)") == 0


def test_two_statements_are_not_one_expression():
    """Tokens that go on over the end of a line of code do not match."""
    assert count("def f(a):\n    a\n    (0)\n", "a(0)") == 0


def test_quotes_of_strings_do_not_matter():
    """Strings are compared by their values."""
    assert count("def f(a):\n    return a['key']\n", 'a["key"]') == 1
    assert count("def f(a):\n    return a['key']\n", 'a[b"key"]') == 0


def test_f_strings_are_compared_as_a_whole():
    """An f-string is one token on every Python."""
    assert count("def f(a):\n    return g(f'{a}')\n", "g(f'{a}')") == 1
    assert count("def f(a):\n    return g(f'{b}')\n", "g(f'{a}')") == 0


def test_functions_are_found_in_classes_branches_and_functions():
    """Qualified names work through nesting, decorators, async and compound statements."""
    code = (
        "import x\n"
        "if x:\n"
        "    class A:\n"
        "        @x.y(\n"
        "            1)\n"
        "        async def f(self):\n"
        "            def g():\n"
        "                pass\n"
        "try:\n"
        "    def f(): pass\n"
        "except ImportError:\n"
        "    def f(): pass\n"
        "match x:\n"
        "    case 1:\n"
        "        def h(): pass\n"
    )
    source = read(code.encode())
    assert functions(source, "A.f") == [(4, 8)]
    assert functions(source, "A.f.g") == functions(source, "A.f.<locals>.g") == [(7, 8)]
    assert functions(source, "f") == [(10, 10), (12, 12)]
    assert functions(source, "h") == [(15, 15)]
    assert functions(source, "A") == []
    assert functions(source, "<module>")[0][0] == 1
    assert function_names(source) == ["A.f", "A.f.g", "f", "f", "h"]


def test_only_the_function_is_searched():
    """The same expression in a neighbour does not count."""
    code = "def f(a):\n    return a(1)\ndef g(a):\n    return a(0)\n"
    assert count(code, "a(0)", "f") == 0
    assert count(code, "a(0)", "g") == 1


@pytest.mark.parametrize(
    "code", ["", "a b", "a\nb", "if a: b", "def f(): pass", "(", "a\r", "\0", "# only", "class A: pass"]
)
def test_a_fragment_is_one_simple_statement(code):
    """Anything else is refused with ValueError."""
    with pytest.raises(ValueError):
        fragment(code)


def test_fragments_may_be_statements_joined_by_semicolons():
    """An import can be put in front of the statement that needs it."""
    assert [token.text for token in fragment("import a; b = a")][:3] == ["import", "a", ";"]


@pytest.mark.parametrize(
    "raw",
    [
        b"def f(:\n",
        b"x = '\xff'\n",
        b"# coding: no-such-thing\n",
        b"# coding: utf-16\nx = 1\n",
        b"x = 1\0\n",
        b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
        b"x = " + b"-" * 100_000 + b"1\n",
        b"#" * (MAX_BYTES + 1),
    ],
)
def test_what_python_cannot_read_is_one_error(raw):
    """Broken syntax, encodings and depth end in SourceError, never in another exception."""
    with pytest.raises(SourceError):
        read(raw)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_offsets_hold_for_every_line_end(ending):
    """Tokens say where they stand in the text as it is."""
    code = ending.join(["def f(a):", "    b = 'é'", "    return  a.get(0)", ""])
    source = read(code.encode())
    first, last = occurrences(source, "a.get(0)", functions(source, "f"))[0]
    assert source.text[source.tokens[first].start : source.tokens[last - 1].end] == "a.get(0)"
    assert source.tokens[first].line == 3


def test_the_nearest_expression_is_named():
    """What comes closest is found by its syntax, with its line."""
    source = read(b"def f(a):\n    x = a.pool.get_buffer(a.start)\n    return other(1)\n")
    assert nearest(source, "a.pool.get_buffer(0)", functions(source, "f")) == (2, "a.pool.get_buffer(a.start)")
    assert nearest(source, "quite.different(thing, here)", functions(source, "f")) is None
    assert nearest(source, "import x", functions(source, "f")) is None


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    """Arbitrary text never raises anything but SourceError; what is read gives its bytes back."""
    raw = text.encode("utf-8", "replace")
    try:
        source = read(raw)
    except SourceError:
        return
    assert source.bom + source.text.encode(source.encoding) == raw


@given(
    st.sampled_from(["a.b(0)", "x + y", "f'{a}'", "not a", "a[b:c]", "lambda: 0", "a if b else c", "{**a}", "(yield)"])
)
def test_a_fragment_is_found_in_its_own_unparsed_form(code):
    """ast.unparse writes every expression differently, and it is still found."""
    body = "def f():\n    return " + ast.unparse(ast.parse(code, mode="eval")) + "\n"
    wanted = code if ast.unparse(ast.parse(code)) == code or "'" in code else ast.unparse(ast.parse(code))
    assert count(body, wanted) == 1


def test_tokens_agree_with_the_tokenizer():
    """Names stand where the tokenizer says, in its order."""
    code = "@a.b\nclass C(D):\n\tasync def f(self, *, x: int = 1) -> None:\n\t\treturn await x[y:z] if x else None\n"
    real = [
        token.string for token in tokenize.generate_tokens(io.StringIO(code).readline) if token.type == tokenize.NAME
    ]
    ours = [token for token in read(code.encode()).tokens if token.text.isidentifier()]
    assert [token.text for token in ours] == [code[token.start : token.end] for token in ours] == real
