"""JSON lines of docker and of structured loggers: what their keys say."""

from __future__ import annotations

from triage.data import knowledge
from triage.lines.said import NO_RANK, Said
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.lines.clock import Clock, Reading

_KEPT = 8192
_RANK_TRUST = 1
# Docker cuts a line at 16 KiB into several records; only the last ends with a newline.
_DOCKER_PIECE = 16000


@dataclass(slots=True)
class Logged:
    """One JSON line: its text, what stands for all its lines, and whether more of the same line follows."""

    text: str
    said: Said
    time: float | None
    zoned: bool
    record: bool
    partial: bool


class Loggers:
    """Reads the JSON lines of one log."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys: dict[str, list[list[str]]] = {
            name: [key.split(".") if not key.startswith("@") else [key] for key in keys]
            for name, keys in knowledge("prefixes")["json"].items()
        }
        self._levels: dict[str, int] = knowledge("prefixes")["levels"]
        self._said: dict[tuple[str | None, ...], Said] = {}

    def read(self, record: dict[str, Any]) -> Logged | None:
        """Take a decoded object; return what it says, None if it holds no message."""
        text = self._find(record, "text")
        if not isinstance(text, str):
            return None
        more = [value for path in self._keys["more"] if isinstance(value := _get(record, path), str) and value]
        level = self._find(record, "level")
        time, zoned = self._time(self._find(record, "time"))
        parts = [self._find(record, name) for name in ("host", "ident", "pid", "out", "rank")]
        said = self._sum(*(None if part is None else str(part)[:200] for part in (*parts, level)))
        docker = "log" in record and "stream" in record
        return Logged(
            text="\n".join([text.rstrip("\n"), *more]),
            said=said,
            time=time,
            zoned=zoned,
            record=not docker and level is not None,
            partial=docker and not text.endswith("\n") and len(text) >= _DOCKER_PIECE,
        )

    def _find(self, record: dict[str, Any], name: str) -> object:
        for path in self._keys[name]:
            value = _get(record, path)
            if value is not None and not isinstance(value, (dict, list)):
                return value
        return None

    def _time(self, value: object) -> Reading:
        text = str(value) if isinstance(value, (str, int, float)) else ""
        return self._clock.iso(text) if text[4:5] == "-" else self._clock.unix(text)

    def _sum(self, *key: str | None) -> Said:
        said = self._said.get(key)
        if said is None:
            if len(self._said) > _KEPT:
                self._said.clear()
            host, ident, pid, out, rank, level = key
            number = rank if rank is not None and rank.isdecimal() else None
            parts = [part or "" for part in (host, ident, pid, out)]
            said = self._said[key] = Said(
                stream=":".join(parts) if any(parts) else "",
                host=host,
                ident=ident,
                pid=int(pid) if pid and pid.isdecimal() and len(pid) < 12 else None,
                rank=f"rank{number}" if number else rank or None,
                trust=_RANK_TRUST if rank else NO_RANK,
                severity=self._levels.get((level or "").upper()),
                named=True,
            )
        return said


def _get(record: Any, path: list[str]) -> Any:
    if len(path) > 1 and isinstance(record, dict) and ".".join(path) in record:
        return record[".".join(path)]
    for key in path:
        if not isinstance(record, dict):
            return None
        record = record.get(key)
    return record
