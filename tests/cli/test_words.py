"""What `Plain` reads of a command's arguments is what argparse reads."""

from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.cli import COMMANDS
from triage.cli.parser import parser_for
from triage.cli.words import plainly
from triage.model import TriageError

_NAMES = ["logs", "journal", "watch", "diff", "explain", "demo", "patch", "signatures", "run", "install-hook"]
_WORDS = [
    "a.log", "b.log", "-", "--", "", "json", "text", "--format", "--format=jsonl", "--format=", "--format=x", "-o", "-ojson",
    "-o=json", "--verbose", "-v", "-fv", "--verbose=1", "--signatures", "--signatures=own", "--pod", "--output-file",
    "--output-file=x", "--help", "--no-such", "--form", "-1", "--color", "never", "--explain", "--user", "-u", "-M", "-b",
    "--since", "2 min ago", "--lines", "3", "-n", "--timeout", "5", "--apply", "--follow", "list", "=", "a=b", "-x y",
]  # fmt: skip


def _argparse(name, words):
    parser = parser_for(name, COMMANDS[name][1])
    import_module(COMMANDS[name][0]).configure(parser)
    return vars(parser.parse_args(words))


def _plainly(name, words):
    args = plainly(import_module(COMMANDS[name][0]).configure, words)
    return None if args is None else vars(args)


@given(st.sampled_from(_NAMES), st.lists(st.sampled_from(_WORDS), max_size=6))
def test_what_is_read_plainly_is_what_argparse_reads(name, words):
    """Or argparse is asked, which then says what is wrong."""
    plain = _plainly(name, words)
    if plain is not None:
        assert plain == _argparse(name, words)


@pytest.mark.parametrize(
    "words",
    [
        [], ["-"], ["a.log"], ["a.log", "b.log", "--format", "json"], ["-o", "json", "a.log"], ["--format=json", "a.log"],
        ["-f", "a.log", "--signatures", "one", "--signatures", "two"], ["a.log", "--output-file", "x", "--no-mask"],
        ["--pod", "pod.json", "-", "--explain", "--all-failures", "-v", "--together", "--no-skip", "--color=never"],
    ],
)  # fmt: skip
def test_usual_arguments_of_logs_are_read_plainly(words):
    """Without argparse, as it would read them."""
    assert _plainly("logs", words) == _argparse("logs", words)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"], ["--no-such"], ["--form", "json"], ["--format"], ["--format", "xml"], ["--format", "-v"], ["-fv"],
        ["-ojson"], ["--verbose=1"], ["a.log", "-v", "b.log"], ["--", "a.log"], ["--format="],
    ],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_argparse(words):
    """Help, errors, abbreviations of every kind."""
    assert _plainly("logs", words) is None


def test_a_type_that_refuses_a_value_is_left_to_argparse():
    """It says so in its own words."""

    def configure(parser):
        parser.add_argument("--count", type=int)

    assert vars(plainly(configure, ["--count", "3"])) == {"count": 3}
    assert plainly(configure, ["--count", "many"]) is None


@pytest.mark.parametrize("how", [None, "?", "*", "+"])
@pytest.mark.parametrize("words", [[], ["a"], ["a", "b"]])
def test_arguments_without_a_dash_are_as_many_as_their_command_takes(how, words):
    """The same values as argparse's, or none."""
    parser = parser_for("x", "x")

    def configure(parser):
        parser.add_argument("file", nargs=how, type=Path)

    configure(parser)
    args = plainly(configure, words)
    try:
        expected = vars(parser.parse_args(words))
    except TriageError:
        assert args is None
    else:
        assert vars(args) == expected
