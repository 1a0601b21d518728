"""What a signature is: data classes, made from the checked plain data of its YAML.

`Signature.from_record` trusts its input: it is what `triage.library.grammar` read without a problem.
"""

from __future__ import annotations

from triage.library.conditions import Condition, When, condition
from triage.records import FrozenRecord, dataclass, field
from triage.typed import Any

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FramePattern(FrozenRecord):
    """A frame: a suffix of its path by components, and its function (`method` or `Class.method`); `*` is a glob."""

    path: str
    function: str

    @property
    def text(self) -> str:
        """The pattern as a signature writes it."""
        return f"{self.path}:{self.function}"


@dataclass(frozen=True, slots=True)
class LinePart(FrozenRecord):
    """A line that must be there: text that it contains, or a regex that is found in it."""

    line: str | None = None
    line_re: str | None = None


@dataclass(frozen=True, slots=True)
class Log(FrozenRecord):
    """One line, or a sequence of lines within `window` seconds on the same rank, the same host or anywhere (`run`)."""

    parts: tuple[LinePart, ...]
    window: float | None = None
    scope: str = "run"


@dataclass(frozen=True, slots=True)
class Native(FrozenRecord):
    """A crash in native code: signal name, text contained, a symbol and a library on the stack, which threads count."""

    signal: tuple[str, ...] = ()
    message: str | None = None
    symbol: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    thread: str = "crashing"


@dataclass(frozen=True, slots=True)
class Unit(FrozenRecord):
    """What systemd says about the end of a unit: its Result=, the exit status (name or number), signal, failed step."""

    result: tuple[str, ...] = ()
    exit_status: tuple[str, ...] = ()
    signal: tuple[str, ...] = ()
    step: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kernel(FrozenRecord):
    """What the kernel says of a process: an OOM kill (True, `global`, `memcg`), Xids, a segfault (True or text)."""

    oom: bool | str | None = None
    xid: tuple[int, ...] = ()
    segfault: bool | str | None = None
    process: str | None = None


@dataclass(frozen=True, slots=True)
class Silence(FrozenRecord):
    """A rank that said nothing while the others waited for it, in one of these phases if any are named."""

    phase: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match(FrozenRecord):
    """What must be true of one failure: everything that is set here; `any`, `all` and `negated` nest."""

    exception: tuple[str, ...] = ()
    message: str | None = None
    message_is: str | None = None
    message_re: str | None = None
    frames: tuple[FramePattern, ...] = ()
    native: Native | None = None
    log: Log | None = None
    unit: Unit | None = None
    kernel: Kernel | None = None
    silence: Silence | None = None
    any: tuple[Match, ...] = ()
    all: tuple[Match, ...] = ()
    negated: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True)
class Other(FrozenRecord):
    """Another event of the attempt: what it must be, within how many seconds, on the same rank, host or anywhere."""

    match: Match
    within: float | None = None
    scope: str = "run"


@dataclass(frozen=True, slots=True)
class Explained(FrozenRecord):
    """A signature whose failures follow from this one."""

    id: str
    within: float | None = None
    scope: str = "run"


@dataclass(frozen=True, slots=True)
class FixSpec(FrozenRecord):
    """A fix as a signature states it.

    `keys` holds what is particular to its kind: for `edit` file, function, replace, with; for `flag` one of set,
    remove, raise, lower; for `env` set or remove; for `unit` and `config` set; for install, upgrade and downgrade `to`.
    """

    kind: str
    title: str | None = None
    detail: str | None = None
    command: tuple[str, ...] = ()
    when: When = field(default_factory=When)
    releases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    risk: tuple[str, ...] = ()
    keys: Record = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Signature(FrozenRecord):
    """A known failure: what it looks like, when it is meant, why it happens and what mends it."""

    id: str
    title: str
    engine: str | None = None
    match: Match = field(default_factory=Match)
    with_: tuple[Other, ...] = ()
    without: tuple[Other, ...] = ()
    when: When = field(default_factory=When)
    releases: dict[str, tuple[str, ...]] = field(default_factory=dict)
    role: str = "root"
    explains: tuple[Explained, ...] = ()
    cause: str = ""
    not_when: str = ""
    fixes: tuple[FixSpec, ...] = ()
    references: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    disabled: bool = False
    file: str = ""
    record: Record = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_record(cls, record: Record, file: str = "") -> Signature:
        """Take the plain data of a signature that was read without a problem, and its file; return the signature."""
        return cls(
            **_found_by(record),
            title=record.get("title", ""),
            engine=record.get("engine"),
            when=_when(record.get("when")),
            releases=_releases(record),
            explains=tuple(_explained(entry) for entry in record.get("explains", ())),
            cause=record.get("cause", ""),
            not_when=record.get("not_when", ""),
            fixes=tuple(_fix(entry) for entry in record.get("fixes", ())),
            references=tuple(record.get("references", ())),
            file=file,
        )

    @classmethod
    def to_index(cls, record: Record, file: str = "") -> Signature:
        """Take the same; return the signature without what matters only once it is found."""
        return cls(**_found_by(record), title="", file=file)


def _found_by(record: Record) -> Record:
    """Return the fields that a pack's index is made of, and the record itself."""
    return {
        "id": record["id"],
        "match": _match(record.get("match", {})),
        "with_": tuple(map(_other, record.get("with", ()))),
        "without": tuple(map(_other, record.get("without", ()))),
        "role": record.get("role", "root"),
        "aliases": tuple(record.get("aliases", ())),
        "disabled": record.get("disabled", False),
        "record": record,
    }


_ALWAYS = When()


def _match(record: Record) -> Match:
    return Match(
        exception=tuple(record.get("exception", ())),
        message=record.get("message"),
        message_is=record.get("message_is"),
        message_re=record.get("message_re"),
        frames=tuple(FramePattern(*text.rpartition(":")[::2]) for text in record.get("frames", ())),
        native=_native(record["native"]) if "native" in record else None,
        log=_log(record["log"]) if "log" in record else None,
        unit=Unit(**{key: tuple(map(str, value)) for key, value in record["unit"].items()})
        if "unit" in record
        else None,
        kernel=_kernel(record["kernel"]) if "kernel" in record else None,
        silence=Silence(tuple(record["silence"].get("phase", ()))) if "silence" in record else None,
        any=tuple(map(_match, record.get("any", ()))),
        all=tuple(map(_match, record.get("all", ()))),
        negated=tuple(map(_match, record.get("not", ()))),
    )


def _native(record: Record) -> Native:
    return Native(
        signal=tuple(map(str, record.get("signal", ()))),
        message=record.get("message"),
        symbol=tuple(record.get("symbol", ())),
        library=tuple(record.get("library", ())),
        thread=record.get("thread", "crashing"),
    )


def _log(record: Record) -> Log:
    parts = record.get("sequence", [record])
    return Log(tuple(map(_part, parts)), record.get("window"), record.get("scope", "run"))


def _part(part: str | Record) -> LinePart:
    return LinePart(part) if isinstance(part, str) else LinePart(part.get("line"), part.get("line_re"))


def _kernel(record: Record) -> Kernel:
    return Kernel(record.get("oom"), tuple(record.get("xid", ())), record.get("segfault"), record.get("process"))


def _other(record: Record) -> Other:
    return Other(_match(record["match"]), record.get("within"), record.get("scope", "run"))


def _explained(entry: str | Record) -> Explained:
    if isinstance(entry, str):
        return Explained(entry)
    return Explained(entry["id"], entry.get("within"), entry.get("scope", "run"))


def _when(record: Record | None) -> When:
    if not record:
        return _ALWAYS
    special = ("phase", "rank", "where")
    return When(
        facts=tuple((name, condition(value)) for name, value in record.items() if name not in special),
        phase=_condition(record, "phase"),
        rank=tuple((name, condition(value)) for name, value in record.get("rank", {}).items()),
        where=record.get("where"),
    )


def _condition(record: Record, key: str) -> Condition | None:
    return condition(record[key]) if key in record else None


def _releases(record: Record) -> dict[str, tuple[str, ...]]:
    return {package: tuple(ranges) for package, ranges in record["releases"].items()} if "releases" in record else {}


def _fix(record: Record) -> FixSpec:
    common = ("kind", "title", "detail", "command", "when", "releases", "risk")
    return FixSpec(
        kind=record["kind"],
        title=record.get("title"),
        detail=record.get("detail"),
        command=tuple(record.get("command", ())),
        when=_when(record.get("when")),
        releases=_releases(record),
        risk=tuple(record.get("risk", ())),
        keys={key: value for key, value in record.items() if key not in common},
    )
