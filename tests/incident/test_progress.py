"""How far a run came, in logs that begin in the middle."""

from triage.pipeline import diagnose

ARGS = "[2026-05-25 21:41:30] server_args=ServerArgs(model_path='/models/m', tp_size=1)"
LOAD = "[2026-05-25 21:41:31 TP0] Load weight begin. avail mem=78.00 GB"
BATCH = "[2026-05-25 21:41:38 TP0] Decode batch, #running-req: 1, #token: 36, token usage: 0.37, gen throughput: 41.54"
READY = "[2026-05-25 21:41:37] The server is fired up and ready to roll!"


def phase(tmp_path, *lines):
    log = tmp_path / "x.log"
    log.write_text("\n".join(lines) + "\n")
    return diagnose(logs=[str(log)]).incidents[0].phase


def test_who_serves_without_having_loaded_loaded_before_the_log_begins(tmp_path):
    """Neither the arguments, printed again by a later release, nor nothing at all makes it a start."""
    assert phase(tmp_path, ARGS, BATCH) == "serving"
    assert phase(tmp_path, BATCH) == "serving"


def test_warm_up_is_no_service(tmp_path):
    """A batch after the weights and before the ready line is the engine's own request."""
    assert phase(tmp_path, ARGS, LOAD, BATCH) == "weights"
    assert phase(tmp_path, ARGS, LOAD, BATCH, READY, BATCH) == "serving"
