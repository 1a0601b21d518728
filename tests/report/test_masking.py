"""What is secret never shows; what a diagnosis needs stays."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.data import knowledge
from triage.report.masking import Masker, mask, secret_name

ROWS = knowledge("secrets")["rows"]
MASKS = [(row.get("share", False), text, wanted) for row in ROWS for text, wanted in row["masks"]]
KEEPS = [(row.get("share", False), text) for row in ROWS for text in row["keeps"]]
FRAGMENTS = sorted(
    {part for row in ROWS for text, _ in row["masks"] for part in text.split(" ")}
    | {word for row in ROWS for word in row["any"]}
)


@pytest.mark.parametrize(("share", "text", "wanted"), MASKS, ids=[wanted[:40] for _, _, wanted in MASKS])
def test_samples_that_must_be_masked(share, text, wanted):
    """Every row masks its own samples as it says."""
    assert mask(text, share) == wanted


@pytest.mark.parametrize(("share", "text"), KEEPS, ids=[text[:40] for _, text in KEEPS])
def test_samples_that_must_stay(share, text):
    """Every row leaves alone what only looks like a secret."""
    assert mask(text, share) == text


@pytest.mark.parametrize("row", ROWS, ids=[f"{number}-{row['name']}" for number, row in enumerate(ROWS)])
def test_every_row_has_samples_of_both_kinds(row):
    """A row without a confuser has not been thought through."""
    assert row["masks"]
    assert row["keeps"]


def test_share_rows_are_quiet_when_nothing_is_shared():
    """On one's own terminal hosts, addresses and prompts stay."""
    text = "http://gpu-7.example.org:8000 10.0.0.1 /home/alice/x text='hello'"
    assert mask(text) == text
    assert mask(text, share=True) == "http://<host-1>:8000 <address-1> /home/<user-1>/x text='<prompt-1>'"


def test_equal_secrets_get_equal_placeholders_in_one_report():
    """One can still see that two ranks use the same token, and a third another one."""
    masker = Masker()
    assert masker.text("token=aaaa1111") == "token=<secret-1>"
    assert masker.text("token=bbbb2222 again token=aaaa1111") == "token=<secret-2> again token=<secret-1>"


def test_known_hosts_are_masked_wherever_they_stand():
    """A host that the report names is masked in the middle of any line."""
    masker = Masker(share=True, hosts=["gpu-node-07", "gpu"])
    assert (
        masker.text("rank 3 on gpu-node-07 (gpu 2) lost gpu-node-07-ib")
        == "rank 3 on <host-1> (gpu 2) lost gpu-node-07-ib"
    )
    assert masker.host("gpu-node-07") == "<host-1>"
    assert masker.host("gpu") == "<host-2>"


@pytest.mark.parametrize(
    "text",
    [
        "/opt/sglang/venv/lib/python3.11/site-packages/sglang/srt/mem_cache/memory_pool.py",
        "deepseek-ai/DeepSeek-V3",
        "--attention-backend=triton --tp-size 8 --mem-fraction-static 0.88",
        "sglang 0.5.6.post2, torch 2.9.1+cu128, CUDA 12.8.4.1",
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task_memcg=/kubepods/burstable/pod77e0,task=sglang::schedul,pid=40377",
        "NVRM: Xid (PCI:0000:41:00): 79, pid=812, GPU has fallen off the bus.",
        "s=0d1ab45b8b1f4b5f8b7a;i=1f2;b=9a3e;m=5b1c;t=6560d2c2ad1f0;x=77aa",
        "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error",
    ],
)
def test_a_diagnosis_survives_sharing(text):
    """Paths, models, flags, releases, kernel lines and cursors are not secret."""
    assert mask(text, share=True) == text


@given(st.text(), st.booleans())
def test_masking_any_text_never_raises(text, share):
    """A log can hold anything."""
    assert isinstance(mask(text, share), str)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), st.sampled_from([" ", "\n", ", "]), st.booleans())
def test_masking_twice_changes_nothing_more(parts, between, share):
    """Placeholders are no secrets, so a masked report can be masked again."""
    once = mask(between.join(parts), share)
    assert mask(once, share) == once


@pytest.mark.parametrize("seed", range(20))
def test_long_hostile_texts_are_masked_in_one_go(seed):
    """Half a megabyte of any fragment, alone or with others, comes back at once: nothing here is quadratic."""
    generator = random.Random(seed)
    unit = "".join(generator.choices(FRAGMENTS, k=generator.choice((1, 2, 3))))
    text = unit * (500_000 // len(unit)) if len(unit) < 200 else unit
    assert mask(text, share=True)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("api_key", True),
        ("env.HF_TOKEN", True),
        ("ssl_keyfile_password", True),
        ("hf_token", True),
        ("max_total_tokens", False),
        ("tokenizer_path", False),
        ("key", False),
    ],
)
def test_names_of_secret_facts(name, secret):
    """A fact is known to be secret by its name."""
    assert secret_name(name) is secret
