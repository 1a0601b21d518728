"""Real failures, rebuilt from public reports or captured: outcome, root exception, message, frame and rank."""

import re
from pathlib import Path

import pytest
import yaml

from triage.pipeline import diagnose

CASES = Path(__file__).parent / "data" / "cases"
# Known to fall short, with the reason; a case that comes right must leave this list.
SHORT: dict[str, str] = {}


def cases():
    for folder in sorted(CASES.iterdir()):
        marks = [pytest.mark.xfail(reason=SHORT[folder.name], strict=True)] if folder.name in SHORT else []
        yield pytest.param(folder, id=folder.name, marks=marks)


def labels(text):
    return set(re.findall(r"[A-Z]+\d+", text.upper())) or {text.upper()}


@pytest.mark.parametrize("folder", list(cases()))
def test_the_root_is_what_really_happened(folder):
    """The report's last incident names what the case says."""
    case = yaml.safe_load((folder / "case.yaml").read_text())["expect"]
    log = next(folder.glob("input.*"))
    incident = diagnose(logs=[str(log)]).incidents[-1]
    roots = [failure for failure in incident.failures if failure.role == "root"]
    assert incident.outcome == case["outcome"]
    if case["outcome"] == "healthy":
        assert not roots
        return
    (root,) = roots
    info = root.exception
    if case["exception"]:
        assert re.fullmatch(case["exception"], info.type.rpartition(".")[2] if info else "")
    elif case["outcome"] == "failed":
        assert info is None
    chain = info.chain if info else []
    if case["message"]:
        said = "\n".join(filter(None, [info.message if info else "", root.text, *(link.message for link in chain)]))
        assert re.search(case["message"], said, re.DOTALL)
    if case["frame"] and case["frame"]["file"]:
        frames = [*info.frames, *(frame for link in chain for frame in link.frames)]
        wanted = case["frame"]
        assert any(
            frame.file.endswith(wanted["file"])
            and (not wanted.get("function") or frame.function.rpartition(".")[2] == wanted["function"])
            for frame in frames
        )
    if case["rank"]:
        assert any(labels(str(case["rank"])) <= labels(rank) for rank in root.ranks)
