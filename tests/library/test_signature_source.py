"""YAML as nodes that know their place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.library.source import MAX_BYTES, MAX_DEPTH, Mapping, Scalar, Sequence, SourceError, documents


def only(text: str):
    """The root of the only document."""
    (root,) = documents(text.encode())
    return root


def test_nodes_know_line_and_column():
    """Both count from 1, and are those of the value."""
    root = only("a: 1\nb:\n  - x\n  - 'y'\n")
    assert isinstance(root, Mapping)
    key, value = root.entries[1]
    assert (key.line, key.column) == (2, 1)
    assert isinstance(value, Sequence)
    assert [(item.line, item.column, item.text, item.plain) for item in value.items] == [
        (3, 5, "x", True),
        (4, 5, "y", False),
    ]


@pytest.mark.parametrize(
    ("written", "reading"),
    [
        ("off", "true/false"),
        ("404", "number"),
        ("1.10", "number"),
        ("1_000", "number"),
        ("22:30", "number"),
        ("0x1F", "number"),
        ("null", "nothing"),
        ("~", "nothing"),
        ("2025-01-01", "date"),
        ("<<", "merge key"),
        ("=", "special"),
        ("CUDA error", "text"),
        ("'off'", "text"),
        ('"404"', "text"),
    ],
)
def test_scalar_knows_what_yaml_makes_of_it(written, reading):
    """Unquoted text that YAML 1.1 reads as something else is told apart from text."""
    assert only(f"- {written}").items[0].reading == reading


@pytest.mark.parametrize(
    ("text", "comment"), [("a: b # c", True), ("a: 'b' # c", False), ("a: b#c", False), ("a: b\n# c", False)]
)
def test_comment_behind_unquoted_text_is_noticed(text, comment):
    """What may have been cut at ` #` is marked."""
    assert only(text).entries[0][1].comment is comment


def test_comment_is_found_behind_letters_of_several_bytes():
    """Columns are characters."""
    assert only("a: {b: 'äöü', c: größe # x\n}").entries[0][1].entries[1][1].comment


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x 1", "anchors"),
        ("a: *x", "anchors"),
        ("a: !!python/object:os.system x", "tags"),
        ("a: !custom {}", "tags"),
        ("a: b: c", "no valid YAML"),
        ("a: [1}", "no valid YAML"),
        ("a: @b", "no valid YAML"),
        ("\tb: 1", "no valid YAML"),
        ("a: \x00", "no valid YAML"),
    ],
)
def test_what_no_signature_needs_is_refused(text, said):
    """With the line it stands on."""
    with pytest.raises(SourceError, match=said) as caught:
        documents(text.encode())
    assert caught.value.line == 1


def test_unquoted_colon_is_met_with_advice():
    """The commonest mistake has its cure beside it."""
    with pytest.raises(SourceError) as caught:
        documents(b"message: RuntimeError: CUDA error")
    assert caught.value.hint == "put the text in quotes"


def test_no_utf8_is_refused_with_its_line():
    """Bytes are decoded strictly."""
    with pytest.raises(SourceError) as caught:
        documents(b"a: 1\nb: \xff\n")
    assert (caught.value.message, caught.value.line) == ("not UTF-8", 2)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 100_000, "? " * 50_000])
def test_depth_is_bounded(text):
    """Nesting ends in an error, never in an overflow."""
    with pytest.raises(SourceError, match=r"nested|nesting|no valid"):
        documents(text.encode())


def test_depth_up_to_the_bound_is_read():
    """The bound itself is allowed."""
    assert documents(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    with pytest.raises(SourceError, match="deeper"):
        documents(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))


def test_size_is_bounded():
    """In bytes, and in values for what repeats."""
    with pytest.raises(SourceError, match="larger"):
        documents(b"#" * (MAX_BYTES + 1))
    with pytest.raises(SourceError, match="values"):
        documents(b"[" + b"1," * 30_000 + b"]")


def test_several_documents_are_read():
    """Each is a root of its own."""
    assert [root.entries[0][1].text for root in documents(b"a: x\n---\na: y\n")] == ["x", "y"]


@given(
    st.one_of(st.binary(max_size=300), st.text("ab:{}[]-?!&*#|>'\"%@`,\\ \n\t0\r\x85", max_size=120).map(str.encode))
)
def test_any_bytes_give_nodes_or_a_source_error(raw):
    """Nothing else is ever raised."""
    try:
        roots = documents(raw)
    except SourceError as error:
        assert error.message
    else:
        assert all(isinstance(root, (Scalar, Sequence, Mapping)) for root in roots)
