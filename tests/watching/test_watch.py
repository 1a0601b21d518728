"""Whole watches, over real journals that are played again."""

import time

import pytest

from triage.model import Entry
from triage.report.sentence import root_of
from triage.sources.systemctl import UnitState
from triage.watching.origin import Origin

UNITS = "sglang-units-a"
UNIT = "x.service"
MANAGER = {"_PID": "1", "_UID": "0", "_SYSTEMD_UNIT": "init.scope", "UNIT": UNIT, "_TRANSPORT": "journal"}


def entry(at, text, invocation="a" * 32, **fields):
    own = {"_SYSTEMD_UNIT": UNIT, "_SYSTEMD_INVOCATION_ID": invocation, "_PID": "100", "_TRANSPORT": "stdout"}
    return Entry({**own, **fields, "MESSAGE": text}, int(at * 1e6), f"s=1;i={at}", 0)


def manager(at, text, message_id="", invocation="a" * 32):
    return Entry(
        {**MANAGER, "INVOCATION_ID": invocation, "MESSAGE_ID": message_id, "MESSAGE": text}, int(at * 1e6), "", 0
    )


def started(at, invocation="a" * 32):
    return manager(at, f"Started {UNIT}.", "39f53479d3a045ac8e11786248231fbf", invocation)


def failed(at, invocation="a" * 32):
    text = f"{UNIT}: Main process exited, code=exited, status=1/FAILURE"
    return manager(at, text, "98e322203f7a4ed290d09fe03c09fe15", invocation)


def stage(at, rank, text):
    return entry(at, f"[2026-11-29 14:21:52 PP{rank}] {text}", _PID=str(200 + rank))


def root(verdict):
    return root_of(verdict.report.incidents[-1])


@pytest.fixture
def now(replaying):
    return time.time()


def test_a_real_start_that_comes_up_is_ready(watched, replaying):
    """The phases are told in their order, and the engine's own word is what counts."""
    host = replaying.Replay(replaying.entries(UNITS, "sglang-ok.service"))
    verdict, told = watched(host, "sglang-ok.service")
    assert (verdict.kind, verdict.status) == ("ready", 0)
    begun = [word for word in told if word.startswith("begin")]
    assert begun == ["begin args", "begin distributed", "begin weights", "begin kv-pool", "begin warmup"]


def test_a_real_failure_is_diagnosed(watched, replaying):
    """The seed bug on real pipeline stages: the root, its signature, exit status 1."""
    host = replaying.Replay(replaying.entries(UNITS, "sglang-pp8.service"))
    verdict, _ = watched(host, "sglang-pp8.service")
    assert (verdict.kind, verdict.status, verdict.loop) == ("failed", 1, False)
    assert root(verdict).diagnoses[0].signature == "sglang/pp-triton-layer0-value-buffer"


def test_a_failure_that_nobody_knows_ends_with_3(watched, replaying, now):
    """An honest unknown."""
    host = replaying.Replay([started(now), entry(now, "hello"), failed(now)])
    verdict, _ = watched(host, UNIT)
    assert (verdict.kind, verdict.status) == ("failed", 3)


def test_what_comes_after_the_death_is_read(watched, replaying, now):
    """Output of a killed tree reaches the journal after systemd's own line."""
    late = [entry(now + 1, "Traceback (most recent call last):"), entry(now + 1, "KeyError: 'late'")]
    verdict, _ = watched(replaying.Replay([started(now), failed(now)], late), UNIT)
    assert root(verdict).exception.type == "KeyError"


def test_an_end_without_a_failure_before_it_is_ready_is_one(watched, replaying, now):
    """Status 0 and `Deactivated successfully`, but nobody can use it."""
    ended = manager(now, f"{UNIT}: Deactivated successfully.", "7ad2d189f7e94e70a38c781354912448")
    verdict, _ = watched(replaying.Replay([started(now), entry(now, "bye"), ended]), UNIT)
    assert (verdict.kind, verdict.status) == ("failed", 3)
    assert "ended before it was ready" in root(verdict).text


def test_a_stop_by_the_operator_is_no_failure_and_not_ready(watched, replaying, now):
    """Nothing is diagnosed, and a script does not go on as if it were up."""
    stopping = manager(now, f"Stopping {UNIT}...", "de5b426a63be47a7b6ac3eaac82e2f6f")
    verdict, _ = watched(replaying.Replay([started(now), stopping, failed(now)]), UNIT)
    assert (verdict.kind, verdict.status, verdict.report) == ("stopped", 3, None)


def test_a_restart_by_the_operator_is_followed(watched, replaying, now):
    """The next start is what is watched."""
    stopping = manager(now, f"Stopping {UNIT}...", "de5b426a63be47a7b6ac3eaac82e2f6f")
    stopped = manager(now, f"{UNIT}: Deactivated successfully.", "7ad2d189f7e94e70a38c781354912448")
    ready = entry(now, "The server is fired up and ready to roll!", "b" * 32)
    host = replaying.Replay([started(now), entry(now, "x"), stopping, stopped, started(now, "b" * 32), ready])
    verdict, told = watched(host, UNIT)
    assert verdict.kind == "ready"
    assert told.count("started") == 2


def test_silence_beyond_the_limit_is_a_failure_of_the_rank_that_is_behind(watched, replaying, now):
    """All stages have their weights but one, and nobody says anything more."""
    lines = [stage(now, rank, "Load weight begin. avail mem=1 GB") for rank in range(8)]
    lines += [stage(now, rank, "Load weight end. type=X, avail mem=1 GB") for rank in range(8) if rank != 5]
    verdict, _ = watched(replaying.Replay([started(now), *lines]), UNIT, stall=1.5)
    assert (verdict.kind, verdict.status) == ("quiet", 3)
    assert root(verdict).ranks == ["PP5"]
    assert "in weights" in verdict.text


def test_the_kernels_lines_say_why_it_is_silent(watched, replaying, now):
    """A scheduler that the kernel killed leaves no line, and the unit stays active."""
    lines = [stage(now, rank, "Load weight begin. avail mem=1 GB") for rank in range(4)]
    kill = entry(now, "Out of memory: Killed process 202 (sglang::schedul) total-vm:1kB, anon-rss:1kB", _TRANSPORT="kernel",
                 SYSLOG_IDENTIFIER="kernel")  # fmt: skip
    kill.fields = {k: v for k, v in kill.fields.items() if not k.startswith(("_SYSTEMD", "_PID"))}
    verdict, _ = watched(replaying.Replay([started(now), *lines, kill]), UNIT, stall=1.5)
    assert verdict.kind == "quiet"
    assert root(verdict).rule == "kernel/oom"
    assert root(verdict).ranks == ["PP2"]


def test_lines_of_probes_are_no_sign_of_life(watched, replaying, now):
    """A server that only refuses health checks goes nowhere."""

    class Chatty(replaying.Replay):
        def batches(self):
            yield [started(now), entry(now, "[2026-11-29 14:21:52] server_args=ServerArgs(model_path='/m', tp_size=1)")]
            while not self._closed.wait(0.2):
                yield [entry(time.time(), 'INFO:     127.0.0.1:1 - "GET /health HTTP/1.1" 503 Service Unavailable')]

    assert watched(Chatty(), UNIT, stall=2.0, timeout=20.0)[0].kind == "quiet"


def test_time_runs_out(watched, replaying, now):
    """Status 4, and where it stood."""
    verdict, _ = watched(replaying.Replay([started(now), stage(now, 0, "Load weight begin. avail mem=1 GB")]), UNIT,
                         timeout=1.0)  # fmt: skip
    assert (verdict.kind, verdict.status, verdict.report) == ("out-of-time", 4, None)
    assert "weights" in verdict.text


def test_a_unit_that_is_never_started_runs_out_of_time(watched, replaying):
    """Silence is no stall before the start."""
    verdict, _ = watched(replaying.Replay(), UNIT, Origin(0), timeout=1.5, stall=0.5)
    assert (verdict.kind, verdict.status) == ("out-of-time", 4)
    assert "not started" in verdict.text


def test_the_unit_is_started_when_asked(watched, replaying, now):
    """Once, and after the journal is followed."""
    host = replaying.Replay([started(now), entry(now, "The server is fired up and ready to roll!")])
    verdict, _ = watched(host, UNIT, Origin(0, to_start=True), start=True)
    assert (verdict.kind, host.started) == ("ready", [UNIT])


def test_the_endpoint_has_to_answer_too(watched, replaying, now, endpoint):
    """The engine's word is not enough where an endpoint is named; 503 is normal until then."""
    from triage.watching.health import check_url

    host = replaying.Replay([started(now), entry(now, "server_args=ServerArgs(model_path='/m')"),
                             entry(now, "The server is fired up and ready to roll!")])  # fmt: skip
    verdict, told = watched(host, UNIT, health=check_url(f"{endpoint.url}/health"), timeout=1.5)
    assert verdict.kind == "out-of-time"
    assert "health starting" in told
    endpoint.answer = (200, b"")
    host = replaying.Replay([started(now), entry(now, "The server is fired up and ready to roll!")])
    assert watched(host, UNIT, health=check_url(f"{endpoint.url}/health"))[0].kind == "ready"


def test_the_endpoint_is_enough_for_a_service_that_nobody_knows(watched, replaying, now, endpoint):
    """It says nothing of itself that could be waited for."""
    from triage.watching.health import check_url

    endpoint.answer = (200, b"")
    host = replaying.Replay([started(now), entry(now, "listening")])
    assert watched(host, UNIT, health=check_url(endpoint.url))[0].kind == "ready"


def test_an_endpoint_that_answers_before_the_engine_is_ready_is_not_enough(watched, replaying, now, endpoint):
    """SGLang answers /v1/models before its warm-up went through."""
    from triage.watching.health import check_url

    endpoint.answer = (200, b'{"data": [{"id": "m"}]}')
    lines = [started(now), entry(now, "[2026-11-29 14:21:52] server_args=ServerArgs(model_path='/m', tp_size=1)"),
             entry(now, "[2026-11-29 14:21:52] INFO:     Application startup complete.")]  # fmt: skip
    verdict, told = watched(replaying.Replay(lines), UNIT, health=check_url(f"{endpoint.url}/v1/models"), timeout=2.0)
    assert verdict.kind == "out-of-time"
    assert "health ok" in told


def test_a_restart_loop_is_said_at_the_second_turn(watched, replaying, now):
    """Two starts that fail in the same way."""
    again = manager(
        now + 1, f"{UNIT}: Scheduled restart job, restart counter is at 1.", "5eb03494b6584870a536b337290809b3"
    )
    one = [started(now), entry(now, "error: bad flag"), failed(now)]
    other = [again, started(now + 1, "b" * 32), entry(now + 1, "error: bad flag", "b" * 32), failed(now + 1, "b" * 32)]

    class Slow(replaying.Replay):
        def batches(self):
            yield one
            self._closed.wait(1.5)
            yield other
            self._closed.wait()

    auto = UnitState(UNIT, active_state="activating", sub_state="auto-restart")
    verdict, told = watched(Slow(state=auto), UNIT, restarts=3)
    assert told.count("outlived") == 1
    assert (verdict.kind, verdict.loop) == ("failed", True)


def test_a_loop_that_goes_on_already_is_said(watched, replaying, now):
    """systemd had restarted the unit before the watch began."""
    host = replaying.Replay([started(now), entry(now, "x"), failed(now)])
    assert watched(host, UNIT, Origin(0, running=True, restarts=2))[0].loop


def test_restarts_end_with_a_start_that_works(watched, replaying, now):
    """A failure is outlived where that was asked for."""
    again = manager(
        now + 1, f"{UNIT}: Scheduled restart job, restart counter is at 1.", "5eb03494b6584870a536b337290809b3"
    )

    class Slow(replaying.Replay):
        def batches(self):
            yield [started(now), entry(now, "error: bad luck"), failed(now)]
            self._closed.wait(1.5)
            yield [
                again,
                started(now + 1, "b" * 32),
                entry(now + 1, "The server is fired up and ready to roll!", "b" * 32),
            ]
            self._closed.wait()

    auto = UnitState(UNIT, active_state="activating", sub_state="auto-restart")
    assert watched(Slow(state=auto), UNIT, restarts=1)[0].status == 0


def test_systemd_is_asked_where_the_journal_does_not_tell(watched, replaying, now, monkeypatch):
    """A user who may not read what systemd says of the unit."""
    monkeypatch.setattr("triage.watching.watch._GLANCE", 1.0)
    host = replaying.Replay([entry(now, "hello")], state=UnitState(UNIT, active_state="failed", result="exit-code"))
    verdict, _ = watched(host, UNIT)
    assert verdict.kind == "failed"
    assert "exit-code" in root(verdict).text


def test_a_port_in_use_that_leaves_the_server_hanging_is_not_waited_for(watched, replaying, now, monkeypatch):
    """The unit is active, and what it said is no failure that a service recovers from."""
    monkeypatch.setattr("triage.watching.watch._HOPELESS", 1.0)
    monkeypatch.setattr("triage.watching.watch._LOOK", 0.2)
    bind = "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 30000): address already in use"
    verdict, _ = watched(replaying.Replay([started(now), entry(now, bind)]), UNIT, stall=60.0)
    assert (verdict.kind, verdict.status) == ("quiet", 1)


def test_a_journal_that_cannot_be_read_any_more_is_an_error(watched, replaying, now):
    """One clear line, not a verdict."""
    from triage.model import TriageError

    class Broken(replaying.Replay):
        def batches(self):
            yield [started(now)]
            raise TriageError("journalctl: no")

    with pytest.raises(TriageError, match="journalctl: no"):
        watched(Broken(), UNIT)


def test_a_host_without_systemd_is_told(monkeypatch, tmp_path):
    """No unit can be watched there, whatever its name; what can be is said."""
    from types import SimpleNamespace

    from triage.sources.query import JournalQuery
    from triage.watching import origin
    from triage.watching.host import LocalHost

    monkeypatch.setattr(origin, "_BOOTED", tmp_path / "none")
    reader = SimpleNamespace(unique=lambda name: set())
    said = str(origin._unknown(reader, "sglang.service", LocalHost(JournalQuery())))
    assert said.startswith("systemd does not run on this host: `triage run -- COMMAND`")
    monkeypatch.setattr(origin, "_BOOTED", tmp_path)
    assert "no unit sglang.service" in str(origin._unknown(reader, "sglang.service", LocalHost(JournalQuery())))
