"""Facts and phases of two runs beside each other, and how a side is named."""

import pytest

from triage.compare import open_side
from triage.compare.facts import changes
from triage.compare.phases import steps
from triage.model import Incident, Phase, Process, TriageError


def test_facts_that_differ_stand_in_order_of_what_they_are():
    """Launch arguments, releases, environment; noise last."""
    good = {
        "tp_size": 4,
        "sglang": "0.5.6",
        "env.NCCL_DEBUG": "WARN",
        "random_seed": 1,
        "host.gpu": "H100",
        "engine": "sglang",
    }
    bad = {
        "tp_size": 8,
        "sglang": "0.5.9",
        "env.NCCL_DEBUG": "INFO",
        "random_seed": 2,
        "host.gpu": "H100",
        "engine": "sglang",
    }
    found = changes(good, bad)
    assert [(one.name, one.good, one.bad) for one in found] == [
        ("tp_size", 4, 8),
        ("sglang", "0.5.6", "0.5.9"),
        ("env.NCCL_DEBUG", "WARN", "INFO"),
        ("random_seed", 1, 2),
    ]
    assert [one.noise for one in found] == [False, False, False, True]


def test_arguments_that_a_run_did_not_come_to_print_did_not_change():
    """It failed before; where both print them, one that is left out is a change."""
    some = {"tp_size": 4, "pp_size": 1, "dtype": "auto"}
    assert [one.noise for one in changes(some, {})] == [True, True, True]
    assert [one.noise for one in changes({**some, "device": "cuda"}, some)] == [False]


@pytest.mark.parametrize(
    ("name", "noise"),
    [
        ("port", True),
        ("nccl_port", True),
        ("download_dir", True),
        ("crash_dump_folder", True),
        ("env.TRITON_CACHE_DIR", True),
        ("env.HOME", True),
        ("model_path", False),
        ("env.LD_LIBRARY_PATH", False),
        ("attention_backend", False),
        ("env.NCCL_SOCKET_IFNAME", False),
        ("mem_fraction_static", False),
    ],
)
def test_what_differs_from_run_to_run_is_noise(name, noise):
    """Places of caches and ports; a path that decides what runs is none."""
    (one,) = changes({name: "a"}, {name: "b"})
    assert one.noise is noise


def test_what_was_measured_differs_by_a_little():
    """A twentieth; or is not known, where a run did not come so far."""
    assert [one.noise for one in changes({"context_len": 1000}, {"context_len": 1010})] == [True]
    assert [one.noise for one in changes({"context_len": 1000}, {"context_len": 2000})] == [False]
    assert [one.noise for one in changes({"context_len": 1000}, {})] == [True]


def test_a_number_and_its_text_are_the_same():
    """A command line and a log write it in two ways."""
    assert changes({"tp_size": 8}, {"tp_size": "8"}) == []


def run(start, ready, **phases):
    """An incident of which each phase has (begin, end) of its processes."""
    incident = Incident("x", started=start, ready=ready)
    for name, spans in phases.items():
        for begin, end in spans:
            incident.processes.append(Process(phases=[Phase(name.replace("_", "-"), begin, end, end is not None)]))
    return incident


def test_phases_are_timed_from_the_start_of_each_run():
    """From the first process that began to the last that ended."""
    good = run(100.0, 160.0, weights=[(110.0, 120.0), (111.0, 125.0)])
    bad = run(5000.0, None, weights=[(5010.0, 5020.0), (5011.0, None)])
    weights, ready = steps(good, bad)
    assert (weights.good.start, weights.good.took) == (10.0, 15.0)
    assert (weights.bad.start, weights.bad.took, weights.bad.processes, weights.bad.ended) == (10.0, None, 2, 1)
    assert (ready.phase, ready.good.start, ready.bad) == ("ready", 60.0, None)


@pytest.mark.parametrize(
    ("text", "unit", "invocation"),
    [
        ("journal:sglang", "sglang", None),
        ("journal:sglang@-1", "sglang", "-1"),
        ("journal:sglang@0", "sglang", "0"),
        ("journal:sglang@a.service", "sglang@a.service", None),
        ("journal:sglang@a.service@-2", "sglang@a.service", "-2"),
        ("journal:sglang@" + "0a" * 16, "sglang", "0a" * 16),
    ],
)
def test_a_units_invocation_is_named_behind_an_at_sign(text, unit, invocation):
    """A template's instance has one too: only numbers and ids are invocations."""
    query = open_side(text).query
    assert (query.units, query.invocation) == ([unit], invocation)


def test_a_journal_without_a_unit_is_an_error():
    """One line says what is wanted."""
    with pytest.raises(TriageError, match="names no unit"):
        open_side("journal:")
