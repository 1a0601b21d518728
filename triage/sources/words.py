"""Command lines to words: systemd's and the shell's quoting, wrappers that hold a command line in an argument."""

from __future__ import annotations

import shlex

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence

_LONGEST = 16_384
_MOST_WORDS = 2_000
_DEEPEST = 4
_CONTINUED = regex(r"\\\r?\n")
_SHELLS = ("bash", "sh", "dash", "zsh", "ash", "ksh")
_SHELL_COMMAND = regex(r"-[a-z]*c")
_REDIRECTION = regex(r"(?<!\S)(?:\d?>&\d|(?:\d|&)?>>?\s*[^\s;|&]+|\d?<\s*[^\s;|&<]+)")
_OPERATOR = regex(r"[;|&()]+")
_VARIABLE = regex(r"\$(?:\{(\w+)(?::-([^}$]*))?\}|(\w+))")
_SPECIFIER = regex(r"%[a-zA-Z]")
_PREFIXES = "@-:+!|"


def commands(command: str | Sequence[str]) -> Iterator[list[str]]:
    """Take a command line, as text or as an argument list; yield the words of each simple command in it.

    `bash -c '...'` gives the commands of its script, each behind the words before the shell (variables, wrappers).
    Redirections are left out. Nothing is raised on any text; of very long ones the beginning is read.
    """
    if isinstance(command, str):
        words = _split(command[:_LONGEST], script=False)
        if words and len(words[0]) > 1:
            # systemd's prefixes of ExecStart=; the path behind them is absolute or a bare name.
            words[0] = words[0].lstrip(_PREFIXES) or words[0]
    else:
        words = list(command[:_MOST_WORDS])
    yield from _simple(words, [], 0)


def resolve(text: str, known: Mapping[str, str]) -> str | None:
    """Take a word and the variables that are known; return it with them filled in, None if one is not known.

    `${NAME:-default}` gives the default of an unknown one. A specifier of systemd that is left is unknown too.
    """
    missing = False

    def fill(match: re.Match[str]) -> str:
        nonlocal missing
        value = known.get(match[1] or match[3], match[2])
        missing = missing or value is None
        return value or ""

    filled = _VARIABLE.sub(fill, text) if "$" in text else text
    return None if missing or "$(" in filled or "`" in filled or _SPECIFIER.fullmatch(filled) else filled


def _simple(words: Sequence[str], before: list[str], depth: int) -> Iterator[list[str]]:
    current: list[str] = []
    for index, word in enumerate(words):
        if _OPERATOR.fullmatch(word):
            if current:
                yield [*before, *current]
            current = []
            continue
        base = word.rpartition("/")[2]
        if base in _SHELLS and depth < _DEEPEST and (script := _script(words[index + 1 :])) is not None:
            yield from _simple(_split(script, script=True), [*before, *current], depth + 1)
            return
        current.append(word)
    if current:
        yield [*before, *current]


def _script(words: Sequence[str]) -> str | None:
    """Return the script of `-c`; where quotes are lost (systemctl show), all the words that follow."""
    for index, word in enumerate(words):
        if _SHELL_COMMAND.fullmatch(word):
            rest = words[index + 1 :]
            return rest[0] if rest and any(c.isspace() for c in rest[0]) else " ".join(rest)
        if not word.startswith(("-", "+")):
            return None
    return None


def _split(text: str, *, script: bool) -> list[str]:
    text = _REDIRECTION.sub(" ", _CONTINUED.sub(" ", text))
    try:
        if not script:
            return shlex.split(text)[:_MOST_WORDS]
        lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&()")
        lexer.whitespace_split = True
        lexer.commenters = ""
        return list(lexer)[:_MOST_WORDS]
    except ValueError:
        return text.replace('"', " ").replace("'", " ").split()[:_MOST_WORDS]
