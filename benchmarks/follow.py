"""How fast a unit is followed, and in how much memory: as many journal entries as a time limit allows.

    python benchmarks/follow.py [--seconds 60]

The entries are those of a pipeline of eight stages that serves: decode and prefill lines with changing numbers, client
errors, at times a request that fails with a traceback, and at last a crash with a restart, over and over. They go the
way of `triage journal -f`: batches, lines, events, looks, one JSON document for each failure.
"""

from __future__ import annotations

import argparse
import io
import resource
import sys
import time

from triage.cli.following import Stream, Teller, run_streams
from triage.follow import Follower
from triage.library import load
from triage.lines.live import LiveEntries
from triage.model import Entry
from triage.pipeline import Options
from triage.reading import skim

BATCH = 2000
A_DAY = 86_400_000  # entries: a thousand in a second
REQUEST_FAILS, CRASHES = 100_000, 1_000_000
STARTED, EXITED = "39f53479d3a045ac8e11786248231fbf", "98e322203f7a4ed290d09fe03c09fe15"
MANAGER = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": "sglang.service", "_HOSTNAME": "node"}
RAISED = [
    "Traceback (most recent call last):",
    '  File "/opt/sglang/srt/managers/{file}.py", line {line}, in {function}',
    "{what}",
]


class Journal:
    """The entries of a service, in batches, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self.count = 0
        self._until = time.monotonic() + seconds
        self._run = 0

    def batches(self):
        yield self._start()
        while time.monotonic() < self._until:
            batch = [self._serves() for _ in range(BATCH)]
            if self.count % REQUEST_FAILS < BATCH:
                batch += self._raises(
                    "tokenizer_manager", f"ValueError: request {self.count} is too long: {self.count} tokens"
                )
            if self.count % CRASHES < BATCH:
                batch += self._raises("scheduler", f"RuntimeError: no free block in slot {self.count % 97}")
                batch += [self._manager(EXITED, "sglang.service: Main process exited, code=exited, status=1/FAILURE")]
                batch += self._start()
            yield batch

    def _entry(self, fields):
        self.count += 1
        return Entry(fields, 1_790_000_000_000_000 + self.count * 1000, f"c{self.count}", self.count)

    def _manager(self, kind, text):
        return self._entry({**MANAGER, "MESSAGE_ID": kind, "INVOCATION_ID": f"{self._run:032x}", "MESSAGE": text})

    def _start(self):
        self._run += 1
        ready = "The server is fired up and ready to roll!"
        return [self._manager(STARTED, "Started sglang.service."), self._own(0, f"[2026-05-25 21:41:38] {ready}")]

    def _own(self, rank, text):
        fields = {
            "MESSAGE": text, "_PID": str(1000 + rank), "_SYSTEMD_UNIT": "sglang.service", "_TRANSPORT": "stdout",
            "_SYSTEMD_INVOCATION_ID": f"{self._run:032x}", "_HOSTNAME": "node", "PRIORITY": "6", "_COMM": "python",
        }  # fmt: skip
        return self._entry(fields)

    def _serves(self):
        n, rank = self.count, self.count % 8
        head = f"[2026-05-25 {n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02} PP{rank}]"
        if n % 50 == 0:
            return self._own(
                rank,
                f'INFO:     10.0.0.{n % 250}:{n % 60000} - "POST /generate HTTP/1.1" {400 if n % 350 == 0 else 200}',
            )
        if n % 3 == 0:
            return self._own(
                rank, f"{head} Prefill batch, #new-seq: {n % 7}, #new-token: {n % 8192}, #queue-req: {n % 30}"
            )
        return self._own(
            rank,
            f"{head} Decode batch, #running-req: {n % 64}, #token: {n}, gen throughput (token/s): {n % 999}.{n % 10}",
        )

    def _raises(self, file, what):
        line, function = self.count % 5 + 10, "handle"
        texts = [text.format(file=file, line=line, function=function, what=what) for text in RAISED]
        return [
            self._own(3, f"[2026-05-25 21:41:38 PP3] Scheduler hit an exception: {texts[0]}"),
            *(self._own(3, t) for t in texts[1:]),
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="for how long (default: 60)")
    seconds = parser.parse_args().seconds
    library = load()
    out = io.StringIO()
    told = argparse.Namespace(format="jsonl", color="never", all_failures=False, no_mask=False)
    teller = Teller(told, library, out)
    journal = Journal(seconds)
    streams = [Stream(skim(journal.batches(), library.line_patterns()), LiveEntries("journal"))]
    first = peak()
    began = time.monotonic()
    run_streams(
        Follower("journal", library, Options(library=library)),
        streams,
        teller.tell,
    )
    took = time.monotonic() - began
    rate = journal.count / took
    per_core = journal.count / time.process_time()
    print(f"{journal.count:,} entries in {took:.1f} s: {rate:,.0f} a second, {per_core:,.0f} in one of CPU time")
    print(f"a day of a thousand a second takes {A_DAY / rate / 60:.0f} min; {out.getvalue().count(chr(10))} documents")
    print(f"peak memory {peak():.0f} MB; with the signatures loaded and nothing read {first:.0f} MB")


def peak() -> float:
    """The most memory that this process had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    sys.exit(main())
