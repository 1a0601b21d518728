"""A JSON report of triage as a log that shows the same failure: for who has the report and no longer the log.

Only what the report holds can be shown: launch arguments, the root's traceback or lines, and what followed from it.
"""

from __future__ import annotations

import json
import re

from triage.data import knowledge
from triage.model import TriageError
from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

_MAX = 64 * 1024 * 1024
_FRAMES = 400
# Who speaks for the unit and for the kernel in a journal.
_SPEAKERS = {"unit": "systemd[1]: ", "kernel": "kernel: "}
_TIME = "2026-01-01 00:00:"


def log_of(path: Path) -> str:
    """Take a file with a JSON report (of `--format json`, or a line of jsonl); return a log of its last failed run.

    Raises `TriageError` for what is no such report, and for one without a root failure.
    """
    document = _read(path)
    if document.get("schema_version") != 1 or not isinstance(document.get("incidents"), list):
        raise TriageError(f"{path} is no report of `triage --format json`")
    found: tuple[Json, Json] | None = None
    for incident in _records(document["incidents"]):
        for failure in _records(incident.get("failures")):
            if failure.get("role") == "root":
                found = incident, failure
    if found is None:
        raise TriageError(f"{path} has no root failure")
    incident, root = found
    others = [one for one in _records(incident.get("failures")) if one.get("role") == "consequence"]
    lines = [*_arguments(incident.get("facts")), *_failure(root, 1)]
    for number, other in enumerate(others[:8], 2):
        lines += _failure(other, number)
    return "\n".join(lines) + "\n"


def _read(path: Path) -> Json:
    try:
        if path.stat().st_size > _MAX:
            raise TriageError(f"{path}: larger than {_MAX >> 20} MiB")
        text = path.read_text(encoding="utf-8").strip()
        value = json.loads(text if not _is_lines(text) else text.splitlines()[-1])
    except OSError as error:
        raise TriageError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise TriageError(f"{path} is no JSON") from None
    if not isinstance(value, dict):
        raise TriageError(f"{path} is no report of `triage --format json`")
    return value


def _is_lines(text: str) -> bool:
    return len(lines := text.splitlines()) > 1 and lines[0].endswith("}") and lines[-1].startswith("{")


def _records(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _arguments(facts: Any) -> list[str]:
    if not isinstance(facts, dict) or facts.get("engine") not in ("sglang", "vllm"):
        return []
    table = knowledge("facts")
    names = table["arguments"] if facts["engine"] == "sglang" else [*table["arguments"], *table["vllm_arguments"]]
    able = {name: facts[name] for name in names if isinstance(facts.get(name), (str, int, float, bool))}
    shown = {name: value for name, value in able.items() if "\n" not in str(value) and len(str(value)) < 1000}
    if facts["engine"] == "sglang":
        return [
            f"[{_TIME}00] server_args=ServerArgs({', '.join(f'{name}={value!r}' for name, value in shown.items())})"
        ]
    return [f"INFO 01-01 00:00:00 [api_server.py:1] non-default args: {shown!r}"]


def _failure(failure: Json, number: int) -> list[str]:
    """Return a failure's lines, at a second of its own, with its rank as SGLang and vLLM print it."""
    ranks = failure.get("ranks")
    rank = next((rank for rank in ranks if isinstance(rank, str)), "") if isinstance(ranks, list) else ""
    label = f" {rank}" if re.fullmatch(r"[A-Z_]+\d+(?: [A-Z_]+\d+)*", rank) else ""
    head = f"[{_TIME}{min(number, 59):02}{label}] "
    exception = failure.get("exception")
    if not isinstance(exception, dict):
        lines = str(failure.get("text") or "").splitlines()
        evidence = [str(one.get("text", "")) for one in _records(failure.get("evidence"))]
        said = lines or [line for text in evidence for line in text.splitlines()]
        speaker = _SPEAKERS.get(str(failure.get("kind")))
        before = f"Jan 01 00:00:{min(number, 59):02} node-1 {speaker}" if speaker else ""
        return [f"{before or (head if failure.get('kind') == 'message' else '')}{line}" for line in said[:200]]
    chain = [one for one in _records(exception.get("chain")) if str(one.get("relation")) in _RELATIONS]
    place = exception.get("place")
    place = place if isinstance(place, int) and 0 <= place <= len(chain) else 0
    order = [*chain[:place], exception, *chain[place:]]
    lines = [f"{head}Scheduler hit an exception: Traceback (most recent call last):"]
    for index, one in enumerate(order):
        if index:
            lines += ["", _RELATIONS[chain[index - 1]["relation"]], "", "Traceback (most recent call last):"]
        lines += _stack(one)
    return [*lines, ""]


def _flat(value: Any) -> str:
    return " ".join(str(value or "?").split())


_RELATIONS = {
    "cause": "The above exception was the direct cause of the following exception:",
    "context": "During handling of the above exception, another exception occurred:",
}


def _stack(exception: Json) -> list[str]:
    lines = []
    frames = _records(exception.get("frames"))[:_FRAMES]
    functions = [*(_flat(frame.get("function")) for frame in frames), ""]
    for number, frame in enumerate(frames, 1):
        place = _flat(frame.get("file")).replace('"', "'")
        lines.append(f'  File "{place}", line {frame.get("line") or 1}, in {functions[number - 1]}')
        lines.append(f"    out = owner.{functions[number]}(item)" if functions[number] else "    raise error")
    message = str(exception.get("message") or "")
    return [*lines, f"{exception.get('type') or 'Exception'}{': ' if message else ''}{message}"]
