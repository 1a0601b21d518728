"""What more signatures cost: `python benchmarks/matching.py`.

Loads packs of 50, 500 and 2,000 synthetic signatures and holds them against the failures of one log, half of which the
first fifty know. All is made from a seed, so that two runs measure the same. Prints a table in Markdown:

- load cold: in a new process, YAML read and compiled, nothing cached; warm: in a new process, from the cache.
- match: all failures of the log against the library, processor time, the best of several; per failure beside it.
- tried: signatures that were evaluated for a failure after the index had been asked, on average.
- whole: the log from its bytes to the verdict, with the library loaded.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (50, 500, 2000)
FAILURES = 400
_KNOWN = SIZES[0]
_WORDS = """
allocate attention backend batch block buffer cache capture checkpoint chunk config cuda decode device draft dtype
expert failed from graph head hidden index kernel layer length loading max memory model must page parallel pool
prefill quantization rank request scale schedule sequence shape size slot speculative stage tensor tokens weight
""".split()  # noqa: SIM905
_PACKAGE = "/opt/venv/lib/python3.12/site-packages/sglang/srt"
_TYPES = ("RuntimeError", "ValueError", "AssertionError", "KeyError", "TypeError", "NotImplementedError", "IndexError")
_FILES = (
    "managers/scheduler.py", "managers/tp_worker.py", "model_executor/model_runner.py", "mem_cache/memory_pool.py",
    "layers/attention/triton_backend.py", "layers/moe/topk.py", "models/deepseek_v2.py", "models/qwen3_moe.py",
)  # fmt: skip
_LOAD = """
import sys, time
from pathlib import Path
from triage.library import load
began = time.perf_counter()
library = load([Path(sys.argv[1])], packaged=False, standing=False)
library.index
print(time.perf_counter() - began, len(library.entries))
"""


class Defect:
    """One invented defect, from which a signature and its failures are made."""

    def __init__(self, number: int) -> None:
        chance = random.Random(f"defect {number}")
        self.number = number
        self.type = chance.choice(_TYPES)
        self.file = chance.choice(_FILES)
        self.function = f"{chance.choice(_WORDS)}_{chance.choice(_WORDS)}"
        self.said = " ".join(chance.choice(_WORDS) for _ in range(6))
        self.kind = chance.choices(("message", "regex", "frames", "line"), (40, 25, 20, 15))[0]

    def signature(self) -> str:
        """Return its YAML: by message, regex, frames or line, as packaged ones are."""
        numbers = r"(?P<got>\\d+) of (?P<all>\\d+)"
        match = {
            "message": f'exception: {self.type}\n  message: "{self.said}"',
            "regex": f'exception: {self.type}\n  message_re: "{self.said}.{{0,80}}? {numbers}"',
            "frames": f'exception: {self.type}\n  frames: ["{self.file}:{self.function}"]',
            "line": f'log: {{line: "{self.said}"}}',
        }[self.kind]
        return (
            f'format: 1\nid: bench/d{self.number:04}\ntitle: "Defect {self.number}"\nmatch:\n  {match}\n'
            f'cause: "Made up."\nfixes:\n  - {{kind: flag, set: "--disable-cuda-graph", risk: [restart, speed]}}\n'
        )

    def failure(self, rank: int) -> str:
        """Return the lines that a scheduler would print."""
        head = f"[2026-03-01 10:00:00 TP{rank}] Scheduler hit an exception: Traceback (most recent call last):"
        frames = ("managers/scheduler.py", 2500, "run_scheduler_process"), (self.file, 100 + self.number, self.function)
        stack = [
            f'  File "{_PACKAGE}/{file}", line {line}, in {name}\n    <source line>' for file, line, name in frames
        ]
        return "\n".join([head, *stack, f"{self.type}: {self.said}: {self.number} of {self.number + 7}", ""])


def write_pack(folder: Path, count: int) -> None:
    """Write a pack of so many signatures."""
    place = folder / "signatures" / "bench"
    place.mkdir(parents=True)
    for number in range(count):
        (place / f"d{number:04}.yaml").write_text(Defect(number).signature(), encoding="ascii")


def write_log(path: Path, failures: int = FAILURES) -> None:
    """Write a log of so many different failures: the first signatures know every second one, none the others."""
    lines = ["[2026-03-01 09:59:00] server_args=ServerArgs(model_path='/models/m', tp_size=8)\n"]
    for number in range(failures):
        known = number % 2 == 0
        defect = Defect(number // 2 % _KNOWN if known else 1_000_000 + number)
        if known:  # the same defect elsewhere is another failure
            defect.said += f" in {_WORDS[number // 2 // _KNOWN]}"
        lines.append(defect.failure(number % 8))
    path.write_text("".join(lines), encoding="ascii")


def load_seconds(pack: Path, cache: Path) -> tuple[float, float]:
    """Return how long it takes a new process to load a pack, without and with the cache."""
    times = []
    for _ in range(6):
        command = [sys.executable, "-c", _LOAD, str(pack)]
        env = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        times.append(float(done.stdout.split()[0]))
    return times[0], min(times[1:])


def measure(pack: Path, log: Path, repeats: int) -> tuple[int, float, float, float]:
    """Return failures, processor seconds to match all, signatures tried for each, seconds for the whole log."""
    from triage import match
    from triage.library import Library, load
    from triage.pipeline import Options, diagnose

    library = load([pack], packaged=False, standing=False)
    incident = diagnose([str(log)], options=Options(library=Library())).incidents[-1]
    tried = 0
    candidates = match._candidates  # noqa: SLF001 - counted, not changed

    def counted(subject, library):
        nonlocal tried
        found = candidates(subject, library)
        tried += len(found)
        return found

    match._candidates = counted  # noqa: SLF001
    matching = []
    for _ in range(repeats):
        tried = 0
        for failure in incident.failures:
            failure.diagnoses = []
        began = time.process_time()
        match.diagnose(incident, library)
        matching.append(time.process_time() - began)
    match._candidates = candidates  # noqa: SLF001
    each = tried / len(incident.failures)
    whole = []
    for _ in range(max(2, repeats // 2)):
        began = time.process_time()
        diagnose([str(log)], options=Options(library=library))
        whole.append(time.process_time() - began)
    return len(incident.failures), min(matching), each, min(whole)


def main(argv: list[str] | None = None) -> int:
    """Take the arguments; print the table; return 0."""
    parser = argparse.ArgumentParser(description="What more signatures cost.")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of signatures (%(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="how often each is timed; the best counts (%(default)s)")
    args = parser.parse_args(argv)
    print("| signatures | load cold | load warm | match | per failure | tried | whole |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch, "failures.log")
        write_log(log)
        for size in map(int, args.sizes.split(",")):
            pack = Path(scratch, f"pack-{size}")
            write_pack(pack, size)
            cold, warm = load_seconds(pack, Path(scratch, f"cache-{size}"))
            failures, matching, tried, whole = measure(pack, log, args.repeats)
            print(
                f"| {size:,} | {cold * 1e3:.0f} ms | {warm * 1e3:.0f} ms | {matching * 1e3:.1f} ms "
                f"| {matching / failures * 1e6:.0f} us | {tried:.1f} | {whole * 1e3:.0f} ms |",
                flush=True,
            )
    print(f"\n{failures} failures, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
