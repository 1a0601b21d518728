"""Launch arguments as engines print them."""

from hypothesis import given
from hypothesis import strategies as st

from triage.events.arguments import parse_arguments


def test_reads_the_call_form_up_to_0_5_18():
    """`ServerArgs(...)` yields its values without quotes, `None` left out."""
    text = "server_args=ServerArgs(model_path='/models/a, b', tp_size=8, quantization=None, mem_fraction_static=0.85)"
    assert parse_arguments(text) == {
        "engine": "sglang",
        "model_path": "/models/a, b",
        "tp_size": "8",
        "mem_fraction_static": "0.85",
    }


def test_reads_the_dict_form_from_0_5_19():
    """`{'name': value}` yields the same names."""
    found = parse_arguments("server_args={'model_path': '/m', 'pp_size': 8, 'attention_backend': 'triton'}")
    assert found["pp_size"] == "8"
    assert found["attention_backend"] == "triton"


def test_keeps_nested_values_whole():
    """Commas inside brackets and calls do not split."""
    found = parse_arguments("server_args=ServerArgs(a=[1, 2, 3], b={'tp_size': 99}, c=Foo(x=1, y=2), tp_size=4)")
    assert found["a"] == "[1, 2, 3]"
    assert found["c"] == "Foo(x=1, y=2)"
    assert found["tp_size"] == "4"


def test_stops_at_the_closing_bracket():
    """Text after the arguments is none of them."""
    assert "later" not in parse_arguments("server_args=ServerArgs(tp_size=4) later=1, tp_size=9")


def test_gives_vllm_names_their_common_ones():
    """vLLM's tensor_parallel_size is tp_size."""
    found = parse_arguments("non-default args: {'model': 'Qwen/Qwen3-8B', 'tensor_parallel_size': 4}")
    assert found == {"engine": "vllm", "model_path": "Qwen/Qwen3-8B", "tp_size": "4"}


def test_says_nothing_of_other_lines():
    """A line without arguments yields nothing."""
    assert parse_arguments("Decode batch. #running-req: 1") == {}


@given(st.text(alphabet="'\"()[]{},=\\abc1 ", max_size=400))
def test_never_raises(tail):
    """Any text after the opening is survived."""
    parse_arguments("server_args=ServerArgs(" + tail)
