"""Launch flags: which fact each one sets, and how a release spells it (knowledge/flags.yaml)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triage.data import knowledge
from triage.library.releases import contains

if TYPE_CHECKING:
    from collections.abc import Mapping


def fact_of(flag: str) -> str:
    """Take a flag such as `--tp`; return the fact that it sets, by its name in ServerArgs (`tp_size`)."""
    named: dict[str, str] = knowledge("flags")["facts"]
    return named.get(flag, flag.lstrip("-").replace("-", "_"))


def known(flag: str) -> bool:
    """Say whether any release of SGLang or vLLM that triage knows has a flag of this name."""
    table = knowledge("facts")
    rows = knowledge("flags")["moved"]
    if any(flag in (row["flag"], row["instead"].partition("=")[0]) for row in rows):
        return True
    return fact_of(flag) in (*table["arguments"], *table["vllm_arguments"])


def spelt(text: str, facts: Mapping[str, object]) -> tuple[str, str]:
    """Take `--flag` or `--flag=value`; return it as the release at hand has it, and the other spelling where that is
    not known, as `(--other-flag for sglang >=0.5.14)`.
    """
    name, equals, value = text.partition("=")
    row = next((row for row in knowledge("flags")["moved"] if row["flag"] == name), None)
    if row is None or facts.get("engine") == "vllm":
        return text, ""
    other = row["instead"] if "=" in row["instead"] else f"{row['instead']}{equals}{value}"
    there = contains([row["there"]], facts.get("sglang"))
    if there is False and contains([row["since"]], facts.get("sglang")):
        return other, ""
    return text, f"{other} for sglang {row['since']}" if there is None else ""
