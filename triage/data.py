"""Finds and loads the data that ships with triage: knowledge, signatures, the demo log.

In a wheel the signatures and the demo lie in `triage/_packaged`; in a checkout or an editable install they lie in the
repository's own folders. Nothing is ever looked up in the working directory.
"""

# ruff: noqa: PTH112, PTH118, PTH120 - pathlib takes longer to load

from __future__ import annotations

import os
from functools import cache

from triage.typed import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = os.path.dirname(os.path.realpath(__file__))
_PACKAGED = os.path.join(PACKAGE, "_packaged")


def folder(name: str) -> Path:
    """Take `signatures` or `demo`; return the folder that holds it, packaged or of the checkout."""
    from pathlib import Path

    return Path(place_of(name))


def place_of(name: str) -> str:
    """Return what `folder` does, as text."""
    packaged = os.path.join(_PACKAGED, name)
    return packaged if os.path.isdir(packaged) else os.path.join(os.path.dirname(PACKAGE), name)


@cache
def knowledge(name: str) -> Any:
    """Take a table's name (`messages`, `prefixes`, ...); return what `triage/knowledge/<name>.yaml` holds."""
    from triage.yaml_cache import load

    return load(os.path.join(PACKAGE, "knowledge", f"{name}.yaml"))
