"""Writes logs of SGLang servers, of any size and mix, from a seed: the same seed gives the same bytes.

A log is a number of runs: each starts on several ranks, serves, and ends with a failure of all of them, some with the
lines of their tracebacks interleaved, as ranks print them that share one terminal.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

START = 1_779_745_200  # 2026-05-25 21:40:00 UTC
_POOL = 2048
_BLOCK = 4096
_PACKAGES = "/opt/venv/lib/python3.11/site-packages/sglang/srt"

Row = tuple[float, int | None, str]
"""One line: its time in seconds since the epoch, the rank whose process wrote it (None: the main process), its text."""


@dataclass(frozen=True, slots=True)
class Mix:
    """What a log is made of: its ranks, how many runs it holds, the share of runs whose tracebacks are interleaved."""

    ranks: int = 8
    runs: int = 20
    interleaved: float = 0.4


@dataclass(frozen=True, slots=True)
class Failure:
    """What all ranks die of: the type and message of the exception, and its frames as (file, line, function)."""

    type: str
    message: str
    frames: tuple[tuple[str, int, str], ...]


_LOOP = (
    ("managers/scheduler.py", 2680, "run_scheduler_process"),
    ("managers/scheduler.py", 1012, "event_loop_normal"),
    ("managers/scheduler.py", 1766, "run_batch"),
    ("managers/tp_worker.py", 248, "forward_batch_generation"),
    ("model_executor/model_runner.py", 1704, "forward"),
    ("model_executor/model_runner.py", 1745, "_forward_raw"),
)
FAILURES = (
    Failure(
        "IndexError",
        "list index out of range",
        (
            ("managers/scheduler.py", 2680, "run_scheduler_process"),
            ("managers/scheduler.py", 320, "__init__"),
            ("managers/tp_worker.py", 248, "__init__"),
            ("model_executor/model_runner.py", 513, "initialize"),
            ("model_executor/model_runner.py", 2096, "_get_attention_backend"),
            ("layers/attention/triton_backend.py", 102, "__init__"),
            ("mem_cache/memory_pool.py", 754, "get_value_buffer"),
            ("mem_cache/memory_pool.py", 749, "_get_value_buffer"),
        ),
    ),
    Failure(
        "torch.OutOfMemoryError",
        "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.12 GiB is "
        "free.",
        (*_LOOP, ("models/deepseek_v2.py", 1440, "forward"), ("layers/moe/fused_moe.py", 911, "fused_experts")),
    ),
    Failure(
        "AssertionError",
        "token_to_kv_pool_allocator memory leak detected!",
        (*_LOOP[:2], ("managers/scheduler.py", 1377, "check_memory")),
    ),
    Failure(
        "RuntimeError",
        "Prefill out of memory. Try to lower your batch size.",
        (*_LOOP[:3], ("managers/schedule_batch.py", 801, "alloc_token_slots")),
    ),
    Failure(
        "RuntimeError",
        "The size of tensor a (7168) must match the size of tensor b (4096) at non-singleton dimension 1",
        (*_LOOP, ("models/qwen3_moe.py", 733, "forward"), ("layers/layernorm.py", 87, "forward_cuda")),
    ),
)


def write(path: Path, size: int, seed: int, mix: Mix | None = None) -> int:
    """Write a log of about `size` bytes; return how many lines it has."""
    count = 0
    with path.open("w", encoding="ascii", buffering=1 << 20) as file:
        lines: list[str] = []
        for _, _, text in rows(size, seed, mix or Mix()):
            lines.append(text)
            if len(lines) == _BLOCK:
                count += len(lines)
                file.write("\n".join(lines) + "\n")
                lines.clear()
        count += len(lines)
        file.write("\n".join(lines) + "\n")
    return count


def write_tracebacks(path: Path, size: int, seed: int, ranks: int = 8) -> int:
    """Write a log of nothing but tracebacks of many kinds, `size` bytes of them; return how many lines it has."""
    chance = random.Random(seed)
    moment, written, count = float(START), 0, 0
    with path.open("w", encoding="ascii", buffering=1 << 20) as file:
        while written < size:
            base = chance.choice(FAILURES)
            failure = Failure(base.type, f"{base.message} (request {chance.randrange(1 << 40):x})", base.frames)
            lines = _traceback(failure, _head(moment, chance.randrange(ranks), ranks), chance)
            written += file.write("\n".join(lines) + "\n")
            count += len(lines)
            moment += 0.01
    return count


def rows(size: int, seed: int, mix: Mix) -> Iterator[Row]:
    """Yield the lines of a log of about `size` bytes, in order."""
    chance = random.Random(seed)
    chatter = _chatter(chance, mix.ranks)
    moment = float(START)
    for run in range(mix.runs):
        used = 0
        for row in _start(moment, mix.ranks, chance):
            used += len(row[2]) + 1
            moment = row[0]
            yield row
        while used < size // mix.runs:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
            for rank, before, after in chance.choices(chatter, k=min(64, _BLOCK)):
                text = f"{before}{stamp}{after}"
                used += len(text) + 1
                yield moment, rank, text
            moment += 1.0
        failure = FAILURES[run % len(FAILURES)]
        together = run % 5 < round(mix.interleaved * 5)
        for row in _end(moment, failure, mix.ranks, chance, together=together):
            moment = row[0]
            yield row
        moment += 30.0


def _head(moment: float, rank: int, ranks: int) -> str:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    return f"[{stamp} PP{rank}]" if ranks > 1 else f"[{stamp}]"


def _chatter(chance: random.Random, ranks: int) -> list[tuple[int | None, str, str]]:
    """Return healthy lines as what stands before and behind their time."""
    found: list[tuple[int | None, str, str]] = []
    for _ in range(_POOL):
        rank = chance.randrange(ranks)
        label = f" PP{rank}" if ranks > 1 else ""
        running, tokens, queued = chance.randrange(1, 256), chance.randrange(9_000_000), chance.randrange(400)
        kind = chance.random()
        if kind < 0.45:
            text = (
                f"{label}] Decode batch, #running-req: {running}, #token: {tokens}, token usage: "
                f"{chance.random():.2f}, cuda graph: True, gen throughput (token/s): {chance.random() * 6000:.2f}, "
                f"#queue-req: {queued}, "
            )
        elif kind < 0.7:
            text = (
                f"{label}] Prefill batch, #new-seq: {chance.randrange(1, 16)}, #new-token: {chance.randrange(8192)}, "
                f"#cached-token: {chance.randrange(8192)}, token usage: {chance.random():.2f}, #running-req: {running},"
                f" #queue-req: {queued}, "
            )
        else:
            rank = None
            path = "GET /health" if kind > 0.97 else "POST /v1/chat/completions" if kind > 0.8 else "POST /generate"
            address = f"10.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(256)}"
            text = f'] INFO:     {address}:{chance.randrange(1024, 65536)} - "{path} HTTP/1.1" 200 OK'
        found.append((rank, "[", text))
    return found


def _start(moment: float, ranks: int, chance: random.Random) -> Iterator[Row]:
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    yield (
        moment,
        None,
        (
            f"[{stamp}] server_args=ServerArgs(model_path='/models/k2', tokenizer_path='/models/k2', "
            f"tokenizer_mode='auto', "
            f"dtype='auto', kv_cache_dtype='auto', host='0.0.0.0', port=30000, mem_fraction_static=0.85, "
            f"chunked_prefill_size=8192, tp_size=1, pp_size={ranks}, nnodes=1, node_rank=0, "
            "attention_backend='triton', "
            f"sampling_backend='flashinfer', disable_cuda_graph=False, watchdog_timeout=300)"
        ),
    )
    steps = (
        "Init torch distributed begin.",
        "Init torch distributed ends. mem usage=1.52 GB",
        "Load weight begin. avail mem=76.92 GB",
        "Load weight end. type=DeepseekV3ForCausalLM, dtype=torch.bfloat16, avail mem=12.51 GB, mem usage=64.41 GB.",
        "KV Cache is allocated. #tokens: 262144, K size: 4.50 GB, V size: 4.50 GB",
        "Memory pool end. avail mem=3.51 GB",
        "Capture cuda graph begin. This can take up to several minutes. avail mem=3.42 GB",
        "Capture cuda graph end. Time elapsed: 31.20 s. mem usage=1.21 GB. avail mem=2.21 GB.",
        (
            "max_total_num_tokens=262144, chunked_prefill_size=8192, max_prefill_tokens=16384, "
            "max_running_requests=2048, context_len=131072, available_gpu_mem=2.21 GB"
        ),
    )
    for step in steps:
        moment += chance.uniform(1, 20)
        for rank in chance.sample(range(ranks), ranks):
            yield moment, rank, f"{_head(moment, rank, ranks)} {step}"
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    yield moment, None, f"[{stamp}] INFO:     Started server process [4242]"
    yield moment, None, f"[{stamp}] INFO:     Application startup complete."
    yield moment, None, f"[{stamp}] INFO:     Uvicorn running on http://0.0.0.0:30000 (Press CTRL+C to quit)"
    yield moment, None, f"[{stamp}] The server is fired up and ready to roll!"


def _traceback(failure: Failure, head: str, chance: random.Random) -> list[str]:
    lines = [f"{head} Scheduler hit an exception: Traceback (most recent call last):"]
    called = [function for _, _, function in failure.frames[1:]]
    for (file, number, function), following in zip(failure.frames, [*called, "raise_it"], strict=True):
        source = f"    result = {following.strip('_')}(batch)"
        lines += [f'  File "{_PACKAGES}/{file}", line {number}, in {function}', source]
        if chance.random() < 0.3:
            lines.append(" " * 13 + "^" * (len(source) - 13))
    lines.append(f"{failure.type}: {failure.message}")
    lines.append("")
    return lines


def _end(moment: float, failure: Failure, ranks: int, chance: random.Random, *, together: bool) -> Iterator[Row]:
    left = {
        rank: _traceback(failure, _head(moment, rank, ranks), random.Random(len(failure.frames)))
        for rank in range(ranks)
    }
    for lines in left.values():
        lines.reverse()
    while left:
        rank = chance.choice(list(left)) if together else next(iter(left))
        yield moment, rank, left[rank].pop()
        if not left[rank]:
            del left[rank]
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    said = "Received sigquit from a child process. It usually means the child failed."
    yield moment, None, f"[{stamp}] {said}"
