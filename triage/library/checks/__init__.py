"""The checks of signatures, by what they look at. Being defined is being registered: see `triage.library.lint`."""

from triage.library.checks import logic, names, patterns, proof, released, texts

__all__ = ["logic", "names", "patterns", "proof", "released", "texts"]
