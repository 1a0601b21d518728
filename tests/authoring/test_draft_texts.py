"""Messages as conditions: what is the same in every run stays, what differs becomes a named capture."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.authoring.draft.texts import stable
from triage.library.probe import too_slow


@pytest.mark.parametrize(
    "message",
    [
        "list index out of range",
        "'NoneType' object has no attribute 'shape'",
        "[Errno 98] Address already in use",
        "CUDA error 802: system not yet initialized",
        "Python 3.12 is too new, int8 and fp16 are not, nor is sm_90",
        "Unsupported model: DeepseekV3ForCausalLM",
    ],
)
def test_steady_message_stays_as_it_is(message):
    """Numbers that name something are part of it."""
    found = stable(message)
    assert (found.key, found.value, found.captures) == ("message", message, [])


CASES = [
    (
        "CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has 79 GiB",
        ["allocate", "gpu", "size"],
        "CUDA out of memory. Tried to allocate 1 MiB. GPU 12 has 8 GiB",
    ),
    ("Cannot open /models/a/b.safetensors: no such file", ["open"], "Cannot open ./x.safetensors: no such file"),
    ("no slot for request 8f2c1a", ["request"], "no slot for request 00b7ce21"),
    (
        "connection to 10.1.2.3:5000 timed out after 30s",
        ["address", "after"],
        "connection to 10.9.9.9:1 timed out after 1 s",
    ),
    ("rank TP3 of 8 failed", ["rank", "number"], "rank TP11 of 16 failed"),
    ("Repo id must be 'org/name': 'Qwen/Qwen3' is not", ["name", "name_2"], "Repo id must be 'a/b': 'x/y' is not"),
    (
        "bad request 123e4567-e89b-12d3-a456-426614174000",
        ["request"],
        "bad request 00000000-e89b-12d3-a456-426614174000",
    ),
    ("token hf_abcdefghij0123456789abcd is invalid", ["token"], "token something is invalid"),
]


@pytest.mark.parametrize(("message", "names", "other"), CASES, ids=lambda value: str(value)[:30])
def test_what_differs_becomes_a_capture(message, names, other):
    """Another run's message fits too, and the capture is called by the word before it or by its kind."""
    found = stable(message)
    assert found.key == "message_re"
    assert re.search(found.value, other)
    assert found.captures == names
    assert set(re.compile(found.value).groupindex) == set(found.captures)
    assert all(f"{{{name}}}" in found.title for name in found.captures)


def test_secret_is_no_part_of_a_signature():
    """Nor are hosts and addresses."""
    found = stable("login to gpu-7.prod.internal with api_key=abcdef0123456789 failed")
    assert "abcdef" not in found.value + found.title
    assert "gpu-7" not in found.value + found.title


def test_time_before_the_words_is_left_out():
    """A line that begins with a stamp says the same without it."""
    assert stable("[12-16 14:20:31] Scheduler is dead").value == "Scheduler is dead"


def test_nothing_but_numbers_is_nothing():
    """No literal is left to look for."""
    assert stable("12 34").key == ""


def test_long_message_is_cut_at_a_word():
    """And of several lines the first counts."""
    found = stable("broken thing " * 100 + "\nsecond line")
    assert len(found.value) <= 240
    assert found.value.endswith("thing")


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_message_gives_a_sound_condition(message):
    """It fits the line that it was made of, can be looked up, compiles and is quick."""
    found = stable(message)
    assert found.title.isprintable() or not found.title
    if found.key == "message_re":
        compiled = re.compile(found.value)
        assert set(compiled.groupindex) == set(found.captures)
        assert too_slow(found.value) == 0
    elif found.key:
        assert len(found.value.strip()) >= 4


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["loading", "10.0.0.1", "12", "/a/b", "3.5 GiB", "0xdeadbeef", "TP3", "failed:", "'a/b'", "x=1"]
        ),
        min_size=2,
        max_size=12,
    ).map(" ".join)
)
def test_condition_fits_its_own_message(message):
    """Where nothing had to be masked, the message itself fits."""
    found = stable(message)
    if found.key == "message_re":
        assert re.search(found.value, " ".join(message.split()).replace("10.0.0.1", "<address-1>"))
    elif found.key:
        assert found.value == message
