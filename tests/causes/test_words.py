"""The last words before a death that nothing else explains."""

import pytest

BANNER = "[2026-05-25 21:41:30] server_args=ServerArgs(model_path='/models/m', tp_size=1)"
DEATH = "[2026-05-25 21:41:40] Received sigquit from a child process. It usually means the child failed."


def test_a_line_that_says_what_is_wrong_is_taken(rooted):
    """numactl's complaint is all that there is."""
    outcome, root = rooted(BANNER, "setting membind: Invalid argument", DEATH)
    assert outcome == "failed"
    assert root.text == "setting membind: Invalid argument"


@pytest.mark.parametrize(
    "chatter",
    [
        "INFO 05-25 21:41:35 [shm_broadcast.py:264] vLLM message queue communication handle: Handle(ranks=[1, 2, 3])",
        "Fetching the tokenizer of the model",
        "Using cached kernels of a former run",
        "WARNING: this may take a while",
    ],
)
def test_chatter_is_never_taken(rooted, chatter):
    """An honest unknown: the root is the announcement of the death."""
    assert rooted(BANNER, chatter, DEATH)[1].rule == "sglang/sigquit"
