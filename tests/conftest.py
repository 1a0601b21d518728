"""What every kind of real log is held to: outcome, root exception, message, frame and rank."""

import os
import re

import pytest
import yaml

from triage.pipeline import diagnose

# A process that reads with readline, pytest's own among them, leaves its idea of the window to those that it starts,
# and a width that is said is believed before that of the terminal.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)


def _labels(text):
    return set(re.findall(r"[A-Z]+\d+", text.upper())) or {text.upper()}


@pytest.fixture
def check_case():
    """Return a function that takes a case's folder and asserts that the last incident is what case.yaml says."""
    return _check


def _check(folder):
    case = yaml.safe_load((folder / "case.yaml").read_text())["expect"]
    log = next(folder.glob("input.*"))
    incident = diagnose(logs=[str(log)]).incidents[-1]
    roots = [failure for failure in incident.failures if failure.role == "root"]
    assert incident.outcome == case["outcome"]
    if case["outcome"] in ("healthy", "starting"):
        assert not roots
        return
    (root,) = roots
    info = root.exception
    if case["exception"]:
        assert re.fullmatch(case["exception"], info.type.rpartition(".")[2] if info is not None else "")
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
        assert any(_labels(str(case["rank"])) <= _labels(rank) for rank in root.ranks)
