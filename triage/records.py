"""The standard library's dataclasses, made when they are first used.

`dataclasses` writes and compiles the methods of each class when its module is loaded, and imports `inspect` for it: for
the eighty classes of triage that is half of the time that a small log takes. Here `__init__` is written for a class
that is made often, where it pays; `==`, `repr` and `hash` look at the fields. Types, `dataclasses.fields` and the like
see the real thing.

A decorator gets a class that is made already, and has to make it again for it to have slots. Records that a diagnosis
needs have the base `Record` or `FrozenRecord`, by which they are made with them; the decorator is there for types.
"""

# ruff: noqa: A002, ANN001, ANN003, ANN201, N807 - the signatures are those of `dataclasses`

from __future__ import annotations

from operator import attrgetter

from triage.typed import TYPE_CHECKING, Any

__all__ = ["FrozenRecord", "Record", "dataclass", "field", "replace"]

_MISSING = object()
# So many times a class is made field by field; writing its `__init__` takes as long as making thirty.
_OFTEN = 30


class _Field:
    """What `field` says of a field."""

    __slots__ = ("compare", "default", "factory", "init", "repr")

    def __init__(
        self, default: Any, factory: Any = _MISSING, *, init: bool = True, repr: bool = True, compare: bool = True
    ) -> None:
        self.default = default
        self.factory = factory
        self.init = init
        self.repr = repr
        self.compare = compare


_NEEDED = _Field(_MISSING)

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:

    def field(*, default=_MISSING, default_factory=_MISSING, **flags):
        """See `dataclasses.field`; knows `init`, `repr` and `compare`."""
        return _Field(default, default_factory, **flags)

    def dataclass(cls=None, /, *, slots=False, frozen=False, eq=True, repr=True):
        """See `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: _made(cls, slots, frozen, eq, repr)
        return _made(cls, slots, frozen, eq, repr)

    def replace(one, /, **changes):
        """See `dataclasses.replace`."""
        for name, said in one.__record__.items():
            if said.init and name not in changes:
                changes[name] = getattr(one, name)
        return type(one)(**changes)


def names_of(one: object) -> tuple[str, ...]:
    """Return the names of a record's fields in their order, none for what is no record."""
    return tuple(getattr(one, "__record__", ()))


def _made(cls: Any, slots: bool, frozen: bool, eq: bool, shown: bool) -> Any:
    if isinstance(cls, _Maker):
        return cls
    fields: dict[str, Any] = {}
    if len(cls.__mro__) > 2:
        for base in reversed(cls.__mro__[1:]):
            fields.update(base.__dict__.get("__record__", {}))
    space = dict(cls.__dict__)
    own = _collect(space, fields, slots)
    space["__init__"] = _first
    if frozen:
        space.update(_FROZEN)
    if shown and "__repr__" not in space:
        space["__repr__"] = _repr
    if eq:
        space.setdefault("__eq__", _equal)
        space["__hash__"] = _hash if frozen else None
    if not slots:
        return _filled(cls, space)
    space["__slots__"] = own
    space["__qualname__"] = cls.__qualname__
    del space["__dict__"], space["__weakref__"]
    return type(cls)(cls.__name__, cls.__bases__, space)


def _collect(space: dict[str, Any], fields: dict[str, Any], slots: bool) -> list[str]:
    """Take what a class's body says, and the fields of its bases; add its own, say so in it, and return their names."""
    own = [name for name, kind in space.get("__annotations__", {}).items() if "ClassVar" not in str(kind)]
    for name in own:
        if name not in space:
            fields[name] = _NEEDED
            continue
        said = space.pop(name)
        if said.__class__ is not _Field:
            said = _Field(said)
        fields[name] = said
        if not slots and said.default is not _MISSING:
            space[name] = said.default
    space["__record__"] = fields
    space["__match_args__"] = tuple([name for name, said in fields.items() if said.init])
    space["__dataclass_fields__"] = _DESCRIBED
    return own


def _filled(cls: Any, space: dict[str, Any]) -> Any:
    for name in [name for name in cls.__dict__ if name not in space and name in cls.__annotations__]:
        delattr(cls, name)
    for name, value in space.items():
        if name not in ("__dict__", "__weakref__") and cls.__dict__.get(name, _MISSING) is not value:
            setattr(cls, name, value)
    return cls


def _first(self: Any, *args: Any, **named: Any) -> None:
    """Be the `__init__` of a class until it is first called."""
    mro: Any = type(self).__mro__
    cls = next(one for one in mro if "__record__" in one.__dict__ and one.__dict__.get("__init__", _first) is _first)
    init = cls.__init__ = _by_fields(cls, cls.__record__, cls.__setattr__ is _refuse)
    init(self, *args, **named)


def _by_fields(cls: Any, fields: dict[str, Any], frozen: bool) -> Any:
    """Return an `__init__` that goes through the fields, until it has been called often."""
    names = [name for name, said in fields.items() if said.init]
    rest = sorted(fields.items(), key=lambda one: not one[1].init)
    after = hasattr(cls, "__post_init__")
    place: Any = object.__setattr__ if frozen else setattr
    count = 0

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        nonlocal count
        count += 1
        if count > _OFTEN or len(args) > len(names):
            return written(self, args, named)
        for name, value in zip(names, args):  # noqa: B905 - without a keyword it is twice as fast
            place(self, name, value)
        used = 0
        for name, said in rest[len(args) :]:
            if said.init and name in named:
                place(self, name, named[name])
                used += 1
            elif said.factory is not _MISSING:
                place(self, name, said.factory())
            elif said.default is not _MISSING:
                place(self, name, said.default)
            else:
                return written(self, args, named)
        if used < len(named):
            return written(self, args, named)
        if after:
            self.__post_init__()
        return None

    def written(self: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        """Make it by an `__init__` of its own, which also says what is wrong with a call."""
        init = cls.__init__ = _init(cls, fields, frozen)
        init(self, *args, **named)

    return __init__


def _init(cls: Any, fields: dict[str, Any], frozen: bool) -> Any:
    """Write `__init__`."""
    known: dict[str, Any] = {"_given": _MISSING, "_set": object.__setattr__}
    head, body = ["self"], []
    for name, said in fields.items():
        value = name
        if said.factory is not _MISSING:
            known[f"_make_{name}"] = said.factory
            value = f"_make_{name}() if {name} is _given else {name}" if said.init else f"_make_{name}()"
        elif said.default is not _MISSING:
            known[f"_default_{name}"] = said.default
            value = name if said.init else f"_default_{name}"
        if said.init:
            default = "_given" if said.factory is not _MISSING else f"_default_{name}"
            head.append(name if said.factory is _MISSING and said.default is _MISSING else f"{name}={default}")
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n  ".join(body or ["pass"])
    exec(f"def __init__({', '.join(head)}):\n  {lines}", known)  # noqa: S102 - field names only, as dataclasses does it
    made = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class _Values(dict[Any, Any]):
    """What gets the values of a record that are compared, by its class; made when it is first asked for."""

    def __missing__(self, cls: Any) -> Any:
        names = [name for name, said in cls.__record__.items() if said.compare]
        found = self[cls] = (
            attrgetter(*names) if len(names) > 1 else lambda one: tuple(getattr(one, name) for name in names)
        )
        return found


_VALUES = _Values()


def _equal(self: Any, other: object) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _VALUES[self.__class__]
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_VALUES[self.__class__](self))


def _repr(self: Any) -> str:
    said = ", ".join(f"{name}={getattr(self, name)!r}" for name, one in self.__record__.items() if one.repr)
    return f"{type(self).__qualname__}({said})"


def _refuse(self: Any, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__record__]


def _restore(self: Any, values: list[Any]) -> None:
    for name, value in zip(self.__record__, values, strict=True):
        object.__setattr__(self, name, value)


_FROZEN = {"__setattr__": _refuse, "__delattr__": _refuse, "__getstate__": _state, "__setstate__": _restore}


class _Described:
    """`__dataclass_fields__`, by which the standard library knows a dataclass: made when somebody asks."""

    def __get__(self, one: object, cls: Any = None) -> Any:
        import dataclasses

        fields: dict[str, Any] = {}
        for name, said in cls.__record__.items():
            default = {"default": said.default} if said.default is not _MISSING else {}
            factory = {"default_factory": said.factory} if said.factory is not _MISSING else {}
            made: Any = dataclasses.field(init=said.init, repr=said.repr, compare=said.compare, **default, **factory)
            made.name, made._field_type = name, dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001
            made.type = next(
                each.__annotations__[name] for each in cls.__mro__ if name in getattr(each, "__annotations__", ())
            )
            fields[name] = made
        cls.__dataclass_fields__ = fields
        return fields


_DESCRIBED = _Described()


class _Maker(type):
    """Makes a class with its slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        fields: dict[str, Any] = {}
        for base in reversed(bases):
            fields.update(getattr(base, "__record__", {}))
        inherited = bool(fields)
        own = space["__slots__"] = _collect(space, fields, slots=True)
        if inherited and own:
            space.setdefault("__init__", _first)
        return super().__new__(cls, name, bases, space)


if TYPE_CHECKING:

    class Record:
        """A base for records with slots, which spares `dataclass` making their class a second time."""

        __slots__ = ()

    class FrozenRecord(Record):
        """The same for frozen ones."""

        __slots__ = ()
else:

    class Record(metaclass=_Maker):
        """See above."""

        __init__, __repr__, __eq__, __hash__ = _first, _repr, _equal, None

    class FrozenRecord(Record):
        """See above."""

        __setattr__ = __delattr__ = _refuse
        __getstate__, __setstate__, __hash__ = _state, _restore, _hash
