"""The arguments of a command, read without `argparse` where they are plain.

Loading argparse, and building a parser that can also help and complain, takes as long as reading some hundred lines. So
a command first tells its arguments to `Plain`, in the same words. What is not plain (`--help`, an option that is not
there, a value that is missing or not allowed, several letters in one word) is left to argparse, which alone says what
is wrong.
"""

from __future__ import annotations

from types import SimpleNamespace

from triage.records import Record, dataclass
from triage.typed import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


class _NotPlainError(Exception):
    """Argparse is to be asked."""


def plainly(configure: Callable[[Any], None], words: Sequence[str]) -> argparse.Namespace | None:
    """Take what adds a command's arguments to a parser, and what was given; return what argparse would, None where it
    has to be asked.
    """
    parser = Plain()
    try:
        configure(parser)
        return cast("argparse.Namespace", parser.read(words))
    except _NotPlainError:
        return None


@dataclass(slots=True)
class _Argument(Record):
    dest: str
    action: str
    nargs: str | None
    default: Any
    type: Callable[[str], Any] | None
    choices: Sequence[str] | None

    def value_of(self, word: str) -> Any:
        try:
            value = word if self.type is None else self.type(word)
        except (TypeError, ValueError) as error:
            raise _NotPlainError from error
        if self.choices is not None and value not in self.choices:
            raise _NotPlainError
        return value


class Plain:
    """Stands for `argparse.ArgumentParser` in a command's `configure`."""

    def __init__(self) -> None:
        self.usage = self.epilog = ""
        self.options: dict[str, _Argument] = {}
        self.positionals: list[_Argument] = []

    def add_argument(
        self,
        *names: str,
        action: str = "store",
        nargs: str | None = None,
        default: Any = None,
        type: Callable[[str], Any] | None = None,  # noqa: A002 - as argparse names it
        choices: Sequence[str] | None = None,
        metavar: str | None = None,
        help: str | None = None,  # noqa: A002, ARG002
        **more: object,
    ) -> None:
        """See `argparse.ArgumentParser.add_argument`."""
        del metavar
        if more or action not in ("store", "store_true", "append") or (type is not None and isinstance(default, str)):
            raise _NotPlainError
        if names[0][:1] != "-":
            if len(names) > 1 or action != "store" or nargs not in (None, "*", "+", "?"):
                raise _NotPlainError
            self.positionals.append(_Argument(names[0], action, nargs, default, type, choices))
            return
        if nargs is not None:
            raise _NotPlainError
        named = next((name for name in names if name.startswith("--")), names[0])
        default = False if action == "store_true" else default
        one = _Argument(named.lstrip("-").replace("-", "_"), action, None, default, type, choices)
        self.options.update(dict.fromkeys(names, one))

    def add_argument_group(self, *_: str) -> Plain:
        """Return this parser: groups are for the help."""
        return self

    def add_mutually_exclusive_group(self) -> NoReturn:
        """What excludes what is for argparse."""
        raise _NotPlainError

    def add_subparsers(self, **_: object) -> NoReturn:
        """Actions are for argparse."""
        raise _NotPlainError

    def read(self, words: Sequence[str]) -> SimpleNamespace:
        """Take what was given; return the values by their names."""
        found = {one.dest: one.default for one in (*self.positionals, *self.options.values())}
        given: list[str] = []
        apart = False
        rest = iter(words)
        for word in rest:
            if _is_value(word):
                if apart:
                    raise _NotPlainError
                given.append(word)
                continue
            apart = bool(given)
            name, sign, value = word.partition("=") if word.startswith("--") else (word, "", "")
            one = self.options.get(name)
            if one is None or (sign and (one.action == "store_true" or not value)):
                raise _NotPlainError
            if one.action == "store_true":
                found[one.dest] = True
                continue
            if not sign:
                value = next(rest, "--")
                if not _is_value(value):
                    raise _NotPlainError
            said = one.value_of(value)
            found[one.dest] = [*(found[one.dest] or ()), said] if one.action == "append" else said
        self._place(given, found)
        return SimpleNamespace(**found)

    def _place(self, given: list[str], found: dict[str, Any]) -> None:
        """Give what is no option its names."""
        if len(self.positionals) == 1 and self.positionals[0].nargs is not None:
            (one,) = self.positionals
            if (one.nargs == "?" and len(given) > 1) or (one.nargs == "+" and not given):
                raise _NotPlainError
            if given or (one.nargs == "*" and one.default is None):
                values = [one.value_of(word) for word in given]
                found[one.dest] = values[0] if one.nargs == "?" else values
        elif len(given) == len(self.positionals) and not any(one.nargs for one in self.positionals):
            found.update({one.dest: one.value_of(word) for one, word in zip(self.positionals, given, strict=True)})
        else:
            raise _NotPlainError


def _is_value(word: str) -> bool:
    return word == "-" or not word.startswith("-")
