"""Patterns that single log lines are tested against: rows of knowledge and the `log:` matches of signatures.

Events know no signatures: whoever owns a row hands it over as a `LinePattern`.
"""

from __future__ import annotations

from triage.records import Record, dataclass, field
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Kind, Role


@dataclass(slots=True)
class LinePattern(Record):
    """One decisive line.

    A line is a candidate when it contains one of `literals` (case kept); then `regex`, if there is one, must be found
    in it (Python syntax, `re.search`), and its named groups become the event's `data`. `level`, `role`, `fatal` and
    `wrapper` are those of `triage.model.Event`. `origin` restricts the row to lines of one speaker (`kernel`,
    `manager`, `service`); text that a service prints never speaks for systemd or the kernel.
    """

    id: str
    literals: tuple[str, ...]
    regex: str | None = None
    kind: Kind = "message"
    level: float | None = None
    role: Role | str | None = None
    fatal: bool = False
    wrapper: bool = False
    origin: str | None = None
    tags: frozenset[str] = field(default_factory=frozenset)
