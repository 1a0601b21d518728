"""How strong a failure is as a root, before anything is known of the others (knowledge/roles.yaml)."""

from __future__ import annotations

from triage.data import knowledge
from triage.lazy import regex
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.model import ExceptionInfo, Failure


# A traceback whose end is lost says less than any whole one.
_TORN = 0.7


class ExceptionKinds:
    """Judges exceptions by type, message, frames and what announced them."""

    def __init__(self, table: Any = None, engine: bool = False) -> None:
        table = table or knowledge("roles")
        self._beside_an_engine = engine
        self._rows = [
            (row, {key: regex(row[key]) for key in ("type", "message", "frame", "intro") if key in row})
            for row in table["exceptions"]
        ]
        self._fatal = regex(table["fatal_intro"])
        self._exit_levels: dict[str, float] = table["exit_levels"]
        self._uncaught = regex(table["uncaught"]["frame"])
        self._caught: frozenset[str] = frozenset(table["uncaught"]["not"])
        foreign = table["foreign"]
        self._script, self._client, self._engine = (regex(foreign[key]) for key in ("script", "client", "engine"))
        self._foreign_row = {"rule": "foreign", "level": foreign["level"], "role": "consequence"}

    def judge(self, failure: Failure) -> None:
        """Take a failure as folded; set its level, and in `data` the rule and role that its kind has."""
        if failure.kind == "exit" and "code" in failure.data and failure.rule != "torchelastic/failure":
            code = failure.data["code"]
            failure.level = max(failure.level or 0.0, self._exit_levels.get(code, self._exit_levels["default"]))
        if failure.exception is None:
            return
        intro = failure.data.get("intro", "")
        if failure.level is None:
            failure.level = 0.0
        if not failure.exception.type:
            failure.level = max(failure.level, _TORN)
        if self._fatal.search(intro):
            failure.fatal = True
        row = self._row(failure.exception, intro)
        if row is None and self._beside_an_engine and not failure.ranks and self._foreign(failure.exception):
            row = self._foreign_row
        if self.uncaught(failure.exception) and (row is None or row["rule"] not in self._caught):
            failure.fatal = True
        if row is None:
            return
        failure.data["kind"] = row["rule"]
        if "add" in row:
            failure.level += row["add"]
        else:
            failure.level = max(failure.level, row["level"])
        if "role" in row:
            failure.data.setdefault("role", row["role"])
        for tag in ("request", "lost"):
            if row.get(tag):
                failure.data[tag] = "1"

    def uncaught(self, exception: ExceptionInfo) -> bool:
        """Take an exception; return whether one of its stacks begins where a program or a process begins."""
        stacks = [exception.frames, *(link.frames for link in exception.chain)]
        return any(stack and self._uncaught.search(f"{stack[0].file}:{stack[0].function}") for stack in stacks)

    def _foreign(self, exception: ExceptionInfo) -> bool:
        """Whether it is the exception of a script that is no part of the service."""
        stacks = [exception.frames, *(link.frames for link in exception.chain)]
        outer = [f"{stack[0].file}:{stack[0].function}" for stack in stacks if stack]
        if not any(self._script.search(place) for place in outer):
            return False
        files = [frame.file for stack in stacks for frame in stack]
        if any(self._client.search(file) for file in files):
            return True
        return not any(self._engine.search(file) for file in files)

    def _row(self, exception: ExceptionInfo, intro: str) -> Any:
        name = exception.type.rpartition(".")[2]
        stacks = [exception.frames, *(link.frames for link in exception.chain)]
        places = [f"{frame.file}:{frame.function}" for stack in stacks for frame in stack]
        for row, tests in self._rows:
            if "type" in tests and not tests["type"].fullmatch(name):
                continue
            if "message" in tests and not tests["message"].search(exception.message[:4000]):
                continue
            if "frame" in tests and not any(tests["frame"].search(place) for place in places):
                continue
            if "intro" in tests and not tests["intro"].search(intro):
                continue
            return row
        return None
