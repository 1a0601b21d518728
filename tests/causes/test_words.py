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


def test_a_signature_that_knows_them_is_found(rooted):
    """They are taken only after all others were matched; what a signature says of their text counts all the same."""
    line = "/src/nvshmem/src/host/init/init.cu:1007: non-zero status: 7 nvshmem setup connections failed"
    _, root = rooted(BANNER, line, DEATH)
    assert (root.rule, [one.signature for one in root.diagnoses]) == (
        "fallback/last-words",
        ["deepep/nvshmem-init-failed"],
    )
