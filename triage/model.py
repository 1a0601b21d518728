"""The words that every room of triage shares: what a line, an event, a failure and an incident are.

Data only. Each stage reads what the stage before it wrote: sources yield `Entry` or bytes, `lines` makes `Line`s of
them, `events` makes `Event`s of lines, `incident` folds events into `Incident`s with `Failure`s, `causes` gives the
roles, `match` and `fixes` add `Diagnosis` and `Fix`, `report` shows them.

Times are seconds since the epoch. A time stamp without a zone is read as if it were UTC and its `zoned` is False, so
that differences are right and nothing pretends to know the zone. Offsets are bytes in the (decompressed) source.
"""

from __future__ import annotations

from triage.records import Record, dataclass, field
from triage.typed import Literal

Role = Literal["root", "consequence", "teardown", "recovered", "suspect", "unrelated"]
Kind = Literal["exception", "native", "message", "unit", "kernel", "exit", "silence"]
Outcome = Literal["failed", "degraded", "healthy", "starting"]
Assembly = Literal["exact", "inferred", "partial"]
Relation = Literal["cause", "context", "remote", "group"]
Confidence = Literal["certain", "likely", "possible"]
GapKind = Literal[
    "suppressed",
    "truncated",
    "rotated",
    "missing-rank",
    "clock",
    "permission",
    "unreadable",
    "namespace",
    "output-elsewhere",
    "no-kernel",
    "timeout",
]


class TriageError(Exception):
    """Something the user can mend: bad usage or unreadable input. Its text is the one line that the CLI prints."""


@dataclass(slots=True)
class Gap(Record):
    """Something that could not be read, and that could change the verdict."""

    kind: GapKind
    detail: str


@dataclass(slots=True)
class Entry(Record):
    """One journal entry, from libsystemd or from `-o export`, `-o json` or `-o verbose` text.

    `fields` holds decoded text by journal field name (systemd.journal-fields(7)); of a repeated field the first value.
    `realtime` is `__REALTIME_TIMESTAMP` in microseconds since the epoch, 0 where it is missing. `offset` is the byte
    offset of the entry where it was read from text, else its running number.
    """

    fields: dict[str, str]
    realtime: int
    cursor: str | None
    offset: int


@dataclass(slots=True)
class Line(Record):
    """One log line with what its prefixes said.

    `text` is what the writer printed: prefixes peeled, ANSI codes and trailing blanks removed. `stream` names the
    sequence of lines this one belongs to (host, unit, invocation, pid and a label that stands on every line): two lines
    of one stream are in the order in which they were written. `record` says that a record head was peeled (SGLang's
    `[time PP3 TP1]`, glog, uvicorn), so that this line begins a record and continues nothing.
    `severity` is syslog's 0 to 7 where the line or its entry said one. `origin` says who speaks: the service itself
    (`service`), systemd about a unit (`manager`), the kernel (`kernel`) or another program of the host (`other`).
    `where` is the source file and line that a head of glog or torch named (`tcp_transport.cpp:200`).
    `number` is the running number of the line in the order of reading, over all sources; events take it as `order`.
    `carrier` is what carried the line here, by the outermost prefix that told one (`journal-short`, `kubectl-prefix`,
    `compose`: rows of `knowledge/prefixes.yaml`). `stamp` is a time stamp as it was written that says no year, where no
    line before told one; `time` is None then, unless a further prefix tells it.
    """

    text: str
    stream: str
    offset: int
    source: str = ""
    line: int | None = None
    cursor: str | None = None
    time: float | None = None
    zoned: bool = False
    host: str | None = None
    unit: str | None = None
    invocation: str | None = None
    pid: int | None = None
    ident: str | None = None
    rank: str | None = None
    record: bool = False
    severity: int | None = None
    origin: Literal["service", "manager", "kernel", "other"] = "service"
    fields: dict[str, str] | None = None
    where: str | None = None
    number: int = 0
    carrier: str = ""
    stamp: str = ""


@dataclass(slots=True)
class Position(Record):
    """Where and when something stands in the input, and what carried it there (see `Line`)."""

    time: float | None = None
    zoned: bool = False
    rank: str | None = None
    pid: int | None = None
    host: str | None = None
    source: str = ""
    offset: int = 0
    line: int | None = None
    cursor: str | None = None
    ident: str | None = None
    carrier: str = ""
    stamp: str = ""


@dataclass(slots=True)
class Evidence(Record):
    """A line that shows something, word for word."""

    at: Position
    text: str


@dataclass(slots=True)
class Frame(Record):
    """One frame of a stack, outermost first in every list of frames (faulthandler and py-spy are turned round)."""

    file: str
    line: int | None
    function: str
    text: str | None = None


@dataclass(slots=True)
class ChainLink(Record):
    """Another exception of the same failure, and how it is tied to it."""

    type: str
    message: str
    relation: Relation
    frames: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ExceptionInfo(Record):
    """A Python exception as its traceback printed it.

    `type` is the dotted name as printed. `chain` holds the other exceptions of the traceback in the order in which they
    were printed, `place` of them before this one; `chain[i].relation` is the i-th relation between two neighbours of
    that order. Which one says why is decided by `events.chain`, and `causes` may promote a link.
    """

    type: str
    message: str
    frames: list[Frame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    chain: list[ChainLink] = field(default_factory=list)
    place: int = 0


@dataclass(slots=True)
class Event(Record):
    """One thing that happened, with its lines as evidence.

    `rule` names the row of knowledge, or the parser, that recognised it (`traceback`, `sglang/sigquit`,
    `systemd/main-exited`). `level` orders what can be a root: 0 for an own exception, 3 for a line that only says that
    a child failed; None for an event that can be no root by itself (a phase, a fact, a notice). `fatal` says that a
    process or the unit died of it, `wrapper` that its line only announces what follows.
    `data` holds what was read out of the lines (`code`, `signal`, `pid`, `unit`, captures of a pattern).
    """

    kind: Kind
    rule: str
    at: Position
    stream: str
    text: str
    level: float | None = None
    role: Role | Literal["notice"] | None = None
    fatal: bool = False
    wrapper: bool = False
    exception: ExceptionInfo | None = None
    frames: list[Frame] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    ranks: list[str] = field(default_factory=list)
    assembly: Assembly = "exact"
    unit: str | None = None
    invocation: str | None = None
    data: dict[str, str] = field(default_factory=dict)
    end: float | None = None
    order: int = 0


@dataclass(slots=True)
class Because(Record):
    """Why a failure is no root: which failure it follows from, and the rule that says so."""

    failure: str
    rule: str


@dataclass(slots=True)
class Fix(Record):
    """One remedy, as it applies here.

    `command` is an argument list that can be run as it stands, None where no command does it. `applies` is `unknown`
    where a fact or the release is not known; `why` then says what would tell.
    """

    kind: str
    title: str
    detail: str = ""
    command: list[str] | None = None
    risk: list[str] = field(default_factory=list)
    applies: Literal["yes", "no", "unknown"] = "unknown"
    why: str = ""


@dataclass(slots=True)
class Diagnosis(Record):
    """A signature that fits a failure: what of it was observed, what could not be confirmed, what is missing.

    `link` says which exception of the failure it matched: 0 the exception itself, n the n-th of its chain. `role` and
    `explains` are the signature's own, for `causes`; the failures in `beyond`, by their ids, are too far away for what
    it explains. `score` orders diagnoses, the most specific first.
    """

    signature: str
    confidence: Confidence
    title: str
    cause: str
    matched: list[str] = field(default_factory=list)
    unconfirmed: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    not_when: str = ""
    release: str = ""
    role: str = "root"
    explains: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)
    link: int = 0
    score: float = 0.0
    fixes: list[Fix] = field(default_factory=list)
    references: list[str] = field(default_factory=list)


@dataclass(slots=True)
class NearMiss(Record):
    """A signature that does not fit a failure: what of it held, and what would be needed for the condition that did
    not.
    """

    signature: str
    title: str
    held: list[str] = field(default_factory=list)
    failed: str = ""
    score: float = 0.0


@dataclass(slots=True)
class Failure(Record):
    """Events of one kind and fingerprint, folded over ranks and repeats.

    `near` holds signatures that nearly fit, None where nobody asked for them (`--explain`).
    """

    id: str
    kind: Kind
    rule: str
    fingerprint: str
    first: Position
    role: Role = "unrelated"
    because: Because | None = None
    level: float | None = None
    fatal: bool = False
    assembly: Assembly = "exact"
    ranks: list[str] = field(default_factory=list)
    count: int = 1
    exception: ExceptionInfo | None = None
    frames: list[Frame] = field(default_factory=list)
    text: str = ""
    evidence: list[Evidence] = field(default_factory=list)
    diagnoses: list[Diagnosis] = field(default_factory=list)
    near: list[NearMiss] | None = None
    data: dict[str, str] = field(default_factory=dict)
    last: Position | None = None
    streams: set[str] = field(default_factory=set)
    order: int = 0


@dataclass(slots=True)
class Phase(Record):
    """A phase of a process's start-up, its times in seconds since the epoch."""

    phase: str
    start: float | None = None
    end: float | None = None
    ended: bool = False


@dataclass(slots=True)
class Process(Record):
    """What is known of one process of the service: its rank, how far it came, its last line, how it ended."""

    rank: str | None = None
    pid: int | None = None
    host: str | None = None
    phases: list[Phase] = field(default_factory=list)
    last: Evidence | None = None
    exit: str | None = None


@dataclass(slots=True)
class Member(Record):
    """A host, unit and invocation that took part in an incident."""

    host: str | None = None
    unit: str | None = None
    invocation: str | None = None


@dataclass(slots=True)
class Exit(Record):
    """How the service ended: exit code, signal name, systemd's result; `restarts` is systemd's restart counter where it
    had scheduled another start.
    """

    code: int | None = None
    signal: str | None = None
    result: str | None = None
    restarts: int | None = None


@dataclass(slots=True)
class Attempts(Record):
    """How often the service was started in what was read, and whether every failed attempt failed in the same way.

    `earlier` has one line for each attempt before the diagnosed one, oldest first, `failed` says how many of these
    failed. `restarted` is when the next attempt began, where it is too young to say anything of it.
    """

    count: int = 1
    same_fingerprint: bool | None = None
    earlier: list[str] = field(default_factory=list)
    restarted: float | None = None
    failed: int = 0


@dataclass(slots=True)
class Incident(Record):
    """One run of one service.

    `facts` are what the log (or the unit) says of the service: `engine`, `sglang` (its release, None where unknown),
    launch arguments by their names in SGLang's ServerArgs (`pp_size`, `attention_backend`, ...), `architecture`,
    `env.NAME`, `host.gpu`. A missing key is unknown, not absent. `failures` also holds, with level None, what is no
    failure by itself but what a signature may ask for or explain a failure with. `sources` are the logs of a run that
    was read from several, and `began` is where its first event stands.
    """

    source: str
    members: list[Member] = field(default_factory=list)
    started: float | None = None
    ended: float | None = None
    zoned: bool = False
    outcome: Outcome = "healthy"
    phase: str | None = None
    exit: Exit | None = None
    attempts: Attempts = field(default_factory=Attempts)
    facts: dict[str, object] = field(default_factory=dict)
    processes: list[Process] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    ready: float | None = None
    stopped_by_operator: bool = False
    sources: list[str] = field(default_factory=list)
    began: Position | None = None


@dataclass(slots=True)
class Verdict(Record):
    """What the first screen says of one service: the incident by its number from 1, its root failure, one sentence."""

    incident: int
    failure: str | None
    summary: str


@dataclass(slots=True)
class Tool(Record):
    """Which triage with which signatures made a report."""

    version: str
    signatures: int = 0
    digest: str = ""


@dataclass(slots=True)
class Report(Record):
    """Everything that triage found, in the order in which it is shown: incidents oldest first.

    `notes` say what was read and how, `warnings` what the user should mend (a signature file that does not load).
    """

    tool: Tool
    verdicts: list[Verdict] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
