"""Finds and loads the data that ships with triage: knowledge, signatures, the demo log.

In a wheel the signatures and the demo lie in `triage/_packaged`; in a checkout or an editable install they lie in the
repository's own folders. Nothing is ever looked up in the working directory.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from triage.typed import Any

PACKAGE = Path(__file__).resolve().parent
_PACKAGED = PACKAGE / "_packaged"


def folder(name: str) -> Path:
    """Take `signatures` or `demo`; return the folder that holds it, packaged or of the checkout."""
    packaged = _PACKAGED / name
    return packaged if packaged.is_dir() else PACKAGE.parent / name


@cache
def knowledge(name: str) -> Any:
    """Take a table's name (`messages`, `prefixes`, ...); return what `triage/knowledge/<name>.yaml` holds."""
    from triage.yaml_cache import load

    return load(PACKAGE / "knowledge" / f"{name}.yaml")
