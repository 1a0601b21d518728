"""The names of `typing` that modules use, without `typing`: loading it takes as long as reading two thousand lines.

Annotations are never evaluated by triage, so at run time a name only has to be there, and to bear `[...]` and `|` in an
alias. Where `typing` is loaded anyway, the names are its own: who asks for the type hints of a class gets them.
"""

# ruff: noqa: ANN001, ANN201, ANN204, TID251, PYI024 - stands for typing

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING or "typing" in sys.modules:
    from typing import (
        IO,
        Any,
        AnyStr,
        BinaryIO,
        ClassVar,
        Final,
        Literal,
        NamedTuple,
        NoReturn,
        Protocol,
        TextIO,
        TypeAlias,
        Union,
        cast,
        overload,
    )

    __all__ = [
        "IO", "TYPE_CHECKING", "Any", "AnyStr", "BinaryIO", "ClassVar", "Final", "Literal", "NamedTuple", "NoReturn",
        "Protocol", "TextIO", "TypeAlias", "Union", "cast", "overload",
    ]  # fmt: skip
else:
    from collections import namedtuple

    class _Name:
        def __getitem__(self, _):
            return self

        def __or__(self, _):
            return self

        __ror__ = __or__

    Any = AnyStr = BinaryIO = ClassVar = Final = IO = Literal = NoReturn = TextIO = TypeAlias = Union = _Name()

    class Protocol:
        """A base that says nothing at run time."""

    class _Fields(type):
        def __new__(cls, name, bases, space):
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = tuple(space.get("__annotations__", ()))
            made = namedtuple(name, fields, defaults=[space.pop(field) for field in fields if field in space])
            for one, value in space.items():
                if one not in ("__annotations__", "__dict__", "__weakref__"):
                    setattr(made, one, value)
            return made

    class NamedTuple(metaclass=_Fields):
        """See `typing.NamedTuple`."""

    def cast(_, value):
        """See `typing.cast`."""
        return value

    def overload(function):
        """See `typing.overload`."""
        return function
