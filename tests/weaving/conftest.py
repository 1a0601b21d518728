"""Logs of single ranks with known answers: what each rank prints when it is alone."""

import pytest

STAMP = "[2025-11-29 14:00:{second:02d} TP{rank}]"
EXTEND = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 2904, in run_scheduler_process',
    "    scheduler.event_loop_overlap()",
    '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/_contextlib.py", line 120, in decorate_context',
    "    return wrapped(*a, **kw)",
    "           ^^^^^^^^^^^^^^^^^",
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 1105, in event_loop_overlap',
    "    out = owner.run_batch(item)",
    "          ^^^^^^^^^^^^^^^^^^^^^",
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 2147, in run_batch',
    "    out = owner.forward_batch_generation(item)",
    "          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
]
LAYER = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/mem_cache/memory_pool.py", line 668, in get_value_buffer',
    "    return self._get_value_buffer(layer)",
    "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/mem_cache/memory_pool.py", line 662, in _get_value_buffer',
    "    return self.buffers[layer]",
    "           ~~~~~~~~~~~~^^^^^^^",
    "IndexError: list index out of range",
]
MEMORY = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/model_executor/model_runner.py", line 2276, in forward',
    "    out = torch.empty(size)",
    "          ^^^^^^^^^^^^^^^^^",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB",
]
PEER = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 1290, in recv_requests',
    "    broadcast_pyobj(requests, group)",
    '  File "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py", line 2824, in broadcast',
    "    work.wait()",
    "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:33412",
]
CAUSE = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/model_loader/loader.py", line 371, in load_model',
    "    header = read(path)",
    "OSError: [Errno 5] Input/output error",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    "Traceback (most recent call last):",
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/managers/scheduler.py", line 326, in __init__',
    "    raise ValueError(text) from error",
    "ValueError: the checkpoint could not be read",
]
ASSERT = [
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/layers/sampler.py", line 112, in forward',
    "    torch.cuda.synchronize()",
    "torch.AcceleratorError: CUDA error: device-side assert triggered",
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
]


def log(rank, tail, second=30, stem=EXTEND):
    """What one rank prints: it loads, serves, fails."""
    lines = [
        f"{STAMP.format(rank=rank, second=10)} Load weight begin. avail mem=78.50 GB",
        f"{STAMP.format(rank=rank, second=20)} Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=60.11 GB, mem usage=18.39 GB.",
        f"{STAMP.format(rank=rank, second=second)} Scheduler hit an exception: Traceback (most recent call last):",
        *stem,
        *tail,
        "",
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def scenarios():
    """What happened, and what each rank printed of it."""
    return {
        "every rank the same": [log(rank, LAYER) for rank in range(4)],
        "one rank and its victims": [log(0, PEER), log(1, MEMORY), log(2, PEER)],
        "two ranks alike, one victim": [log(0, LAYER), log(1, LAYER), log(2, PEER)],
        "a cause and its victim": [log(0, CAUSE, stem=[]), log(1, PEER)],
        "two causes": [log(0, CAUSE, stem=EXTEND[:2]), log(1, LAYER)],
        "a device assert and a victim": [log(0, ASSERT), log(1, PEER)],
    }


@pytest.fixture(scope="session")
def library():
    from triage.library import load

    return load(standing=False)
