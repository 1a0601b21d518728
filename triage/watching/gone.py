"""Whether the processes of a unit's ranks are still there: a scheduler that is killed leaves no line (SGLang 0.5.6).

Only processes that were seen in the unit's own cgroup count: the journal may be that of a container, whose numbers mean
other processes here.
"""

from __future__ import annotations

from pathlib import Path

from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Line

_PROC = Path("/proc")
_MOST = 512


class Pulse:
    """The processes that named a rank, and whether they live. `surely` says that a look before found the same."""

    def __init__(self, unit: str, *, local: bool, proc: Path = _PROC) -> None:
        """Take the unit's full name, whether the journal is this host's own, and where processes are listed."""
        self.surely = False
        self._unit = unit
        self._local = local
        self._proc = proc
        self._known: set[int] = set()
        self._seen: dict[int, str] = {}
        self._gone: dict[int, str] = {}

    def saw(self, line: Line) -> None:
        """Take a line of the service; of a process that names its rank for the first time, see whether it is there."""
        if not (self._local and line.rank and line.pid is not None) or line.pid in self._known:
            return
        if len(self._known) < _MOST:
            self._known.add(line.pid)
            if self._lives(line.pid):
                self._seen[line.pid] = line.rank

    def gone(self) -> dict[int, str]:
        """Return the ranks by their process ids of the processes that were there before and are no more."""
        gone = {pid: rank for pid, rank in self._seen.items() if not self._lives(pid)}
        self.surely = bool(gone) and gone.keys() == self._gone.keys()
        self._gone = gone
        return gone

    def _lives(self, pid: int) -> bool:
        try:
            group = (self._proc / str(pid) / "cgroup").read_text(errors="replace")
            status = (self._proc / str(pid) / "stat").read_text(errors="replace")
        except OSError:
            return False
        # The state stands behind the name, which may hold anything: proc(5).
        return f"/{self._unit}" in group and status.rpartition(")")[2].split()[:1] not in (["Z"], ["X"])
