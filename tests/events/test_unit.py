"""What systemd says about a unit."""

import pytest

from triage.events.unit import UnitReader
from triage.model import Line


def said(text, **fields):
    line = Line(text=text, stream="systemd", offset=0, origin="manager", fields=fields or None)
    return UnitReader().parse(line)


@pytest.mark.parametrize(
    ("text", "rule", "data"),
    [
        ("x.service: Main process exited, code=killed, status=9/KILL", "systemd/main-exited", {"signal": "SIGKILL"}),
        ("x.service: Main process exited, code=dumped, status=11/SEGV", "systemd/main-exited", {"signal": "SIGSEGV"}),
        ("x.service: Main process exited, code=exited, status=1/FAILURE", "systemd/main-exited", {"exit": "1"}),
        ("x.service: Main process exited, code=exited, status=137/n/a", "systemd/main-exited", {"exit": "137"}),
        ("x.service: Main process exited, code=exited, status=203/EXEC", "systemd/main-exited", {"step": "EXEC"}),
        ("x.service: Failed with result 'oom-kill'.", "systemd/failed", {"result": "oom-kill"}),
        ("x.service: Scheduled restart job, restart counter is at 3.", "systemd/restart", {"restarts": "3"}),
        ("x.service: Start request repeated too quickly.", "systemd/start-limit", {}),
        ("x.service: start operation timed out. Terminating.", "systemd/start-timeout", {"step": "start"}),
        ("x.service: Watchdog timeout (limit 1min)!", "systemd/watchdog", {"limit": "1min"}),
        ("Started x.service - SGLang server.", "systemd/started", {"unit": "x.service"}),
        ("Stopping x.service - SGLang server...", "systemd/stopping", {"unit": "x.service"}),
        ("x.service: Failed to load environment files: No such file or directory", "systemd/envfile", {}),
        ("x.service: Changing to the requested working directory failed: No such file or directory", "systemd/chdir", {}),
        ("x.service: Failed to locate executable /opt/p: No such file or directory", "systemd/locate", {"executable": "/opt/p"}),
        ("x.service: Unable to locate executable '/opt/p': Permission denied", "systemd/locate", {"errno": "Permission denied"}),
        ("x.service: Failed at step EXEC spawning /opt/p: Exec format error", "systemd/step", {"step": "EXEC", "executable": "/opt/p"}),
        ("x.service: Failed to determine user credentials: No such process", "systemd/user", {}),
    ],
)  # fmt: skip
def test_reads_the_texts_of_systemd_252_and_257(text, rule, data):
    """Each text has its rule and what it names."""
    event = said(text)
    assert event is not None
    assert event.rule == rule
    assert data.items() <= event.data.items()


def test_fields_of_the_entry_fill_in_what_the_text_lacks():
    """EXIT_STATUS, N_RESTARTS and the like come from the entry."""
    event = said("x.service: Scheduled restart job, restart counter is at 2.", N_RESTARTS="2",
                 MESSAGE_ID="5eb03494b6584870a536b337290809b3")  # fmt: skip
    assert event.data["restarts"] == "2"


def test_other_lines_of_systemd_say_nothing():
    """A reload is no event of a unit's run."""
    assert said("Reloading.") is None
