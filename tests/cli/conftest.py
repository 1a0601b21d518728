"""The command line as it is called, with no signatures, data or caches of this host."""

from dataclasses import dataclass

import pytest

from triage.cli import main
from triage.library import packs


@dataclass
class Said:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def flat(self) -> str:
        """What was printed on one line: where it wraps depends on how long the paths of the checkout are."""
        return " ".join(self.out.split())


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the user's own pack would lie; nothing is there yet."""
    monkeypatch.setattr(packs, "SYSTEM", tmp_path / "etc")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("SUDO_UID", raising=False)
    return tmp_path / "data/triage"


@pytest.fixture
def triage(home, capsys):
    """Run a command; return what it said."""

    def run(*words) -> Said:
        capsys.readouterr()
        status = main(list(map(str, words)))
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return run
