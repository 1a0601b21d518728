"""Facts out of command lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.data import knowledge
from triage.sources.launch import facts_from_command
from triage.sources.words import commands, resolve

SGLANG = {"engine": "sglang"}


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        (
            "python3 -m sglang.launch_server --model-path /m --tp 8 --pp-size=2 --attention-backend triton --trust-remote-code",
            {**SGLANG, "model_path": "/m", "tp_size": 8, "pp_size": 2, "attention_backend": "triton", "trust_remote_code": True},
        ),
        (
            "/opt/venv/bin/sglang serve Qwen/Qwen3-8B --tensor-parallel-size 4 --enable-dp-attention --mem-fraction 0.85",
            {**SGLANG, "model_path": "Qwen/Qwen3-8B", "tp_size": 4, "enable_dp_attention": True, "mem_fraction_static": 0.85},
        ),
        (
            "sglang serve --trust-remote-code Qwen/Qwen3-8B --cuda-graph-bs 1 2 4 --host 0.0.0.0",
            {**SGLANG, "trust_remote_code": True, "cuda_graph_bs": [1, 2, 4], "host": "0.0.0.0", "model_path": "Qwen/Qwen3-8B"},
        ),
        (
            "vllm serve --port 8000 Qwen/Q -tp 4 --gpu-memory-utilization .9 --max-model-len 8192 --no-enable-prefix-caching",
            {
                "engine": "vllm", "port": 8000, "tp_size": 4, "gpu_memory_utilization": 0.9, "context_length": 8192,
                "enable_prefix_caching": False, "model_path": "Qwen/Q",
            },
        ),
        (
            "/usr/bin/python3 -m vllm.entrypoints.openai.api_server --model x --pipeline-parallel-size 2",
            {"engine": "vllm", "model_path": "x", "pp_size": 2},
        ),
        ("python /sgl-workspace/sglang/python/sglang/launch_server.py --dp 2", {**SGLANG, "dp_size": 2}),
        ("python -m dynamo.sglang --ep 16", {**SGLANG, "ep_size": 16}),
        ("-/usr/bin/python3 -m sglang.launch_server --tp 2", {**SGLANG, "tp_size": 2}),
        ("@/usr/bin/python3 sgl -m sglang.launch_server --tp 2", {**SGLANG, "tp_size": 2}),
        ("numactl --cpunodebind=0 --membind=0 python -m sglang.launch_server --tp 2", {**SGLANG, "tp_size": 2}),
        (
            "NCCL_DEBUG=INFO CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --port ${PORT:-30000} --model $MODEL",
            {"env.NCCL_DEBUG": "INFO", "env.CUDA_VISIBLE_DEVICES": "0,1", **SGLANG, "port": 30000},
        ),
        (
            "/usr/bin/env A=1 bash -lc 'source /v/bin/activate && export FOO=bar; exec python -m sglang.launch_server \\\n  --model-path \"/models/a b\" \\\n  --tp 2 2>&1 | tee /var/log/x'",
            {"env.A": "1", "env.FOO": "bar", **SGLANG, "model_path": "/models/a b", "tp_size": 2},
        ),
        (
            "docker run --rm --gpus all --shm-size 32g -v /a:/b -e HF_HUB_OFFLINE=1 --env=NCCL_P2P_DISABLE=1 --ipc=host lmsysorg/sglang:v0.5.6-cu126 python3 -m sglang.launch_server --model-path m --tp 8",
            {
                "env.HF_HUB_OFFLINE": "1", "env.NCCL_P2P_DISABLE": "1", **SGLANG,
                "container": "lmsysorg/sglang:v0.5.6-cu126", "model_path": "m", "tp_size": 8,
            },
        ),
        (
            "docker run --gpus all vllm/vllm-openai:v0.11.0 --model meta/x --dp 2",
            {"engine": "vllm", "container": "vllm/vllm-openai:v0.11.0", "model_path": "meta/x", "dp_size": 2},
        ),
        # `systemctl show` prints arguments without the quotes that held them together.
        (
            '/usr/bin/python3 -m sglang.launch_server --json-model-override-args {"a": "b c"} --tp 8',
            {**SGLANG, "json_model_override_args": "{a: b c}", "tp_size": 8},
        ),
        ("/bin/bash -c exec python -m sglang.launch_server --tp 8; echo done", {**SGLANG, "tp_size": 8}),
        ("python -m sglang.launch_server --tp 8 > /var/log/out 2>&1 &", {**SGLANG, "tp_size": 8}),
        ("say ' python -m sglang.launch_server --tp 8", {**SGLANG, "tp_size": 8}),
        ("OMP_NUM_THREADS=4 /opt/start.sh --tp 8", {"env.OMP_NUM_THREADS": "4"}),
        ("python -m http.server", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_reads_the_forms_that_people_use(command, facts):
    """Flags by their ServerArgs names, numbers as numbers, through wrappers and shells."""
    assert facts_from_command(command) == facts


def test_an_argument_list_needs_no_quotes():
    """As /proc/PID/cmdline has it."""
    words = [
        "python",
        "-m",
        "sglang.launch_server",
        "--model-path",
        "/models/a b",
        "--json-model-override-args",
        '{"a": 1}',
    ]
    assert facts_from_command(words) == {**SGLANG, "model_path": "/models/a b", "json_model_override_args": '{"a": 1}'}


def test_variables_come_from_the_units_environment():
    """What Environment= sets is filled in; what nothing sets is unknown, not empty."""
    command = "/usr/bin/python3 -m sglang.launch_server --model-path ${MODEL} --tp $TP --dp ${DP}"
    assert facts_from_command(command, {"MODEL": "/m", "TP": "8"}) == {**SGLANG, "model_path": "/m", "tp_size": 8}


def test_a_later_flag_wins():
    """As argparse has it."""
    assert facts_from_command("sglang serve m --tp 4 --tp-size 8")["tp_size"] == 8


def test_every_alias_leads_to_a_known_argument():
    """The table names arguments that signatures may ask for, or vLLM's own."""
    table = knowledge("launch")
    known = set(knowledge("facts")["arguments"])
    assert set(table["aliases"].values()) <= known
    assert set(table["packages"].values()) <= set(knowledge("facts")["releases"])


def test_words_of_nested_shells():
    """A shell in a shell is followed, to a depth."""
    (found,) = commands("""bash -c "sh -c 'python -m x --a 1'" """)
    assert found == ["python", "-m", "x", "--a", "1"]
    assert list(commands("bash script.sh -c x")) == [["bash", "script.sh", "-c", "x"]]


def test_unknown_variables_have_no_value():
    """A default counts, a command substitution or a specifier of systemd doesn't."""
    assert resolve("${A}/${B:-x}", {"A": "/a"}) == "/a/x"
    assert resolve("$A", {}) is None
    assert resolve("$(hostname)", {}) is None
    assert resolve("%i", {}) is None
    assert resolve("100%", {}) == "100%"


_WORDS = st.sampled_from(
    ["python", "-m", "sglang.launch_server", "sglang", "serve", "bash", "-c", "'", '"', "--tp", "8", "--x=", "-e", "A=b",
     "docker", "run", "a/b:c", "&&", "|", ";", ">", "2>&1", "\\\n", "$X", "${Y:-z}", "{", "\0", "-", "--", "=", "\u00e9"]
)  # fmt: skip


@given(st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=25))
@settings(deadline=None)
def test_any_command_line_is_survived(words):
    """Text or list: facts with names, or none, never an exception."""
    for command in (" ".join(words), words):
        facts = facts_from_command(command)
        assert all(isinstance(name, str) and value is not None for name, value in facts.items())


def test_very_long_lines_are_cut():
    """A line of megabytes costs no more than its beginning."""
    assert facts_from_command("sglang serve m --tp 8 " + "x" * 5_000_000)["tp_size"] == 8
