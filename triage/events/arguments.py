"""Launch arguments as an engine prints them when it starts.

SGLang prints `server_args=ServerArgs(model_path='..', tp_size=8, ...)` up to 0.5.18 and
`server_args={'model_path': '..', 'tp_size': 8, ...}` from 0.5.19 on; vLLM prints `non-default args: {...}` and
`args: Namespace(...)`. Values may hold nested calls, lists and quotes, so the text is split at its own level only.
"""

from __future__ import annotations

import re

from triage.lazy import regex

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
