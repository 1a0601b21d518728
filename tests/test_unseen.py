"""Logs that nobody had read when the rules were written, from public threads: their answers were noted before a run."""

from pathlib import Path

import pytest

CASES = Path(__file__).parent / "data" / "unseen"
# Known to fall short, with the reason; a case that comes right must leave this list.
SHORT: dict[str, str] = {}


def cases():
    return [
        pytest.param(folder, id=folder.name, marks=_marks(folder.name))
        for folder in sorted(CASES.iterdir())
        if folder.is_dir()
    ]


def _marks(name):
    return [pytest.mark.xfail(reason=SHORT[name], strict=True)] if name in SHORT else []


@pytest.mark.parametrize("folder", cases())
def test_the_root_is_what_really_happened(folder, check_case):
    """The report's last incident names what the case says."""
    check_case(folder)
