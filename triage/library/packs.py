"""Finds packs of signatures and reads them, through a cache of compiled ones.

A pack is a folder with `signatures/` inside, a folder of YAML files, or one YAML file. Later packs override the same
id: packaged ones, /etc/triage, the user's, those named on the command line. Nothing is taken from the working
directory, and under sudo nothing from the home of the user who called it.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from triage import __version__
from triage.data import folder
from triage.library.index import Atoms, rarest
from triage.library.library import Entry, Library
from triage.library.problems import Problem
from triage.model import TriageError
from triage.patterns import LinePattern
from triage.typed import TYPE_CHECKING, Any
from triage.yaml_cache import cache_folder, keep, kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SYSTEM = Path("/etc/triage")
MAX_FILES = 10_000


def load(packs: Sequence[Path] = (), *, packaged: bool = True, standing: bool = True) -> Library:
    """Return all signatures: packaged ones (if wanted), /etc/triage and the user's own (if wanted), `packs` in order.

    Files that are no sound signatures are left out and named in `Library.problems`. Raises `TriageError` for a pack
    that does not exist or holds no YAML.
    """
    places = [folder("signatures")] if packaged else []
    places.extend(place for place in standing_packs() if standing and place.is_dir())
    places.extend(_signatures_of(pack) for pack in packs)
    entries: list[Entry] = []
    problems: list[Problem] = []
    pieces: dict[str, str] = {}
    for place in places:
        compiled = _compiled(place)
        entries.extend(_entry(one, place) for one in compiled["entries"])
        problems.extend(Problem(str(place / name), *rest) for name, *rest in compiled["problems"])
        pieces.update(compiled["pieces"])
    return Library(entries, problems, pieces)


def standing_packs() -> list[Path]:
    """Return where the host's and the user's own signatures lie; the folders need not exist."""
    places = [SYSTEM / "signatures"]
    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        import pwd

        return [*places, Path(pwd.getpwuid(0).pw_dir) / ".local/share/triage/signatures"]
    base = Path(os.environ.get("XDG_DATA_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path("~/.local/share").expanduser()
        except RuntimeError:  # no home
            return places
    return [*places, base / "triage/signatures"]


def compile_pack(place: Path) -> dict[str, Any]:
    """Take a folder of YAML or a YAML file; return what loading it takes, as plain data for JSON.

    Written to `signatures.json` beside the packaged signatures it saves the first run from reading YAML. Names of files
    are relative to the folder, empty for a pack of one file.
    """
    from triage.library.atoms import atoms, line_patterns
    from triage.library.parse import parse_file
    from triage.library.signature import Signature

    entries: dict[str, dict[str, Any]] = {}
    problems: list[list[Any]] = []
    for path in files(place):
        parsed, wrong = parse_file(path)
        name = str(path.relative_to(place)) if path != place else ""
        problems.extend([name, p.line, p.field, p.message, p.hint, p.column] for p in wrong)
        for one in parsed:
            signature = Signature.from_record(one.record, str(path))
            if signature.id in entries:
                other = entries[signature.id]["file"] or path.name
                problems.append([name, one.lines["id"], "id", f"{signature.id} is also in {other}", "", 0])
                continue
            text = json.dumps(one.record, ensure_ascii=False)
            entries[signature.id] = {
                "id": signature.id,
                "aliases": list(signature.aliases),
                "disabled": signature.disabled,
                "file": name,
                "digest": hashlib.sha256(text.encode()).hexdigest()[:16],
                "text": text,
                "atoms": [[one.types, one.texts, one.files, one.kinds] for one in atoms(signature.match)],
                "lines": [[p.id, p.literals, p.regex, p.level, p.role] for p in line_patterns(signature)],
            }
    return {
        "entries": list(entries.values()),
        "pieces": rarest(Atoms(*one) for entry in entries.values() for one in entry["atoms"]),
        "problems": problems,
    }


def files(place: Path) -> Iterator[Path]:
    """Yield the YAML files of a pack, sorted, without hidden ones; folders that are links are not entered."""
    if place.is_file():
        yield place
        return
    count = 0
    for above, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.endswith((".yaml", ".yml")) and not name.startswith("."):
                count += 1
                if count > MAX_FILES:
                    raise TriageError(f"{place}: more than {MAX_FILES} files of signatures; name a smaller folder")
                yield Path(above, name)


def _signatures_of(pack: Path) -> Path:
    """Return the folder or file of a pack that holds its YAML."""
    inside = pack / "signatures"
    place = inside if inside.is_dir() else pack
    if not place.exists():
        raise TriageError(f"{pack}: there is no such pack of signatures")
    if next(files(place), None) is None:
        raise TriageError(
            f"{pack}: holds no signatures; a pack is a folder with YAML files, or with signatures/ inside"
        )
    return place.absolute()


def _compiled(place: Path) -> dict[str, Any]:
    """Return a pack's compiled data: what was built with the package, what an earlier run kept, or what is made now."""
    shipped = place.with_suffix(".json")
    if place.parent.name == "_packaged" and place == folder("signatures") and shipped.is_file():
        value: dict[str, Any] = json.loads(shipped.read_bytes())
        return value
    key = _key(place)
    name = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    store = os.path.join(cache_folder(), f"signatures-{name}.json")  # noqa: PTH118 - hot
    found = kept(store)
    if isinstance(found, dict) and found.get("key") == key and found.keys() >= {"entries", "pieces", "problems"}:
        return found
    value = compile_pack(place)
    keep(store, {"key": key, **value})
    return value


def _key(place: Path) -> str:
    """Return what changes when a file of the pack, or the code that reads it, does."""
    stamps = [__version__, *_stamps(os.path.dirname(__file__)), *_stamps(os.fspath(place))]  # noqa: PTH120 - hot
    return hashlib.sha256("\0".join(stamps).encode(errors="surrogateescape")).hexdigest()


def _stamps(place: str) -> list[str]:
    """Return name, time of change and size of every file below a folder; many times faster than through Path."""
    found: list[str] = []
    try:
        with os.scandir(place) as inside:
            for one in inside:
                if one.is_dir(follow_symlinks=False):
                    found += [] if one.name == "__pycache__" else _stamps(one.path)
                else:
                    state = one.stat()
                    found.append(f"{one.path} {state.st_mtime_ns} {state.st_size}")
    except NotADirectoryError:
        state = os.stat(place)  # noqa: PTH116 - hot
        return [f"{place} {state.st_mtime_ns} {state.st_size}"]
    except OSError:
        return found
    return sorted(found)


def _entry(one: dict[str, Any], place: Path) -> Entry:
    several = [Atoms(*(names and tuple(names) for names in atoms)) for atoms in one["atoms"]]
    lines = [
        LinePattern(name, tuple(literals), regex, "message", level, role)
        for name, literals, regex, level, role in one["lines"]
    ]
    file = os.path.join(place, one["file"]) if one["file"] else str(place)  # noqa: PTH118 - hot
    return Entry(**{**one, "file": file, "atoms": several, "lines": lines})
