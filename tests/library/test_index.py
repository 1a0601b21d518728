"""Candidates are looked up, and never missed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.library.atoms import Atoms, atoms
from triage.library.index import Index
from triage.library.parse import parse
from triage.library.signature import Signature

WORDS = st.text("abc ", min_size=4, max_size=9)
NAMES = st.sampled_from(["KeyError", "ValueError", "IndexError"])
FILES = st.sampled_from(["a.py", "b.py"])
KINDS = st.sampled_from(["exception", "unit", "kernel"])


def some(names):
    """None, or a few names."""
    return st.none() | st.lists(names, min_size=1, max_size=2, unique=True).map(tuple)


ATOMS = st.builds(Atoms, types=some(NAMES), texts=some(WORDS), files=some(FILES), kinds=some(KINDS))


def indexed(library) -> Index:
    """The index of what each signature has alternatives of, as plain lists."""
    return Index([[number, *one] for number, several in enumerate(library) for one in several])


def needs(atoms: Atoms, types, text, files, kind) -> bool:
    """Whether a failure has what a signature needs, asked directly."""
    return (
        (atoms.types is None or any(name in types for name in atoms.types))
        and (atoms.texts is None or any(literal in text for literal in atoms.texts))
        and (atoms.kinds is None or kind in atoms.kinds)
        and (atoms.files is None or any(name in files for name in atoms.files))
    )


@given(
    st.lists(st.lists(ATOMS, min_size=1, max_size=3), max_size=8),
    st.lists(NAMES, max_size=2),
    st.text("abc ", max_size=40),
    st.lists(FILES, max_size=2),
    KINDS,
)
def test_lookup_finds_what_asking_each_would(library, types, text, files, kind):
    """A signature is found when one of its alternatives is satisfied, and only then."""
    wanted = [
        number for number, several in enumerate(library) if any(needs(one, types, text, files, kind) for one in several)
    ]
    assert indexed(library).fitting(types, text, files, kind) == wanted


def test_related_are_those_of_the_type_or_the_file():
    """For what is near."""
    library = (
        [Atoms(types=("KeyError",))],
        [Atoms(files=("a.py",))],
        [Atoms(texts=("abcd",))],
        [Atoms(types=("ValueError",))],
    )
    assert indexed(library).related(["KeyError"], ["a.py"]) == [0, 1]


def test_of_a_cut_stack_no_file_is_needed():
    """The frame may have been in what was cut off."""
    library = ([Atoms(types=("KeyError",), files=("a.py",))], [Atoms(files=("a.py",), texts=("abcd",))])
    assert indexed(library).fitting(["KeyError"], "abcde", [], "exception") == []
    assert indexed(library).fitting(["KeyError"], "abcde", [], "exception", whole=False) == [0, 1]


def test_near_are_those_that_show_something_beside_the_type():
    """The most telling first, and no more than asked for: the cost must not grow with the library."""
    library = (
        [Atoms(types=("KeyError",))],
        [Atoms(types=("ValueError",), files=("a.py",))],
        [Atoms(types=("KeyError",), texts=("abcd",))],
        [Atoms(types=("KeyError",), texts=("abcd",), files=("a.py",))],
    )
    index = indexed(library)
    assert index.near(["KeyError"], "abcde", ["a.py"], 9) == [3, 2, 1]
    assert index.near(["KeyError"], "abcde", ["a.py"], 1) == [3]


def alternatives(text: str):
    """The alternatives of a match."""
    base = 'format: 1\nid: a/b\ntitle: "t"\ncause: "c"\n'
    (one,), problems = parse((base + text).encode(), "x.yaml")
    assert problems == []
    return atoms(Signature.from_record(one.record).match)


def test_any_makes_alternatives():
    """Each with what stands beside it; the longest literal wins."""
    found = alternatives(
        'match: {exception: a.KeyError, message: "text", any: [{message: "longer text"}, {frames: ["x/y.py:z"]}, {log: {line: "a line"}}]}'
    )
    assert found == [
        Atoms(types=("KeyError",), texts=("longer text",)),
        Atoms(types=("KeyError",), texts=("text",), files=("y.py",)),
        Atoms(types=("KeyError",), texts=("a line",)),
    ]


def test_all_joins():
    """And `not` asks for nothing."""
    assert alternatives('match: {all: [{exception: E}, {message: "text"}], not: {message: "other"}}') == [
        Atoms(types=("E",), texts=("text",))
    ]


def test_too_many_alternatives_are_left_out():
    """That makes a signature a candidate more often, never less."""
    five = "any: [" + ", ".join(f'{{message: "text {n}"}}' for n in range(5)) + "]"
    assert len(alternatives(f"match: {{exception: E, all: [{{{five}}}, {{{five}}}]}}")) == 5


@pytest.mark.parametrize(
    ("match", "kinds"),
    [
        ("unit: {result: signal}", ("unit", "exit")),
        ("kernel: {oom: true}", ("kernel",)),
        ("silence: {}", ("silence",)),
        ("native: {signal: 6}", ("native", "exit", "exception")),
    ],
)
def test_kinds_of_failures(match, kinds):
    """A service's words never make a failure of the kernel's or systemd's."""
    assert alternatives(f"match: {{{match}}}") == [Atoms(kinds=kinds)]
