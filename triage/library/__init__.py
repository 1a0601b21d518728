"""Signatures: their format, where they come from, and what finds them."""

from triage.library.library import Library
from triage.library.packs import load

__all__ = ["Library", "load"]
