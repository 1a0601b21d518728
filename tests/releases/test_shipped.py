"""The table that ships, held against what is known of SGLang from elsewhere, and on real logs."""

import subprocess
import sys
from pathlib import Path

import pytest

from triage.model import Frame
from triage.pipeline import diagnose
from triage.releases import releases_of, table
from triage.releases.flags import flag_in, flag_range, pins
from triage.report import render

DATA = Path(__file__).parent.parent / "data"
# The line at which `run_scheduler_process` makes its scheduler, looked up by hand in published wheels.
LINES = {
    "0.4.0.post2": 1528, "0.4.3.post4": 2255, "0.4.6.post1": 2014, "0.4.6.post5": 2297, "0.4.8.post1": 2667,
    "0.4.10.post2": 2534, "0.5.2": 2587, "0.5.3": 2847, "0.5.4.post3": 2791, "0.5.6.post2": 2680, "0.5.8.post1": 2937,
    "0.5.9": 3130, "0.5.10.post1": 3600, "0.5.12.post1": 4025, "0.5.14": 4211, "0.5.17": 4931, "0.5.18": 5048,
    "0.5.19": 5584, "0.5.20": 5841, "0.5.23": 6362,
}  # fmt: skip


def test_releases_are_all_final_ones():
    """From 0.4.0 on, without gaps that would be taken for boundaries."""
    found = table()
    every = [found.releases[number] for number in found.order]
    assert (every[0], len(every)) == ("0.4.0", len(set(every)))
    assert len(every) >= 92
    assert not any(mark in release for release in every for mark in ("rc", "dev", "a", "b"))


@pytest.mark.parametrize(("release", "line"), LINES.items())
def test_scheduler_is_made_where_the_wheels_make_it(release, line):
    """The line is in that release's function, and there it calls a constructor."""
    found = table()
    source = found.source("sglang/srt/managers/scheduler.py")
    number = found.number(release)
    (calls,) = [
        source.names_of(called.split(" ")[lines.index(line - first)])
        for version, first, body in source.scopes("run_scheduler_process")
        if number in source.releases({version})
        for lines, called in [source.calls(body)]
    ]
    assert "__init__" in calls


@pytest.mark.parametrize(
    ("release", "flag", "exists", "spelling"),
    [
        ("0.4.6.post1", "--pp-size", False, ""),
        ("0.4.6.post2", "--pp-size", True, "--pp-size"),
        ("0.5.3", "--pp", True, "--pp"),
        ("0.5.4.post3", "--pp", False, "--pp-size"),
        ("0.5.23", "--tp", True, "--tp"),
        ("0.4.6.post5", "--ep", False, "--ep-size"),
        ("0.4.10.post2", "--ep", True, "--ep"),
        ("0.5.19", "--cuda-graph-max-bs", True, "--cuda-graph-max-bs"),
        ("0.5.20", "--cuda-graph-max-bs", False, "--cuda-graph-max-bs-decode"),
        ("0.5.2", "--cuda-graph-max-bs-decode", False, "--cuda-graph-max-bs"),
        ("0.5.20", "--disable-piecewise-cuda-graph", False, "--cuda-graph-backend-prefill=disabled"),
        ("0.5.9", "--disable-piecewise-cuda-graph", False, ""),
        ("0.5.23", "--disable-cuda-graph", True, "--disable-cuda-graph"),
        ("0.5.20", "--enable-hicache", False, "--enable-hierarchical-cache"),
        ("0.5.23", "--enable-hicache", True, "--enable-hicache"),
        ("0.4.8", "--attn-cp-size", False, ""),
        ("0.5.9", "--attn-cp-size", True, "--attn-cp-size"),
        ("0.4.0", "--disable-flashinfer", True, ""),
    ],
)
def test_flags(release, flag, exists, spelling):
    """As the releases have them."""
    reading = flag_in(release, flag)
    assert (reading.exists, reading.spelling) == (exists, spelling)


def test_ranges_of_flags():
    """Measured on every release in between."""
    assert flag_range("--pp-size") == ">=0.4.6.post2"
    assert flag_range("--cuda-graph-max-bs").endswith("<0.5.20")
    assert flag_range("--tp-size") == "of every release"


def test_values_of_flags():
    """What an old release does not know yet."""
    assert flag_in("0.5.9", "--attention-backend").accepts("fa3")
    assert not flag_in("0.4.0", "--attention-backend").accepts("fa3")


@pytest.mark.parametrize(
    ("release", "package", "said"),
    [
        ("0.5.2", "torch", "==2.8.0"),
        ("0.5.9", "torch", "==2.9.1"),
        ("0.5.9", "sgl-kernel", "==0.3.21"),
        ("0.5.9", "sglang-kernel", None),
        ("0.5.10.post1", "sgl-kernel", None),
        ("0.5.23", "sglang-kernel", "==0.4.10"),
        ("0.5.10.post1", "transformers", "==5.3.0"),
    ],
)
def test_pins(release, package, said):
    """The kernel package was renamed in 0.5.10.post1."""
    assert pins(release).get(package) == said


def facts(path):
    """The facts of the diagnosed run of a log."""
    return diagnose(logs=[str(path)]).incidents[-1].facts


CAPTURED = sorted(path for path in (DATA / "cases").glob("v0.5.6.post2-*/input.*"))


@pytest.mark.parametrize("path", CAPTURED, ids=lambda path: path.parent.name)
def test_captured_logs_are_of_their_release(path):
    """Or of several among which it is; never of another one."""
    found = facts(path)
    assert found.get("sglang") in (None, "0.5.6.post2")
    assert "0.5.6.post2" in found.get("sglang_candidates", ["0.5.6.post2"])
    if '/site-packages/sglang/srt/managers/scheduler.py"' in path.read_text(errors="replace"):
        assert found.get("sglang_from") == "traceback"


def test_journal_is_of_its_release():
    """Entries of eight ranks."""
    assert facts(DATA / "journals" / "pp8.export.xz")["sglang"] == "0.5.6.post2"


def test_report_says_where_the_release_is_from():
    """So that nobody takes it for what the server said."""
    report = diagnose(logs=[str(DATA / "cases" / "v0.5.6.post2-layer0-probe-pp8-triton" / "input.log")])
    assert "sglang 0.5.6.post2 (read off the traceback)" in render(report, "text")


def test_lines_of_many_releases_are_those_of_none():
    """A traceback with made-up lines claims no release, however long."""
    home = "/usr/lib/python3/dist-packages/sglang/srt"
    frames = [
        Frame(f"{home}/managers/scheduler.py", 2680, "run_scheduler_process"),
        Frame(f"{home}/managers/scheduler.py", 318, "__init__"),
        Frame(f"{home}/managers/tp_worker.py", 1, "__init__"),
    ]
    assert releases_of(frames).candidates == []


def test_nothing_of_the_maintainers_part_is_imported(tmp_path):
    """Reading a release at run time needs neither the reading of packages nor packaging nor YAML."""
    code = (
        "import sys; from triage.model import Frame; from triage.releases import releases_of; from triage.releases.flags import flag_in, pins;"
        "releases_of([Frame('/x/site-packages/sglang/srt/managers/scheduler.py', 2680, 'run_scheduler_process')]);"
        "flag_in('0.5.9', '--tp'); pins('0.5.9');"
        "print([m for m in sys.modules if m.startswith(('triage.releases.collect', 'packaging', 'yaml'))])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout.strip() == "[]"
