"""Launch arguments: as an engine prints them when it starts, and of command lines that start one.

SGLang prints `server_args=ServerArgs(model_path='..', tp_size=8, ...)` up to 0.5.18 and
`server_args={'model_path': '..', 'tp_size': 8, ...}` from 0.5.19 on; vLLM prints `non-default args: {...}` and
`args: Namespace(...)`. Values may hold nested calls, lists and quotes, so the text is split at its own level only.

Command lines are those that people paste above a log: typed at a prompt, traced by `set -x`. Only a line that begins
with one counts, with or without a prompt: a command inside a sentence may be an example.
"""

from __future__ import annotations

import re

from triage.data import knowledge
from triage.events.candidates import Candidates
from triage.events.positions import evidence, position
from triage.lazy import regex
from triage.model import Event
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.model import Line

_SGLANG = regex(r"server_args=(?:ServerArgs\(|\{)")
_VLLM = regex(r"(?:non-default args: |\bargs: )(?:Namespace\(|\{)")
_TOKEN = regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[()\[\]{},]""")
_PAIR = regex(r"""\s*(['"]?)(\w+)\1\s*[=:]\s*(.*)""", re.DOTALL)
_VLLM_NAMES = {
    "tensor_parallel_size": "tp_size",
    "pipeline_parallel_size": "pp_size",
    "data_parallel_size": "dp_size",
    "model": "model_path",
    "gpu_memory_utilization": "gpu_memory_utilization",
    "max_model_len": "context_length",
}
_LIMIT = 65_536
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


def parse_arguments(text: str) -> dict[str, str]:
    """Take a log line; return the launch arguments it prints by their ServerArgs names, empty if it prints none.

    Values are as printed, without their quotes; `None` is left out. `engine` is added.
    """
    if "args" not in text:
        return {}
    found = _SGLANG.search(text)
    names: dict[str, str] = {}
    engine = "sglang"
    if found is None:
        found, names, engine = _VLLM.search(text), _VLLM_NAMES, "vllm"
    if found is None:
        return {}
    values = {"engine": engine}
    for part in _split(text[found.end() : found.end() + _LIMIT]):
        pair = _PAIR.fullmatch(part)
        if pair is None:
            continue
        value = pair[3].strip()
        if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]:
            value = value[1:-1]
        if value != "None":
            values[names.get(pair[2], pair[2])] = value[:1000]
    return values


def _split(text: str) -> list[str]:
    """Split at commas of the outermost level, up to the bracket that closes it."""
    parts, depth, start = [], 0, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
            if depth < 0:
                parts.append(text[start : token.start()])
                return parts
        elif mark == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    parts.append(text[start:])
    return parts


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
