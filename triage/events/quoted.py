"""Which lines of a plain file may be copies of the kernel's own (`triage.events.kernel` reads them)."""

from __future__ import annotations


def may_be_copy(text: str) -> bool:
    """Take a text; return whether such a line may be a copy of what `kernel.parse_text` takes, whatever its digits."""
    return "illed process" in text or "oom-kill:" in text or "NVRM: Xid (" in text
