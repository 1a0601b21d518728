"""Expressions and records that are made when they are first used behave as the standard library's."""

import ast
import copy
import dataclasses
import json
import pickle
import re
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import lazy
from triage.events.candidates import Candidates
from triage.lazy import compile_once, regex
from triage.matching.frames import likeness
from triage.records import FrozenRecord, Record, dataclass, field, names_of, replace


@dataclass(slots=True)
class Plain:
    name: str
    size: int = 3
    parts: list = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True)
class Fixed:
    name: str

    @property
    def twice(self):
        return self.name * 2


@dataclass(slots=True)
class PlainAtOnce(Record):
    name: str
    size: int = 3
    parts: list = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True)
class FixedAtOnce(FrozenRecord):
    name: str

    @property
    def twice(self):
        return self.name * 2


@dataclass
class Counted:
    start: int = 1
    _now: int = field(default=0, init=False, repr=False)

    def __post_init__(self):
        self._now = self.start + 1


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No expression is known from an earlier run, and nothing is kept in the user's cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(lazy, "_STORE", lazy._Store())
    return tmp_path


def again(monkeypatch):
    monkeypatch.setattr(lazy, "_STORE", lazy._Store())


PATTERNS = [
    (r"(?P<rank>[PT]P\d+) (?:rank|pid)=(?P<pid>\d{1,10})(?=;|$)", 0),
    (r"^\s*(['\"]?)(\w+)\1\s*[=:]\s*(.*)$", re.DOTALL | re.MULTILINE),
    (r"(?i:Größe|[à-ü]+)|(?!x)y*?z{2,5}", 0),
    (r"a  # a comment\n (?:b|c)+", re.VERBOSE),
]


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
def test_a_kept_expression_finds_what_a_compiled_one_finds(pattern, flags, monkeypatch):
    """In the run that compiles it, and in the next one, which reads it from the cache."""
    real = re.compile(pattern, flags)
    texts = ["PP3 rank=77;", "'key' : [1,\n2]", "GRÖSSE größe yzz", "abcb", ""]
    for _ in range(2):
        found = compile_once(pattern, int(flags))
        assert (found.groups, found.groupindex, found.flags) == (real.groups, real.groupindex, real.flags)
        for text in texts:
            assert [m.groups() for m in found.finditer(text)] == [m.groups() for m in real.finditer(text)]
        lazy.keep()
        again(monkeypatch)


def test_the_cache_is_used(fresh, monkeypatch):
    """The second run does not compile."""
    compile_once("never (seen|told) before")
    lazy.keep()
    again(monkeypatch)
    monkeypatch.setattr(lazy, "_numbers", None)
    assert compile_once("never (seen|told) before").search("it was never told before")


def nested(depth):
    """Numbers that the engine's own check follows so deep that the interpreter crashes: one assertion in the other."""
    from re import _constants as names  # type: ignore[attr-defined]

    outer = [number for inner in range(depth - 1, -1, -1) for number in (int(names.ASSERT), 5 + 4 * inner, 0)]
    return packed(*outer, int(names.LITERAL), 97, *[int(names.SUCCESS)] * (depth + 1))


def packed(*numbers):
    """Numbers as they are kept."""
    return array("I", numbers).tobytes().hex()


@pytest.mark.parametrize(
    "numbers", ["", "01", "00000000", "x", "11000000040000000000000003000000ffffffff01000000", "nested"]
)
def test_a_damaged_cache_is_passed_over(fresh, monkeypatch, numbers):
    """It never comes to the engine: what it would refuse, and what it would crash at."""
    if numbers == "nested":
        pytest.importorskip("re._constants")
        numbers = nested(1_000_000)
    compile_once("some (words)")
    lazy.keep()
    (place,) = fresh.glob("sglang-triage/expressions-*.jsonl")
    head, _, text = place.read_text().partition("\n")
    rows = json.loads(text)
    rows["0 some (words)"][3] = numbers
    place.write_text(f"{head}\n{json.dumps(rows)}")
    again(monkeypatch)
    assert compile_once("some (words)").search("these are some words")[1] == "words"


@pytest.mark.parametrize("rows", ["", "{", "[]", '{"0 some (words)": []}'])
@pytest.mark.parametrize("head", ["", "0 ", "{}"])
def test_a_cache_of_another_shape_is_passed_over(fresh, monkeypatch, head, rows):
    """One without rows, or as another version wrote it."""
    compile_once("some (words)")
    lazy.keep()
    (place,) = fresh.glob("sglang-triage/expressions-*.jsonl")
    place.write_text(f"{head}\n{rows}")
    again(monkeypatch)
    assert compile_once("some (words)").search("these are some words")[1] == "words"


def test_an_expression_is_not_compiled_before_its_use():
    """An error in it shows when it is used, and text that it holds can be read before."""
    wrong = regex("(")
    assert wrong.pattern == "("
    with pytest.raises(re.error):
        wrong.search("")
    with pytest.raises(AttributeError):
        regex("a").missing  # noqa: B018


def test_a_lazy_expression_works_on_bytes(monkeypatch):
    """As some readers of raw bytes need it."""
    for _ in range(2):
        assert regex(rb"\d+").findall(b"a12b3") == [b"12", b"3"]
        assert regex(r"\d+").findall("a12b3") == ["12", "3"]
        lazy.keep()
        again(monkeypatch)


@pytest.mark.parametrize("kind", [Plain, PlainAtOnce])
def test_records_behave_as_dataclasses(kind):
    """Equality, text, defaults, copies, and what the standard library's own functions make of them."""
    one = kind("a")
    assert one == kind("a", parts=[1])
    assert one != kind("b")
    assert one != "a"
    assert repr(one) == f"{kind.__name__}(name='a', size=3, parts=[])"
    assert one.parts is not kind("a").parts
    assert replace(one, size=4) == dataclasses.replace(one, size=4) == kind("a", 4)
    assert dataclasses.asdict(one) == {"name": "a", "size": 3, "parts": []}
    assert [each.name for each in dataclasses.fields(kind)] == list(names_of(one))
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert names_of("text") == ()
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(TypeError, match="missing 1 required"):
        kind()
    with pytest.raises(AttributeError):
        one.other = 1


@pytest.mark.parametrize("times", [1, 2, 200], ids=["first", "second", "often"])
@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("a",), {}), (("a", 4), {}), (("a",), {"size": 4}), ((), {"size": 4, "name": "a"}), (("a", 1, [2]), {}),
        ((), {}), (("a", 1, [], 3), {}), (("a",), {"name": "b"}), (("a",), {"colour": 1}), ((), {"size": 1}),
    ],
)  # fmt: skip
def test_a_record_is_made_alike_however_often(args, named, times):
    """By its fields, or by an `__init__` of its own; and what is called wrongly is told so as by `dataclasses`."""
    ours = dataclass(slots=True)(_shape(field))
    theirs = dataclasses.dataclass(slots=True)(_shape(dataclasses.field))

    def said(kind):
        try:
            one = kind(*args, **named)
        except TypeError as error:
            return str(error).replace("_shape.<locals>.", "")
        return one.name, one.size, one.parts

    for _ in range(times):
        found = said(ours)
    assert found == said(theirs)


def _shape(maker):
    class Shape:
        name: str
        size: int = 3
        parts: list = maker(default_factory=list)

    Shape.__annotations__ = {"name": "str", "size": "int", "parts": "list"}
    return Shape


@pytest.mark.parametrize("kind", [Fixed, FixedAtOnce])
def test_a_frozen_record_is_made_alike_however_often(kind):
    """Its fields are set although nobody may change them."""
    assert {kind(f"a{number % 3}").twice for number in range(200)} == {"a0a0", "a1a1", "a2a2"}


def test_what_finishes_a_record_is_called_however_often():
    """`__post_init__`, also a subclass's."""

    class More(Counted):
        def __post_init__(self):
            self._now = -1

    assert {Counted(number)._now - number for number in range(200)} == {1}
    assert {More(number)._now for number in range(200)} == {-1}


@pytest.mark.parametrize("kind", [Fixed, FixedAtOnce])
def test_frozen_records_cannot_be_changed(kind):
    """But be hashed, copied and pickled."""
    one = kind("ab")
    assert one.twice == "abab"
    assert {one: 1}[kind("ab")] == 1
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.name = "c"


def test_a_record_may_be_one_of_another():
    """It has its fields too, and its own `__init__` may call the other's."""

    @dataclass(slots=True)
    class More(PlainAtOnce):
        colour: str = "red"

    class Named(PlainAtOnce):
        def __init__(self, name):
            super().__init__(name.upper(), 5)

    for _ in range(100):
        assert More("a", colour="blue") == More("a", 3, [], "blue")
        assert Named("a").name == "A"
    assert More("a") != PlainAtOnce("a")
    assert repr(More("a")).endswith("More(name='a', size=3, parts=[], colour='red')")


def test_what_a_record_is_declared_to_be_its_base_makes_it():
    """With slots, and frozen where the decorator says so: it is what type checkers go by."""
    for path in (Path(lazy.__file__).parent).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            bases = {ast.unparse(base) for base in node.bases} if isinstance(node, ast.ClassDef) else set()
            if bases & {"Record", "FrozenRecord"} and node.decorator_list and path.name != "records.py":
                how = "frozen=True, slots=True" if "FrozenRecord" in bases else "slots=True"
                assert [ast.unparse(one) for one in node.decorator_list] == [f"dataclass({how})"], node.name


def test_a_record_may_finish_itself():
    """With `__post_init__`, and with fields that are no arguments."""
    assert Counted()._now == 2
    assert repr(Counted(4)) == "Counted(start=4)"
    assert Counted.start == 1


@given(st.lists(st.text("aB1 2-", min_size=1, max_size=5), max_size=8), st.text("aB1 2-", max_size=40))
def test_candidates_hold_every_row_of_which_a_word_is_in_the_text(words, text):
    """Numbers, also where a word begins or ends in the middle of one, make no difference."""
    candidates = Candidates([(word,) for word in words])
    for each in (text, text + "0", text):
        found = candidates.of(each)
        assert list(found) == sorted(found)
        assert {number for number, word in enumerate(words) if word in each} <= set(found)


@given(st.text("abc/_", max_size=30), st.text("abc/_", max_size=30))
def test_likeness_is_that_of_rapidfuzz(one, other):
    """Which takes long to load."""
    from rapidfuzz import fuzz

    assert likeness(one, other) == pytest.approx(fuzz.ratio(one, other))


def test_every_expression_of_the_modules_can_be_compiled():
    """An error in one would only show when it is used."""
    import importlib
    import pkgutil

    import triage

    found = 0
    for module in pkgutil.walk_packages(triage.__path__, "triage."):
        if "collect" in module.name or module.name.endswith("__main__") or module.name.startswith("triage.docs"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            each = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
            for one in each:
                if isinstance(one, lazy._Regex):
                    assert re.compile(one.pattern, one.flags).groups == one.groups
                    found += 1
    assert found > 200
