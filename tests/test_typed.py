"""What stands for `typing` behaves as far as triage uses it."""

from __future__ import annotations

import subprocess
import sys

from triage.typed import Any, Literal, NamedTuple, Protocol, Union, cast


class _Point(NamedTuple):
    """Two numbers."""

    x: int
    y: int = 2

    def sum(self) -> int:
        return self.x + self.y


def test_a_named_tuple_has_its_fields_defaults_methods_and_docstring():
    """`NamedTuple` makes what `typing.NamedTuple` makes."""
    one = _Point(1)
    assert (one, one.x, one.y, one.sum(), _Point._fields, _Point.__doc__) == (
        (1, 2),
        1,
        2,
        3,
        ("x", "y"),
        "Two numbers.",
    )
    assert repr(one) == "_Point(x=1, y=2)"
    assert one._replace(x=5) == (5, 2)
    assert (_Point.__module__, _Point.__qualname__) == (__name__, "_Point")


def test_aliases_can_be_written():
    """An alias of types is evaluated when its module is loaded."""
    assert Literal["a", "b"] | None is not None
    assert Union[int, Any] is not None  # noqa: UP007 - as modules that run on 3.10 write it


def test_a_protocol_can_be_a_base():
    """Classes may name a protocol as their base."""

    class _Reads(Protocol):
        def read(self) -> int: ...

    class _Reader(_Reads):
        def read(self) -> int:
            return cast("int", 1)

    assert _Reader().read() == 1


def test_typing_is_not_loaded():
    """Neither the shared words nor this module load `typing`."""
    code = "import sys; had = 'typing' in sys.modules; import triage.model; print(had or 'typing' not in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        == "True\n"
    )
