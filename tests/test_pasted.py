"""What happens to a log on its way to us changes no diagnosis: terminals, mails, chats, web pages, grep."""

import html
from pathlib import Path

import pytest

from triage.pipeline import diagnose

CASES = Path(__file__).parent / "data" / "cases"
NAMES = [
    "abort-before-first-token-indexerror",
    "ascend-libhccl",
    "captured-cublas-alloc",
    "captured-segfault-rank1",
    "gloo-connectfullmesh-loopback",
    "hicache-host-memory-reserve-message",
    "kimi-eagle3-mla-draft-config-type",
    "mig-uuid-int-parse",
    "safetensors-lfs-pointers",
    "spark-ptxas-sm121a",
    "v0.5.6.post2-layer0-probe-pp8-triton",
    "v0.5.6.post2-model-type-unknown",
]


def by_line(change):
    return lambda text: "\n".join(change(number, line) for number, line in enumerate(text.split("\n"), 1))


def wrapped(margin):
    return lambda text: "\n".join(
        line[at : at + margin] for line in text.split("\n") for at in range(0, len(line) or 1, margin)
    )


WAYS = {
    "broken at 80 columns": wrapped(80),
    "broken at 131 columns": wrapped(131),
    "a pane with a frame": by_line(lambda _, line: f"│ {line:<150} │"),
    "quoted in a mail": by_line(lambda _, line: f"> {line}"),
    "numbered by cat": by_line(lambda number, line: f"{number:6}\t{line}"),
    "numbered by grep": by_line(lambda number, line: f"server.log:{number}:{line}"),
    "a process manager's": by_line(lambda _, line: f"0|sglang   | {line}"),
    "indented by a tab": by_line(lambda _, line: f"\t{line}"),
    "an empty line after each": by_line(lambda _, line: f"{line}\n"),
    "blanks at the ends": by_line(lambda _, line: f"{line}   "),
    "in a fence between words": lambda text: f"### What happened\nIt crashes:\n```\n{text}\n```\n### Environment\n",
    "escaped for a web page": html.escape,
    "hard blanks": lambda text: text.replace("  ", "\u00a0 "),
    "typographic quotes": by_line(lambda _, line: line.replace(' "', " \u201c").replace('", ', "\u201d, ")),
}
# Where each line has a writer of its own, or a frame, blanks at the beginning cannot be lost.
LOST = {"captured-segfault-rank1", "v0.5.6.post2-layer0-probe-pp8-triton"}


def essence(folder, tmp_path, way=None):
    text = next(folder.glob("input.*")).read_text()
    log = tmp_path / "server.log"
    log.write_text(way(text) if way else text)
    incident = diagnose(logs=[str(log)]).incidents[-1]
    root = next(failure for failure in incident.failures if failure.role == "root")
    frame = root.exception.frames[-1] if root.exception and root.exception.frames else None
    return (
        incident.outcome,
        root.exception.type if root.exception else root.rule,
        (frame.file, frame.line, frame.function) if frame else None,
        sorted(root.ranks),
        [diagnosis.signature for diagnosis in root.diagnoses if diagnosis.confidence != "possible"][:1],
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_the_diagnosis_is_that_of_the_log(name, way, tmp_path):
    """Outcome, exception, frame, ranks and signature."""
    assert essence(CASES / name, tmp_path, WAYS[way]) == essence(CASES / name, tmp_path)


@pytest.mark.parametrize("name", sorted({*NAMES} - LOST))
def test_without_its_indentation_too(name, tmp_path):
    """A chat that takes blanks away at the beginning of lines."""
    assert essence(CASES / name, tmp_path, by_line(lambda _, line: line.lstrip())) == essence(CASES / name, tmp_path)
