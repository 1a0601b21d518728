"""What stands for `typing` behaves as far as triage uses it."""

from __future__ import annotations

import subprocess
import sys
import typing
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

import triage
from triage.model import Failure, Role


@pytest.fixture
def typed(monkeypatch):
    """The module as it is in a process that has not loaded `typing`."""
    monkeypatch.delitem(sys.modules, "typing")
    return SimpleNamespace(**run_path(str(Path(triage.__file__).with_name("typed.py"))))


def test_a_named_tuple_has_its_fields_defaults_methods_and_docstring(typed):
    """`NamedTuple` makes what `typing.NamedTuple` makes."""

    class Point(typed.NamedTuple):
        """Two numbers."""

        x: int
        y: int = 2

        def sum(self) -> int:
            return self.x + self.y

    one = Point(1)
    assert (one, one.x, one.y, one.sum(), Point._fields, Point.__doc__) == (
        (1, 2),
        1,
        2,
        3,
        ("x", "y"),
        "Two numbers.",
    )
    assert repr(one) == "Point(x=1, y=2)"
    assert one._replace(x=5) == (5, 2)
    assert (Point.__module__, Point.__name__) == (__name__, "Point")


def test_aliases_can_be_written(typed):
    """An alias of types is evaluated when its module is loaded."""
    assert typed.Literal["a", "b"] | None is not None
    assert typed.Union[int, typed.Any] is not None


def test_a_protocol_can_be_a_base(typed):
    """Classes may name a protocol as their base, and values may be cast."""

    class Reads(typed.Protocol):
        def read(self) -> int: ...

    class Reader(Reads):
        def read(self) -> int:
            return typed.cast("int", 1)

    assert Reader().read() == 1


def test_who_has_loaded_typing_gets_type_hints():
    """As tools do that make values of a class, or documents."""
    assert "root" in typing.get_args(Role)
    assert typing.get_type_hints(Failure)["role"] == Role


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
