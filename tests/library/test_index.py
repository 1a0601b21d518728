"""Candidates are looked up, and never missed."""

from hypothesis import given
from hypothesis import strategies as st

from triage.library.index import Atoms, Index

WORDS = st.text("abc ", min_size=4, max_size=9)
NAMES = st.sampled_from(["KeyError", "ValueError", "IndexError"])
FILES = st.sampled_from(["a.py", "b.py"])
KINDS = st.sampled_from(["exception", "unit", "kernel"])


def some(names):
    """None, or a few names."""
    return st.none() | st.lists(names, min_size=1, max_size=2, unique=True).map(tuple)


ATOMS = st.builds(Atoms, types=some(NAMES), texts=some(WORDS), files=some(FILES), kinds=some(KINDS))


def needs(atoms: Atoms, types, text, kind) -> bool:
    """Whether a failure has what a signature needs, asked directly."""
    return (
        (atoms.types is None or any(name in types for name in atoms.types))
        and (atoms.texts is None or any(literal in text for literal in atoms.texts))
        and (atoms.kinds is None or kind in atoms.kinds)
    )


@given(
    st.lists(ATOMS, max_size=12),
    st.lists(NAMES, max_size=2),
    st.text("abc ", max_size=40),
    st.lists(FILES, max_size=2),
    KINDS,
)
def test_lookup_finds_what_asking_each_would(atoms, types, text, files, kind):
    """All that fit are found, but for frames: of a signature that asks for nothing else, one of its files must be there."""
    found = Index(atoms).fitting(types, text, files, kind)
    wanted = [number for number, one in enumerate(atoms) if needs(one, types, text, kind)]
    only_files = {
        number
        for number, one in enumerate(atoms)
        if one.files and not (one.types or one.texts or one.kinds) and not set(one.files) & set(files)
    }
    assert found == [number for number in wanted if number not in only_files]


def test_related_are_those_of_the_type_or_the_file():
    """For what is near."""
    index = Index(
        [Atoms(types=("KeyError",)), Atoms(files=("a.py",)), Atoms(texts=("abcd",)), Atoms(types=("ValueError",))]
    )
    assert index.related(["KeyError"], ["a.py"]) == [0, 1]
