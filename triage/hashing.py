"""SHA-256 without OpenSSL, which `hashlib` loads: that takes longer than all that triage hashes."""

from __future__ import annotations

import sys

from triage.typed import Any

_new: Any = None


def sha256(data: bytes) -> str:
    """Return the SHA-256 of some bytes, 64 hexadecimal digits."""
    global _new
    if _new is None:
        _new = _found()
    digest: str = _new(data).hexdigest()
    return digest


def _found() -> Any:
    try:
        return __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except (ImportError, AttributeError):  # no CPython, or one that leaves all hashing to OpenSSL
        import hashlib

        return hashlib.sha256
