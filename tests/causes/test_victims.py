"""Out of memory on the whole machine: the service's own process is the one that counts."""

from triage.pipeline import diagnose

LOG = """\
Jul 04 02:10:00 node-a sglang[40190]: [2026-07-04 02:10:00] server_args=ServerArgs(model_path='/m', tp_size=1)
Jul 04 02:10:01 node-a sglang[40190]: [2026-07-04 02:10:01] Decode batch, #running-req: 1, #queue-req: 0,
Jul 04 02:10:36 node-a kernel: Out of memory: Killed process 3301 (controller) total-vm:1288440kB, anon-rss:163108kB
Jul 04 02:10:47 node-a kernel: Out of memory: Killed process 40377 (sglang::schedul) total-vm:127528440kB, anon-rss:15284000kB
Jul 04 02:10:48 node-a sglang[40190]: [2026-07-04 02:10:48] Subprocess scheduler_0 (pid=40377) crashed with exit code -9. Triggering SIGQUIT for cleanup...
"""


def test_the_neighbour_that_was_killed_first_is_not_the_root(tmp_path):
    """The kernel killed a neighbour before it killed the scheduler: the scheduler's death is what ended the service."""
    log = tmp_path / "node.log"
    log.write_text(LOG)
    root = next(f for f in diagnose(logs=[str(log)]).incidents[-1].failures if f.role == "root")
    assert root.rule == "kernel/oom"
    assert root.data["pid"] == "40377"
