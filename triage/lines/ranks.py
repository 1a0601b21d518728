"""Rank labels: what the engines call their processes.

A label keeps the words in which it was printed (`PP3 TP1`, `DP1 TP0 EP4`, `EngineCore_DP0`, `rank1`); its numbers are
read as an unordered set, because releases print them in different orders.
"""

from __future__ import annotations

import re

from triage.lazy import regex
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triage.model import Line

_NUMBER = regex(r"([A-Za-z]+(?:_[A-Za-z]+)*?)[ =]?\[?(\d+)\]?(?![A-Za-z0-9])")
KEYS = ("attn_cp", "moe_dp", "attn_tp", "moe_tp", "moe_ep", "pcp", "dcp", "dp", "pp", "tp", "ep", "cp", "rank")
_TITLE = regex(r"^(?:sglang::scheduler|VLLM::)_?(?P<label>\S+)")
_LABEL = regex(r"(?:ATTN_CP|MOE_DP|PCP|DCP|DP|PP|TP|EP)\d+")
_PROCESS = regex(r"(?:^|[_ ])(?:DP|PP|TP|EP|PCP|DCP|CP|rank)[_=]?\d+(?:[_ ]|$)|^EngineCore_\d+$")


def parse(label: str) -> dict[str, int]:
    """Take a rank label; return its numbers by lower-case key, such as `{"pp": 3, "tp": 1}` (empty if it has none)."""
    numbers: dict[str, int] = {}
    for word, number in _NUMBER.findall(label):
        name = word.lower()
        key = next((each for each in KEYS if name == each or name.endswith("_" + each)), name)
        numbers.setdefault(key, int(number))
    return numbers


def from_title(title: str | None) -> str | None:
    """Take a process title or command line; return the rank label in it, or None.

    SGLang sets `sglang::scheduler_PP3_TP1` (its label with blanks as `_`), vLLM `VLLM::Worker_TP2`.
    """
    found = _TITLE.match(title or "")
    if not found:
        return None
    if title is not None and title.startswith("sglang"):
        return " ".join(_LABEL.findall(found["label"])) or None
    return from_process(found["label"])


def from_process(name: str) -> str | None:
    """Take the name before `pid=` in a line of vLLM or Ray; return it if it says a rank (`Worker_TP2`), else None."""
    return name if _PROCESS.search(name) else None


def compact(labels: Iterable[str]) -> str:
    """Take rank labels; return them as short text in the order of their numbers: `PP2-7`, `TP0-3, TP5`, `PP0 TP0-3`."""
    rest = sorted(dict.fromkeys(labels), key=_order)
    shown: list[str] = []
    while rest:
        first = rest.pop(0)
        run = [first]
        while rest and _follows(run[-1], rest[0], run):
            run.append(rest.pop(0))
        shown.append(_range(run) if len(run) > 2 else ", ".join(run))
    return ", ".join(shown)


def _pieces(label: str) -> list[str]:
    return re.split(r"(\d+)", label)


def _order(label: str) -> list[tuple[int, int, str]]:
    return [(1, int(piece), "") if piece.isdecimal() else (0, 0, piece) for piece in _pieces(label)]


def _steps(before: str, after: str) -> list[int] | None:
    """Return by how much each number grows between two labels of the same words, None where the words differ."""
    one, two = _pieces(before), _pieces(after)
    if len(one) != len(two) or one[::2] != two[::2]:
        return None
    return [int(b) - int(a) for a, b in zip(one[1::2], two[1::2], strict=True)]


def _follows(before: str, after: str, run: list[str]) -> bool:
    steps = _steps(before, after)
    if steps is None or set(steps) - {0, 1} or 1 not in steps:
        return False
    return len(run) < 2 or steps == _steps(run[-2], run[-1])


def _range(run: list[str]) -> str:
    first, last = _pieces(run[0]), _pieces(run[-1])
    return "".join(a if a == b else f"{a}-{b}" for a, b in zip(first, last, strict=True))


class RankBook:
    """Which rank label each process writes under, learned while lines go by.

    Lines without a label can then take the label of their process, if it has written under exactly one: a parent that
    forwards the lines of all ranks has several and says nothing.
    """

    def __init__(self) -> None:
        self._labels: dict[tuple[str | None, int], str | None] = {}

    def learn(self, host: str | None, pid: int | None, label: str | None) -> None:
        """Take what one line said of its process; lines that say nothing may be handed in too."""
        if pid is None or not label:
            return
        key = (host, pid)
        if self._labels.setdefault(key, label) != label:
            self._labels[key] = None

    def add(self, line: Line) -> None:
        """Learn from a line, and give it the label of its process if it has none."""
        if line.rank is None:
            line.rank = self.label(line.host, line.pid)
        else:
            self.learn(line.host, line.pid, line.rank)

    def label(self, host: str | None, pid: int | None) -> str | None:
        """Return the only label of a process, None where there is none or more than one."""
        return None if pid is None else self._labels.get((host, pid))

    def pids(self, label: str) -> list[tuple[str | None, int]]:
        """Return the processes, as (host, pid), that wrote under this label only."""
        return [key for key, known in self._labels.items() if known == label]
