"""The sentence that says it all."""

import pytest

from triage.model import ExceptionInfo, Failure, Incident, Member, Phase, Position, Process
from triage.report import summary

WANTED = {
    "pp8": "sglang-pp8.service failed after the KV pool was ready: PP5 raised IndexError: list index out of range "
    "(sglang/pp-triton-layer0-value-buffer, certain)",
    "unknown": "moe.service failed while capturing graphs: TP1 raised AssertionError (no signature matches)",
    "no_root": "sglang-quiet.service failed: no root found",
    "healthy": "sglang-ok.service was stopped by the operator after serving for 4 h 8 min",
    "starting": "sglang-new.service is starting, while loading weights, no failure so far",
}


@pytest.mark.parametrize("name", WANTED)
def test_summary(incidents, name):
    """Who, what became of it, when, why, and who knows it."""
    assert summary(getattr(incidents, name)()) == WANTED[name]


def test_what_is_no_services_log_is_not_called_a_start():
    """A wrong file is told from a service that comes up."""
    assert summary(Incident("LICENSE", outcome="starting")) == (
        "LICENSE shows no failure, nor anything that triage knows of a start"
    )
    assert "is starting" in summary(Incident("x.log", outcome="starting", facts={"engine": "sglang"}))
    assert "is starting" in summary(Incident("journal", [Member("h", "a.service")], outcome="starting"))


def test_a_warnings_signature_is_named_when_it_explains_the_root(incidents):
    """The failure stays the root, the name is the warning's."""
    said = summary(incidents.gloo())
    assert said.startswith("input.log failed while the ranks were connecting: TP4-TP7 raised RuntimeError: Gloo")
    assert said.endswith("(gloo/loopback-fallback, certain)")


def test_a_kernel_kill_has_no_rank(incidents):
    """The kernel's line speaks for itself."""
    incident = incidents.host_oom()
    assert "failed while serving: Out of memory: Killed process 40377" in summary(incident)
    incident.failures[0].text = "oom-kill:constraint=CONSTRAINT_NONE,task=sglang::schedul,pid=40377"
    assert "failed while serving: Out of memory: Killed process 40377" in summary(incident)


@pytest.mark.parametrize(
    ("kind", "who", "said"),
    [
        ("native", ["TP0"], "TP0 crashed: SIGSEGV"),
        ("silence", ["PP3"], "PP3 fell silent: SIGSEGV"),
        ("message", ["TP1"], "TP1: SIGSEGV"),
        ("exit", [], "SIGSEGV"),
    ],
)
def test_each_kind_has_its_verb(kind, who, said):
    """A crash, a silence and a message are told apart."""
    root = Failure("f1", kind, "r", "v1:1", Position(), "root", ranks=who, text="SIGSEGV")
    assert f": {said} (" in summary(Incident("-", outcome="failed", failures=[root]))


def test_degraded_services_are_up():
    """A service that serves with errors has not failed."""
    root = Failure(
        "f1",
        "exception",
        "traceback",
        "v1:1",
        Position(),
        "root",
        exception=ExceptionInfo("a.b.OutOfMemoryError", "CUDA out of memory.\nTried"),
    )
    said = summary(Incident("x.log", outcome="degraded", phase="serving", failures=[root]))
    assert said == "x.log is up, but degraded: OutOfMemoryError: CUDA out of memory. (no signature matches)"


@pytest.mark.parametrize(("ended", "said"), [(True, "after the weights were loaded"), (False, "while loading weights")])
def test_a_phase_counts_as_done_when_the_failed_ranks_had_done_it(ended, said):
    """What other ranks had done says nothing of the one that failed."""
    root = Failure("f1", "message", "r", "v1:1", Position(), "root", ranks=["TP1"], text="boom")
    processes = [
        Process("TP0", phases=[Phase("weights", ended=not ended)]),
        Process("TP1", phases=[Phase("weights", ended=ended)]),
    ]
    assert f"failed {said}: TP1: boom" in summary(
        Incident("-", outcome="failed", phase="weights", processes=processes, failures=[root])
    )


def test_several_units_and_hosts_are_counted():
    """A run over several nodes is one service."""
    members = [Member("a", "sglang.service"), Member("b", "sglang.service")]
    assert summary(Incident("journal", members, outcome="healthy")).startswith("sglang.service on 2 hosts is healthy")


def test_every_phase_of_the_log_has_words():
    """A phase that the events know can be said."""
    from triage.data import knowledge

    known = {row["phase"] for row in knowledge("phases")["phases"]} | set(knowledge("phases")["order"])
    assert known <= set(knowledge("phase_words"))


def test_an_exception_without_its_last_line_is_told_in_words(incidents):
    """A log that was cut inside a traceback."""
    root = Failure(
        "f1", "exception", "traceback", "v1:1", Position(), "root", ranks=["TP0"], exception=ExceptionInfo("", "")
    )
    said = summary(Incident("-", outcome="failed", failures=[root]))
    assert said.startswith("the service failed: TP0 raised an exception of which the last line is missing (")
