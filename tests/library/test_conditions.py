"""The conditions of `when:`."""

import pytest

from triage.library.conditions import Situation, When, check, condition, labels

FACTS = {
    "pp_size": 8,
    "attention_backend": "triton",
    "enable_dp_attention": True,
    "speculative_algorithm": None,
    "mem_fraction_static": 0.88,
    "torch": "2.10.0+cu128",
    "sglang": None,
    "host.gpu": "NVIDIA H100 80GB HBM3",
    "cuda_graph_bs": [1, 2, 4],
    "tp_size_at_least": 4,
}


def state(name: str, value: object):
    """Whether a condition on one fact holds."""
    (checked,) = check(When(facts=((name, condition(value)),)), Situation(FACTS, {"gpu": "3"}))
    return checked.state


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("pp_size", ">1", True),
        ("pp_size", "<=4", False),
        ("pp_size", 8, True),
        ("pp_size", ">=4,<8", False),
        ("pp_size", [2, 8], True),
        ("pp_size", "!=8", False),
        ("attention_backend", "triton", True),
        ("attention_backend", "!=fa3", True),
        ("attention_backend", ["fa3", "flashinfer"], False),
        ("attention_backend", "tri*", True),
        ("attention_backend", ">3", None),
        ("enable_dp_attention", True, True),
        ("enable_dp_attention", False, False),
        ("enable_dp_attention", "true", True),
        ("speculative_algorithm", None, True),
        ("speculative_algorithm", "EAGLE", None),
        ("attention_backend", None, False),
        ("attention_backend", "!=null", True),
        ("mem_fraction_static", ">=0.8,<0.95", True),
        ("torch", ">=2.5", True),
        ("torch", "<2.9", False),
        ("sglang", ">=0.5", None),
        ("sglang", None, None),
        ("host.gpu", "*h100*", True),
        ("cuda_graph_bs", 4, True),
        ("quantization", "fp8", None),
        ("quantization", None, None),
        ("gpu", ">2", True),
        ("tp_size", ">1", True),
        ("tp_size", "<4", False),
        ("tp_size", ">4", None),
        ("tp_size", 4, None),
    ],
)
def test_fact_is_compared(name, value, expected):
    """A missing fact is unknown; one that is known to be unset is not."""
    assert state(name, value) is expected


def test_phrases_say_what_was_seen_and_what_would_be_needed():
    """They are shown as they are."""
    when = When(
        facts=tuple(
            (name, condition(value)) for name, value in [("pp_size", ">1"), ("attention_backend", "fa3"), ("x", 1)]
        )
    )
    held, failed, unknown = check(when, Situation(FACTS))
    assert held.phrase == "pp_size = 8 (> 1)"
    assert failed.needed == "would match if attention_backend were fa3; this log shows triton"
    assert unknown.phrase == "x not in the log (wanted: 1)"


def test_equal_value_is_not_said_twice():
    """`attention_backend = triton` needs no comparison beside it."""
    (checked,) = check(When(facts=(("attention_backend", condition("triton")),)), Situation(FACTS))
    assert checked.phrase == "attention_backend = triton"


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(["PP3 TP1"], True), (["PP1 TP3"], False), (["PP1", "PP2"], True), (["TP3"], None), ([], None), (["rank1"], None)],
)
def test_rank_is_compared_by_its_label(ranks, expected):
    """Any failing rank that fits is enough; a label that does not say it is unknown."""
    (checked,) = check(When(rank=(("pp", condition(">=2")),)), Situation({}, ranks=ranks))
    assert checked.state is expected


@pytest.mark.parametrize(("phase", "expected"), [("weights", True), ("graphs", False), (None, None)])
def test_phase_is_compared(phase, expected):
    """With a list, any of them."""
    (checked,) = check(When(phase=condition(["kv-pool", "weights"])), Situation({}, phase=phase))
    assert checked.state is expected


def test_where_shows_the_values():
    """So that a reader can check the arithmetic."""
    situation = Situation({"limit": 4}, {"asked": "8"})
    held, failed, unknown = (
        check(When(where=text), situation)[0] for text in ("asked > limit", "asked < limit", "asked < none")
    )
    assert (held.state, held.phrase) == (True, "asked > limit (asked = 8, limit = 4)")
    assert failed.needed == "would match if asked < limit; this log shows asked = 8, limit = 4"
    assert unknown.phrase == "asked < none not known: none not in the log"


def test_labels_are_a_set():
    """Order and spelling of the engine's labels do not matter."""
    assert labels("DP1 TP0 EP4") == {"dp": 1, "tp": 0, "ep": 4}
    assert labels("PP3 ATTN_CP1") == {"pp": 3, "attn_cp": 1}
    assert labels("rank12") == {"rank": 12}


@pytest.mark.parametrize("value", [">", ">=1,", "1 to 3,>", "!= "])
def test_comparison_without_value_is_refused(value):
    """Unless it is no comparison at all."""
    if value.startswith("1"):
        assert condition(value).text == value
        return
    with pytest.raises(ValueError, match="comparison"):
        condition(value)
