"""What `systemctl status UNIT` prints above the last lines of a unit (systemctl(1)): its result and how it was started.

Read only in text, where a heading with the unit's name came first. Of a unit that is not in the journal at hand this
may be all that is known of its end.
"""

from __future__ import annotations

from triage.data import knowledge
from triage.events.arguments import arguments
from triage.events.positions import evidence, position
from triage.lazy import regex
from triage.model import Event
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from triage.model import Line

_HEADING = regex(r"[\u25cf\u25cb\u00d7\u21bb*x] (?P<unit>[\w@:.\\-]{1,250}\.service)(?: - .*)?$")
_LOADED = regex(r" +Loaded: ")
_RESULT = regex(r" +Active: (?:failed|activating \(auto-restart\)) \(Result: (?P<result>[a-z-]+)\)")
_MAIN = regex(r" +Main PID: \d+ .*\(code=(?P<code>exited|killed|dumped), (?:status|signal)=(?P<status>[\w/]+)\)$")
_PROCESS = regex(r" +Process: \d+ (?P<which>ExecStart\w*)=(?P<command>.+) \(code=\w+, (?:status|signal)=[\w/]+\)$")
# So many lines of such a block are looked at.
_MOST_LINES = 40


class StatusReader:
    """Reads the blocks of `systemctl status` in a text; `unit` is the one whose block may go on with the next line."""

    def __init__(self) -> None:
        self.unit: str | None = None
        self._loaded = False
        self._left = 0

    def may_want(self, text: str) -> bool:
        """Take a text; return whether such a line may be the heading of a block, whatever its digits are."""
        return ".service" in text

    @staticmethod
    def heads(line: Line) -> bool:
        """Take a line; return whether such a block may begin with it."""
        return line.cursor is None and line.pid is None and _heading(line.text) is not None

    def feed(self, line: Line) -> Iterator[Event]:
        """Take a line that no journal entry stands behind; yield what it says of the unit."""
        text = line.text
        heading = _heading(text)
        if heading:
            self.unit, self._loaded, self._left = heading["unit"], False, _MOST_LINES
            return
        if self.unit is None:
            return
        self._left -= 1
        if self._left <= 0 or not text.startswith(" ") or not (self._loaded or _LOADED.match(text)):
            self.unit = None
            return
        self._loaded = True
        result, main, process = _RESULT.match(text), _MAIN.match(text), _PROCESS.match(text)
        if result:
            yield self._event(line, "systemd/failed", {"result": result["result"]})
        elif main and main["status"] not in ("0/SUCCESS", "SUCCESS"):
            data = {"code": main["code"], "status": main["status"]}
            if main["code"] != "exited":
                data["status"] = f"0/{main['status']}"
            from triage.events.unit import exit_of

            yield self._event(line, "systemd/main-exited", exit_of(data))
        elif process and process["which"] == "ExecStart":
            event = arguments(process["command"], line)
            if event is not None:
                yield event

    def _event(self, line: Line, rule: str, data: dict[str, str]) -> Event:
        row = next(row for row in knowledge("systemd")["rows"] if row["id"] == rule)
        return Event(
            kind="unit", rule=rule, at=position(line), stream=line.stream, text=line.text.strip(), level=row["level"],
            fatal=True, evidence=[evidence(line)], unit=self.unit, data={"unit": self.unit or "", **data},
            end=line.time, order=line.number,
        )  # fmt: skip


def _heading(text: str) -> re.Match[str] | None:
    return _HEADING.match(text) if text[1:2] == " " and ".service" in text else None
