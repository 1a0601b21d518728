"""Replacing code, with the proof that nothing else changes."""

from __future__ import annotations

import pytest

from triage.fixes.pysource import SourceError, functions, occurrences, read
from triage.fixes.splice import replaced


def splice(code, old, new, function="f"):
    source = read(code if isinstance(code, bytes) else code.encode())
    places = occurrences(source, old, functions(source, function))
    assert len(places) == 1
    return replaced(source, places[0], new).raw.decode(source.encoding)


def test_only_the_tokens_that_differ_are_touched():
    """Layout and comments around the changed token stay as they are."""
    code = "def f(a):\n    return a.get(  # keep\n        0,  # and this\n        1)\n"
    assert splice(code, "a.get(0, 1)", "a.get(a.first, 1)") == code.replace("0,", "a.first,")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.get(0)", "a.get(0) if a else None"),
        ("a.get(0)", "a.get(0, 1)"),
        ("a.get(0)", "(a.get(0))"),
        ("a.get(0)", "a.get()"),
        ("a.get(0)", "a"),
        ("a.get(0)", "b"),
        ("a.get(0)", "not a"),
        ("get(0)", "set(0)"),
        ("get(0)", "get(a)"),
        ("x = a.get(0)", "x = 1; y = 2"),
        ("x = a.get(0)", "import y; x = y.z"),
        ("x = a.get(0)", "x: int = a.get(0)"),
        ("x = a.get(0)", "del x"),
    ],
)
def test_expressions_and_statements_can_be_replaced(old, new):
    """The result parses to what the replacement says, in the same place."""
    code = "def f(a, x):\n    x = a.get(0)\n    return x\n"
    assert splice(code, old, new) == code.replace(old, new)


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("a + b * c", "a + b", "d"),
        ("c - a + b", "a + b", "d"),
        ("not a == b", "not a", "d"),
        ("a if b else c", "a if b", "d"),
        ("c ** -a", "-a", "a, a"),
        ("g(a, b)", "a, b)", "a)"),
        ("g.a * g.b", "g.b", "g.b + c"),
        ("g(a)(b)", "(b)", ""),
    ],
)
def test_code_that_is_part_of_something_larger_is_refused(code, old, new):
    """Where the replacement would change how the code around it is read, nothing is done."""
    with pytest.raises((SourceError, ValueError)):
        splice(f"def f(a, b, c, x, g):\n    return {code}\n", old, new)


def test_a_call_on_a_longer_chain_can_be_changed():
    """The last part of an attribute chain is an edit of its own."""
    assert splice("def f(a):\n    return a.b.get(0).c\n", "get(0)", "set(1)") == "def f(a):\n    return a.b.set(1).c\n"
    assert splice("def f(a):\n    return a.b.c\n", "b.c", "d.e") == "def f(a):\n    return a.d.e\n"


def test_items_of_a_list_can_be_changed_together():
    """Neighbouring arguments are a span inside the call."""
    assert splice("def f(a):\n    g(1, a, a.b)\n", "a, a.b", "a, 2") == "def f(a):\n    g(1, a, 2)\n"


def test_a_result_that_does_not_compile_is_refused():
    """Parsing is not enough: the compiler refuses more."""
    with pytest.raises(SourceError, match="compile"):
        splice("def f(a):\n    return a(0)\n", "return a(0)", "nonlocal nothing")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_the_files_own_line_ends_are_used(ending):
    """A replacement of several lines takes the line end of the file."""
    code = ending.join(["def f(a):", "    return a(0)", ""])
    assert splice(code, "a(0)", "a(\n0,\n1)") == code.replace("a(0)", f"a(0,{ending}1)")


def test_bytes_around_stay_in_every_encoding():
    """A file with a coding cookie, a byte order mark, tabs and no last newline keeps all of it."""
    latin = "# coding: latin-1\ndef f(a):\n\tx = 'é'; return a(0)"
    assert splice(latin.encode("latin-1"), "a(0)", "a(1)") == latin.replace("a(0)", "a(1)")
    with_mark = b"\xef\xbb\xbf" + "def f(a):\n\treturn 'ü', a(0)  # ß".encode()
    source = read(with_mark)
    place = occurrences(source, "a(0)", functions(source, "f"))[0]
    assert replaced(source, place, "a(1)").raw == with_mark.replace(b"a(0)", b"a(1)")


def test_a_replacement_that_the_encoding_lacks_is_refused():
    """Nothing is written that could not be read back."""
    with pytest.raises(SourceError, match="iso-8859-1"):
        splice(b"# coding: latin-1\ndef f(a):\n    return a(0)\n", "a(0)", "a('\u20ac')")
