"""From a failure to what to match, when, and what to call it."""

import pytest

from triage.authoring.draft.facts import deciding, releases
from triage.authoring.draft.matches import match_of
from triage.authoring.draft.names import engine_of, id_of, title_of
from triage.model import ExceptionInfo, Failure, Frame, Incident, Position

SITE = "/venv/lib/python3.11/site-packages/"


def frames(*names):
    """Frames from `path:function`, below site-packages."""
    return [Frame(SITE + path, 1, function) for path, _, function in (name.rpartition(":") for name in names)]


def raised(type_, message, *stack, ranks=()):
    """A failure with an exception."""
    failure = Failure("f1", "exception", "traceback", "v1:1", Position(), "root", ranks=list(ranks))
    failure.exception = ExceptionInfo(type_, message, frames(*stack))
    return failure


def said(kind, text, rule="r", stack=(), **data):
    """A failure without one."""
    return Failure("f1", kind, rule, "v1:1", Position(), "root", text=text, data=data, frames=frames(*stack))


STACK = (
    "sglang/srt/managers/scheduler.py:run_scheduler_process",
    "sglang/srt/managers/scheduler.py:event_loop_normal",
    "sglang/srt/model_executor/model_runner.py:forward",
    "sglang/srt/layers/attention/triton_backend.py:init_forward_metadata",
    "sglang/srt/layers/attention/triton_backend.py:TritonAttnBackend.update",
    "torch/nn/modules/module.py:_call_impl",
)


def test_frames_are_the_engines_own_from_different_files():
    """In call order, without what everything goes through and without other libraries."""
    match, _ = match_of(raised("IndexError", "list index out of range", *STACK))
    assert match == {
        "exception": "IndexError",
        "message": "list index out of range",
        "frames": ["model_executor/model_runner.py:forward", "layers/attention/triton_backend.py:update"],
    }


def test_without_the_engine_the_innermost_library_frame_tells():
    """The standard library's own frames do not."""
    stack = ("torch/cuda/__init__.py:_lazy_init", "../python3.11/subprocess.py:run")
    failure = raised("torch.cuda.Weird", "", *stack)
    failure.exception.frames[1].file = "/usr/lib/python3.11/subprocess.py"
    assert match_of(failure)[0] == {"exception": "Weird", "frames": ["torch/cuda/__init__.py:_lazy_init"]}


def test_frame_of_no_package_names_no_machine():
    """Of a path that begins at the root only the end is the same elsewhere."""
    failure = raised("KeyError", "'x'", "a.py:f")
    failure.exception.frames[0].file = "/home/alice/serving/plugins/hook.py"
    assert match_of(failure)[0]["frames"] == ["plugins/hook.py:f"]


def test_only_passages_are_better_than_nothing():
    """The innermost of them."""
    match, _ = match_of(raised("KeyError", "'x'", *STACK[:2]))
    assert match["frames"] == ["managers/scheduler.py:event_loop_normal"]


@pytest.mark.parametrize(
    ("failure", "match"),
    [
        (said("message", "KV pool is full"), {"message": "KV pool is full"}),
        (
            said("message", "setting membind: Invalid", "fallback/last-words"),
            {"log": {"line": "setting membind: Invalid"}},
        ),
        (said("kernel", "Xid 79", xid="79"), {"kernel": {"xid": 79}}),
        (said("kernel", "Killed process", oom="memcg"), {"kernel": {"oom": "memcg"}}),
        (said("unit", "x", result="exit-code", exit="1"), {"unit": {"result": "exit-code", "exit_status": "1"}}),
        (said("unit", "x", result="signal", signal="SIGKILL"), {"unit": {"result": "signal", "signal": "SIGKILL"}}),
        (said("silence", "x", phase="weights"), {"silence": {"phase": "weights"}}),
        (
            said("native", "Fatal Python error: Segmentation fault", stack=["lib/a.so:do_it"], signal="SIGSEGV"),
            {"native": {"signal": "SIGSEGV", "symbol": "do_it"}},
        ),
        (
            said("native", "terminate called: what(): bad thing", signal="SIGABRT"),
            {"native": {"signal": "SIGABRT"}, "message": "terminate called: what(): bad thing"},
        ),
    ],
)
def test_other_kinds_are_matched_by_what_they_are(failure, match):
    """Not by their text where something better is known."""
    assert match_of(failure)[0] == match


def test_facts_that_stand_where_it_failed_decide():
    """A value in a path, a place that an argument leads to, ranks of which the first is not among them."""
    failure = raised("IndexError", "x", *STACK, ranks=["PP3 TP0", "PP2 TP0"])
    run = Incident(
        "log", facts={"attention_backend": "triton", "pp_size": 4, "quantization": "fp8", "enable_lora": True}
    )
    assert deciding(failure, run) == {"attention_backend": "triton", "pp_size": ">1"}
    assert deciding(raised("IndexError", "x", *STACK, ranks=["PP0", "PP1"]), run) == {"attention_backend": "triton"}
    lora = raised("KeyError", "fp8", "sglang/srt/lora/lora_manager.py:load")
    assert deciding(lora, run) == {"quantization": "fp8", "enable_lora": True}


@pytest.mark.parametrize("value", [None, "auto", "none", False, "", 0])
def test_values_that_say_nothing_do_not_decide(value):
    """Also where the place fits."""
    failure = raised("KeyError", "auto none false", "sglang/srt/lora/lora_manager.py:load")
    assert deciding(failure, Incident("log", facts={"enable_lora": value, "load_format": value})) == {}


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"engine": "sglang", "sglang": "0.5.6.post2"}, {"sglang": ">=0.5.6.post2"}),
        ({"engine": "vllm", "vllm": "0.9.1+cu128"}, {"vllm": ">=0.9.1"}),
        ({"engine": "sglang", "sglang": "0.5.6rc1"}, {}),
        ({"engine": "sglang", "sglang": ["0.5.6", "0.5.7"]}, {}),
        ({"engine": "sglang", "sglang": None}, {}),
        ({}, {}),
    ],
)
def test_release_is_named_where_it_is_known(facts, wanted):
    """What was built from a source tree names none."""
    assert releases(Incident("log", facts=facts)) == wanted


@pytest.mark.parametrize(
    ("failure", "facts", "name"),
    [
        (raised("IndexError", "x", *STACK), {}, "sglang/index-error-update"),
        (raised("ValueError", "No free port 5000", "torch/a.py:f"), {}, "torch/value-error-f"),
        (raised("HFValidationError", "bad", "huggingface_hub/a.py:check"), {}, "hub/hfvalidation-error-check"),
        (said("unit", "Failed at step EXEC"), {}, "systemd/failed-at-step-exec"),
        (said("kernel", "NVRM: Xid (PCI:0000:41:00): 79"), {}, "kernel/nvrm-xid-pci"),
        (said("message", "NCCL WARN no socket"), {"engine": "sglang"}, "nccl/nccl-warn-no-socket"),
        (said("message", "some odd thing"), {"engine": "vllm"}, "vllm/some-odd-thing"),
        (said("message", "some odd thing"), {}, "python/some-odd-thing"),
    ],
)
def test_id_names_area_and_failure(failure, facts, name):
    """By whose code failed, and how."""
    assert id_of(failure, Incident("log", facts=facts)) == name


def test_engine_is_the_one_whose_code_failed():
    """And none where another engine runs, or no frame is an engine's."""
    own, other = raised("E", "x", *STACK), raised("E", "x", "vllm/a/b.py:f")
    assert engine_of(own, Incident("log")) == "sglang"
    assert engine_of(other, Incident("log", facts={"engine": "vllm"})) == "vllm"
    assert engine_of(other, Incident("log", facts={"engine": "sglang"})) is None
    assert engine_of(raised("E", "x", "torch/a.py:f"), Incident("log", facts={"engine": "sglang"})) is None


def test_title_holds_captures_and_where():
    """And is no longer than a title."""
    failure = raised("ValueError", "needs 12 GiB, has {weird} braces " + "word " * 60, *STACK)
    _, said_ = match_of(failure)
    title = title_of(failure, said_)
    assert title.startswith("ValueError: needs {needs}, has (weird) braces")
    assert title.endswith(".. in TritonAttnBackend.update")
    assert len(title) <= 160
