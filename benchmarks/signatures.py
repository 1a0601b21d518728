"""Writes packs of synthetic signatures: exception ones and log-line ones, whose words are those of real messages."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_THINGS = (
    "kv cache", "radix tree", "draft worker", "expert map", "page table", "grammar backend", "lora adapter",
    "weight loader", "bootstrap room", "prefill node", "decode node", "token pool", "cuda graph", "rope scaling",
    "vision tower", "tokenizer", "checkpoint shard", "process group", "shared memory", "host pool", "metadata buffer",
)  # fmt: skip
_VERBS = (
    "cannot allocate", "failed to register", "refused", "does not support", "lost", "could not read", "must not exceed",
    "was not found in", "disagrees with", "is not divisible by", "overflowed", "rejected", "has no entry for",
)  # fmt: skip
_PLACES = (
    "the hidden size", "rank group", "attention backend", "quantized layer", "memory handle", "request slot",
    "schedule batch", "model config", "speculative step", "pipeline stage", "remote peer", "sampling tensor",
)  # fmt: skip
_TYPES = ("RuntimeError", "ValueError", "AssertionError", "KeyError", "TypeError", "NotImplementedError", "ImportError")
_FILES = ("managers/scheduler.py", "model_executor/model_runner.py", "layers/moe/topk.py", "mem_cache/memory_pool.py")


def write(folder: Path, count: int, seed: int, *, lines: float = 0.3) -> None:
    """Write a pack of `count` signatures: the share `lines` of them ask for a log line, the others for an exception."""
    chance = random.Random(seed)
    place = folder / "signatures" / "bench"
    place.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        said = f"{chance.choice(_THINGS)} {number:04} {chance.choice(_VERBS)} {chance.choice(_PLACES)}"
        match = _line(said, chance) if number < count * lines else _exception(said, chance)
        (place / f"s{number:04}.yaml").write_text(_signature(number, match), encoding="ascii")


def switch_off(folder: Path, ids: Iterable[str]) -> None:
    """Write to a pack what switches signatures off, so that it stands alone."""
    place = folder / "signatures"
    place.mkdir(parents=True, exist_ok=True)
    documents = [f"format: 1\nid: {one}\ndisabled: true\n" for one in ids]
    for number in range(0, len(documents), 50):
        text = "---\n".join(documents[number : number + 50])
        (place / f"off{number:04}.yaml").write_text(text, encoding="ascii")


def _line(said: str, chance: random.Random) -> str:
    if chance.random() < 0.5:
        return f'match:\n  log: {{line: "{said}"}}\n'
    return f"match:\n  log: {{line_re: '{said}.{{0,200}}? (?P<number>\\d+) of (?P<total>\\S+)'}}\n"


def _exception(said: str, chance: random.Random) -> str:
    message = f'message: "{said}"' if chance.random() < 0.6 else f"message_re: '{said} (?P<number>\\d+)'"
    frames = f'  frames: ["{chance.choice(_FILES)}:*"]\n' if chance.random() < 0.5 else ""
    return f"match:\n  exception: {chance.choice(_TYPES)}\n  {message}\n{frames}"


def _signature(number: int, match: str) -> str:
    return (
        f'format: 1\nid: bench/s{number:04}\ntitle: "Synthetic signature {number}"\nengine: sglang\n{match}'
        'cause: "A synthetic signature, written to measure how the time grows with their number."\n'
        'not_when: "It never happens: no log holds its words."\n'
        "fixes:\n"
        '  - {kind: flag, title: "Lower the share of memory", set: "--mem-fraction-static=0.8", risk: restart}\n'
        'references: ["https://github.com/sgl-project/sglang/issues/1"]\n'
    )
