"""No test reads the signatures of this host or its user, or their cache."""

import pytest

from triage.library import packs


@pytest.fixture(autouse=True)
def _own_places(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "SYSTEM", tmp_path / "etc")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SUDO_UID", raising=False)
