"""Which fixtures are meant by what was typed: ids, areas, logs, signature files, packs, or nothing at all."""

from __future__ import annotations

from pathlib import Path

from triage.data import folder
from triage.library import load
from triage.library.fixtures import Fixture, fixtures, pack_of
from triage.library.packs import standing_packs
from triage.model import TriageError
from triage.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triage.library import Library


def home_pack() -> Path:
    """Return the pack of triage's own signatures; only a checkout has fixtures in it."""
    return folder("signatures").parent


def standing() -> list[Path]:
    """Return the packs whose signatures are always used: triage's own, the host's, the user's."""
    return [home_pack(), *(place.parent for place in standing_packs())]


def select(words: Sequence[str], packs: Sequence[Path]) -> tuple[list[Fixture], list[Path]]:
    """Take what was typed and further packs; return the fixtures that are meant, and the packs to load beside the
    standing ones.

    Raises `TriageError` for what is neither an id nor a path, and where there is no fixture.
    """
    loaded = list(packs)
    if not words:
        found = [one for pack in [*standing(), *packs] for one in fixtures(pack)]
        if not found:
            raise TriageError("there are no fixtures here, they stay in the repository: name a pack, or a log of one")
        return found, loaded
    library = load(packs)
    chosen: dict[Path, Fixture] = {}
    for word in words:
        found = _of(word, library, loaded)
        if not found:
            raise TriageError(f"{word}: there is no fixture of it in fixtures/{word.strip('/')}/")
        chosen.update({one.path: one for one in found})
    return list(chosen.values()), loaded


def _of(word: str, library: Library, loaded: list[Path]) -> list[Fixture]:
    name = word.strip("/")
    areas = {entry.id.partition("/")[0] for entry in library.entries}
    signature = library.get(name)
    if signature is not None or name in areas:
        names = {signature.id, *signature.aliases} if signature is not None else set()
        known = (one for pack in [*standing(), *loaded] for one in fixtures(pack))
        return [one for one in known if one.signature in names or one.signature.partition("/")[0] == name]
    path = Path(word)
    if path.exists():
        return _below(path.absolute(), loaded)
    near = library.near(name, 1)
    raise TriageError(f"{word} is no signature, no area and no path{f': did you mean {near[0]}?' if near else ''}")


def _below(path: Path, loaded: list[Path]) -> list[Fixture]:
    whole = any((path / name).is_dir() for name in ("signatures", "fixtures"))
    pack = path if whole else pack_of(path)
    if pack is None:
        raise TriageError(f"{path} is in no pack: a pack is a folder with signatures/ and fixtures/ inside")
    if pack not in standing() and pack not in loaded and (pack / "signatures").is_dir():
        loaded.append(pack)
    if whole:
        return fixtures(pack)
    for name in ("signatures", "fixtures"):
        if path.is_relative_to(pack / name):
            below = path.relative_to(pack / name)
            if below == Path():
                return fixtures(pack)
            wanted = str(below.with_suffix("") if name == "signatures" else below)
            return [one for one in fixtures(pack) if f"{one.name}/".startswith(f"{wanted}/")]
    return []
