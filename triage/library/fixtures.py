"""The logs that prove a pack's signatures: which there are, and what each must show.

`fixtures/<area>/<slug>/*.log` must be diagnosed with the signature `<area>/<slug>`, `confuser-*.log` beside them must
not; on logs below `fixtures/healthy/` every signature must be silent.
"""

from __future__ import annotations

import os
from pathlib import Path

from triage.library.packs import MAX_FILES
from triage.model import TriageError
from triage.records import dataclass
from triage.typed import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Proves = Literal["match", "confuser", "healthy"]
HEALTHY = "healthy"
CONFUSER = "confuser-"
SUFFIX = ".log"


@dataclass(frozen=True, slots=True)
class Fixture:
    """One log. `signature` is the id that it stands under, '' for a healthy one; `name` is its path in `fixtures`."""

    path: Path
    name: str
    signature: str
    proves: Proves

    def __str__(self) -> str:
        """Return its name, for the ids of tests."""
        return self.name


def fixtures(pack: Path) -> list[Fixture]:
    """Take a pack's folder; return its fixtures in order of their names, none where it has no `fixtures` folder.

    Hidden files, links and logs that lie directly in `fixtures/` are passed over. Raises `TriageError` for a pack of
    more than 10,000 of them.
    """
    base = pack / "fixtures"
    found = sorted(_found(base), key=lambda one: one.name)
    if len(found) > MAX_FILES:
        raise TriageError(f"{base}: more than {MAX_FILES} fixtures; name some of them")
    return found


def pack_of(path: Path) -> Path | None:
    """Take a path in or of a pack's `signatures` or `fixtures` folder; return the pack, None if it is in none."""
    path = path.absolute()
    for folder in (path, *path.parents):
        if folder.name in ("signatures", "fixtures"):
            return folder.parent
    return None


def _found(base: Path) -> Iterator[Fixture]:
    count = 0
    for above, folders, names in os.walk(base):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(above, name)
            parts = path.relative_to(base).parts
            if not name.endswith(SUFFIX) or name.startswith(".") or len(parts) < 2 or path.is_symlink():
                continue
            count += 1
            if count > MAX_FILES + 1:
                return
            yield _fixture(path, parts)


def _fixture(path: Path, parts: tuple[str, ...]) -> Fixture:
    name = "/".join(parts)
    if parts[0] == HEALTHY:
        return Fixture(path, name, "", "healthy")
    return Fixture(path, name, "/".join(parts[:-1]), "confuser" if path.name.startswith(CONFUSER) else "match")
