"""Text is shown as text, measured in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from triage.report.text import clip, columns, middle, one_line, sentences, start, visible, wrap


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\tb", "a    b"),
        ("a\r\nb", "a\\x0d\nb"),
        ("\x00\x7f\x9b", "\\x00\\x7f\\x9b"),
        ("\u202eexe.txt", "\\u202eexe.txt"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("a\u00a0b\u3000c", "a b c"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("\u3164\u115f\u2800", "\\u3164\\u115f\\u2800"),
        ("naïve 你好 é", "naïve 你好 é"),
        ("[red]x[/red] <b>", "[red]x[/red] <b>"),
    ],
)
def test_what_could_act_or_hide_is_shown_as_an_escape(raw, shown):
    """Control characters, bidi controls and invisible characters become escapes, letters stay."""
    assert visible(raw) == shown


@given(st.text())
def test_visible_text_is_printable_and_stays_so(text):
    """Nothing but newlines is left that is not printable, and showing twice changes nothing."""
    shown = visible(text)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert visible(shown) == shown


def test_one_line_folds_white_space():
    """A message of several lines fits into a sentence."""
    assert one_line("a \n\n  b\t c\n") == "a b c"


@given(st.text(max_size=300), st.integers(40, 200))
def test_clip_keeps_to_its_limit_and_both_ends(text, limit):
    """A long text keeps its head and its tail."""
    short = clip(text, limit)
    assert len(short) <= limit
    if len(text) > limit:
        assert short[:5] == text[:5]
        assert short[-2:] == text[-2:]
    else:
        assert short == text


def test_clip_says_how_much_is_missing():
    """Whoever reads a cut text knows that it is one."""
    assert "900 characters left out" in clip("x" * 1000, 100)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cs",))), st.integers(1, 60))
def test_middle_fits(text, width):
    """A line cut in the middle never takes more columns than it may, wide characters counted twice."""
    assert columns(middle(one_line(text), width)) <= width


@given(st.text())
def test_columns_are_those_of_rich(text):
    """The characters that are measured without rich are measured as rich does."""
    shown = visible(text)
    assert columns(shown) == cell_len(shown)


@pytest.mark.parametrize("block", [(0x20, 0x300), (0x2000, 0x2800), (0x1F300, 0x1F700), (0x4E00, 0x4F00)])
def test_columns_of_single_characters(block):
    """Latin, punctuation, box drawing and signs, emoji and Chinese."""
    for code in range(*block):
        shown = visible(chr(code))
        assert columns(shown) == cell_len(shown), hex(code)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("One. Two. Three.", "One. Two. …"),
        ("One. Two.", "One. Two."),
        (
            "Set e.g. X, i.e. Y vs. Z. Then pp_size 0.5.18. `x` follows. More.",
            "Set e.g. X, i.e. Y vs. Z. Then pp_size 0.5.18. …",
        ),
        ('He said "so." Then (it) ended! Was it? Yes.', 'He said "so." Then (it) ended! …'),
        ("no end", "no end"),
    ],
)
def test_sentences(text, short):
    """Two of them are kept whole; what is in doubt ends no sentence."""
    assert sentences(text, 2) == short


@given(st.text(), st.integers(3, 60), st.integers(0, 80))
def test_middle_keeps_what_is_asked_for(text, width, keep):
    """The end that is to be kept never makes a line too long."""
    line = one_line(text)
    assert columns(middle(line, width, keep)) <= width


def test_middle_keeps_the_end_that_says_why():
    """What is cut is what stands before it."""
    assert middle("a very long line of a log (its process died)", 36, 19) == "a very long line… (its process died)"


def test_middle_keeps_both_ends():
    """The end of a line often says what its beginning does not."""
    assert middle("abcdefghijklmnopqrstuvwxyz", 11) == "abcdefg…xyz"


@given(st.text(), st.integers(2, 60))
def test_wrap_fits_and_loses_no_word(text, width):
    """Wrapped lines fit, and together they hold all characters but blanks."""
    shown = visible(text)
    lines = wrap(shown, width)
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


def test_start_loses_the_end():
    """A sentence keeps how a message begins."""
    assert start("a long message", 8) == "a long…"
    assert start("short", 8) == "short"
