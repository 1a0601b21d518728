"""Command lines that start an engine, as people paste them above a log: typed at a prompt, traced by `set -x`.

Only a line that begins with one counts, with or without a prompt: a command inside a sentence may be an example.
"""

from __future__ import annotations

from triage.data import knowledge
from triage.events.candidates import Candidates
from triage.events.positions import evidence, position
from triage.lazy import regex
from triage.model import Event
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Line

_PROMPT = regex(
    r"(?:\+{1,3} |(?:\([\w.-]{1,60}\) ?)?(?:[\w.-]{1,60}@[\w.-]{1,60}[: ][^$#\n]{0,120})?[$#\u276f] ?)?(?=\S)"
)
_PROGRAM = regex(
    r"(?:[A-Z_][A-Z0-9_]*=\S*\s+|(?:sudo|nohup|exec|env|time|nice|numactl|srun|mpirun|stdbuf|taskset)(?:\s+-\S+)*\s+)*"
    r"(?:\S*/)?(?:python[\d.]*|sglang|sglang-router|smg|vllm|uv|docker|podman|nerdctl)\s"
)
# A command goes on over so many lines at most.
_MOST_LINES = 80
_LONGEST = 16_384


class CommandReader:
    """Finds command lines and reads the launch arguments off them.

    `first` is the line where a command begins that goes on in the next one. A line where one begins holds one of
    `words` or ends with a backslash.
    """

    def __init__(self) -> None:
        words: list[str] = []
        for engine in knowledge("launch")["engines"]:
            words += engine["modules"]
            words += [f"{program} {verb}" for program, verbs in engine["programs"].items() for verb in verbs]
        self.words = tuple(words)
        self._candidates = Candidates([words])
        self.first: Line | None = None
        self._parts: list[str] = []

    def feed(self, line: Line) -> Event | None:
        """Take a line of the service; return the arguments of a command that ends with it, None if none does."""
        text = line.text
        if self.first is None:
            if not self._begins(text):
                return None
            self.first = line
        self._parts.append(text.rstrip().removesuffix("\\"))
        if text.rstrip().endswith("\\") and len(self._parts) < _MOST_LINES:
            return None
        first, command = self.first, " ".join(self._parts)
        self.first, self._parts = None, []
        return arguments(command, first) if self._starts(command) else None

    def _begins(self, text: str) -> bool:
        if not (goes_on(text) or self._starts(text)):
            return False
        prompt = _PROMPT.match(text)
        return prompt is not None and _PROGRAM.match(text, prompt.end()) is not None

    def _starts(self, text: str) -> bool:
        return bool(self._candidates.of(text)) and any(word in text for word in self.words)


def goes_on(text: str) -> bool:
    """Take a line's text; return whether the next line goes on with it."""
    return text.endswith("\\")


def arguments(command: str, line: Line) -> Event | None:
    """Take a command line and the line where it begins; return the event of its launch arguments, None without any."""
    from triage.sources.launch import facts_from_command

    prompt = _PROMPT.match(command)
    facts = facts_from_command(command[prompt.end() if prompt else 0 :][:_LONGEST])
    if "engine" not in facts:
        return None
    data = {name: str(value)[:1000] for name, value in facts.items()}
    return Event(
        kind="message", rule="command", at=position(line), stream=line.stream, text=command[:500],
        evidence=[evidence(line)], unit=line.unit, data=data, end=line.time, order=line.number,
    )  # fmt: skip
