"""Command lines pasted above a log tell the launch arguments where the log does not."""

import pytest

from triage.events.extract import extract
from triage.incident.facts import gather
from triage.lines import read_text

SGLANG = "python3 -m sglang.launch_server --model-path /m --tp 8 --attention-backend triton"


def facts(text: str) -> dict[str, object]:
    return gather(extract(read_text([(0, text.encode())], "x.log")).events)


@pytest.mark.parametrize(
    "line",
    [
        SGLANG,
        f"$ {SGLANG}",
        f"root@gpu7:/srv/models# {SGLANG}",
        f"(venv) alice@gpu7:~$ {SGLANG}",
        f"+ CUDA_VISIBLE_DEVICES=0,1 nohup {SGLANG} > x.log 2>&1 &",
        "python3 -m sglang.launch_server \\\n  --model-path /m \\\n  --tp 8 \\\n  --attention-backend triton",
        "docker run --gpus all \\\n  lmsysorg/sglang:latest \\\n  python3 -m sglang.launch_server \\\n --model-path /m --tp 8 --attention-backend triton",
        "sglang serve --model-path /m --tp-size 8 --attention-backend=triton",
    ],
)  # fmt: skip
def test_a_command_at_the_beginning_of_a_line(line: str) -> None:
    """With or without a prompt, on one line or on several."""
    found = facts(f"{line}\n[2026-05-25 21:41:38] INFO: x\n")
    assert (found["engine"], found["tp_size"], found["attention_backend"]) == ("sglang", 8, "triton")


@pytest.mark.parametrize(
    "line",
    [
        f"ValueError: too small; start it as `{SGLANG}`",
        f"For two nodes use: {SGLANG}",
        "python3 train.py --tp 8",
        "$ pip install sglang[all]",
    ],
)
def test_an_example_in_a_sentence_is_no_command(line: str) -> None:
    """Nor is another program."""
    assert facts(f"{line}\n") == {}


def test_what_the_engine_prints_counts_more() -> None:
    """It knows what became of its arguments."""
    banner = "[2026-05-25 21:41:38] server_args=ServerArgs(model_path='/m', tp_size=4, attention_backend='fa3')"
    found = facts(f"$ {SGLANG} --pp-size 2\n{banner}\n")
    assert (found["tp_size"], found["attention_backend"], found["pp_size"]) == (4, "fa3", 2)


def test_a_command_without_an_end_is_bounded() -> None:
    """A backslash on every line goes on for a while only."""
    assert facts("$ python3 \\\n" * 500) == {}
