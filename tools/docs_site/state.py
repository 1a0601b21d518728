"""What all pages are made of, loaded once: the signatures and the excerpts of their fixtures."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from docs_site.excerpts import Excerpt
    from triage.library import Library


@dataclass(slots=True)
class Known:
    """The signatures, and an excerpt for each that has a fixture."""

    library: Library
    excerpts: dict[str, Excerpt] = field(default_factory=dict)


_known: list[Known] = []


def load(pack: Path, packs: tuple[Path, ...] = ()) -> None:
    """Take the pack whose fixtures are shown and packs beside triage's own signatures; diagnose the fixtures.

    Processes that are forked afterwards have what was loaded. Raises `ValueError` where a signature cannot be read.
    """
    from docs_site.excerpts import excerpts
    from triage.library import load as load_library

    library = load_library(packs, standing=False)
    if library.problems:
        raise ValueError("; ".join(map(str, library.problems)))
    _known[:] = [Known(library, excerpts(pack, library, jobs=min(os.cpu_count() or 1, 4)))]


def known() -> Known:
    """Return what was loaded."""
    return _known[0]
