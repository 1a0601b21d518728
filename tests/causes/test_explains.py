"""A warning explains a root only as far as its edge reaches: seconds, rank, host."""

import pytest

from triage.pipeline import Options, diagnose

WARNING = "[2025-11-29 14:00:00 TP{rank}] the fabric fell back to loopback"
ROOT = [
    "[2025-11-29 14:00:30 TP1] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/venv/lib/python3.12/site-packages/sglang/srt/a.py", line 3, in f',
    "    g(x)",
    "ValueError: boom of the lab",
]


def led_by(tmp_path, edge, rank=1):
    pack = tmp_path / "pack/signatures/lab"
    pack.mkdir(parents=True)
    (pack / "boom.yaml").write_text(
        'format: 1\nid: lab/boom\ntitle: "T"\ncause: "C."\nmatch: {exception: ValueError, message: "boom of the lab"}\n'
    )
    (pack / "warning.yaml").write_text(
        'format: 1\nid: lab/warning\ntitle: "T"\ncause: "C."\nrole: notice\n'
        f'match: {{log: {{line: "the fabric fell back to loopback"}}}}\nexplains: [{edge}]\n'
    )
    log = tmp_path / "x.log"
    log.write_text("\n".join([WARNING.format(rank=rank), *ROOT]) + "\n")
    incident = diagnose(logs=[str(log)], options=Options(packs=[tmp_path / "pack"])).incidents[-1]
    (root,) = [failure for failure in incident.failures if failure.role == "root"]
    return root.diagnoses[0].signature


@pytest.mark.parametrize(
    ("edge", "rank", "leads"),
    [
        ("lab/boom", 0, "lab/warning"),
        ("{id: lab/boom, within: 60s}", 0, "lab/warning"),
        ("{id: lab/boom, within: 10s}", 0, "lab/boom"),
        ("{id: lab/boom, scope: rank}", 1, "lab/warning"),
        ("{id: lab/boom, scope: rank}", 0, "lab/boom"),
        ("{id: lab/boom, within: 10s, scope: rank}", 1, "lab/boom"),
    ],
)
def test_an_edge_reaches_as_far_as_it_says(tmp_path, edge, rank, leads):
    """Further away the root stands for itself."""
    assert led_by(tmp_path, edge, rank) == leads
