"""Short logs, diagnosed."""

import pytest

from triage.pipeline import diagnose


@pytest.fixture
def judged(tmp_path):
    """Return a function that takes lines and returns the last incident of the log that they make."""

    def judge(*lines):
        log = tmp_path / "x.log"
        log.write_text("\n".join(lines) + "\n")
        return diagnose(logs=[str(log)]).incidents[-1]

    return judge


@pytest.fixture
def rooted(judged):
    """Return a function that takes lines and returns outcome and root failure (None where there is none)."""

    def root(*lines):
        incident = judged(*lines)
        return incident.outcome, next((f for f in incident.failures if f.role == "root"), None)

    return root
