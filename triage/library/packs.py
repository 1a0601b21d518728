"""Finds packs of signatures and reads them, through a cache of compiled ones.

A pack is a folder with `signatures/` inside, a folder of YAML files, or one YAML file. Later packs override the same
id: packaged ones, /etc/triage, the user's, those named on the command line. Nothing is taken from the working
directory, and under sudo nothing from the home of the user who called it.
"""

# ruff: noqa: PTH100, PTH110, PTH111, PTH112, PTH113, PTH116, PTH117, PTH118, PTH119, PTH120, PTH123 - pathlib takes longer to load

from __future__ import annotations

import os

from triage import __version__
from triage.data import place_of
from triage.hashing import sha256
from triage.library.library import Entry, Library
from triage.library.pack import Pack
from triage.model import TriageError
from triage.typed import TYPE_CHECKING
from triage.yaml_cache import cache_folder, keep_bytes, kept_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from triage.library.problems import Problem

SYSTEM = "/etc/triage"
MAX_FILES = 10_000


def load(packs: Sequence[str | os.PathLike[str]] = (), *, packaged: bool = True, standing: bool = True) -> Library:
    """Return all signatures: packaged ones (if wanted), /etc/triage and the user's own (if wanted), `packs` in order.

    Files that are no sound signatures are left out and named in `Library.problems`. Raises `TriageError` for a pack
    that does not exist or holds no YAML.
    """
    places = [place_of("signatures")] if packaged else []
    places.extend(place for place in _standing() if standing and os.path.isdir(place))
    places.extend(_signatures_of(os.fspath(pack)) for pack in packs)
    entries: list[Entry] = []
    problems: list[Problem] = []
    for place in places:
        pack = _compiled(place)
        entries.extend(Entry(name, pack, number) for number, name in enumerate(pack.ids))
        if not pack.problems:
            continue
        from triage.library.problems import Problem

        problems.extend(Problem(os.path.join(place, name) if name else place, *rest) for name, *rest in pack.problems)
    return Library(entries, problems)


def standing_packs() -> list[Path]:
    """Return where the host's and the user's own signatures lie; the folders need not exist."""
    from pathlib import Path

    return [Path(place) for place in _standing()]


def _standing() -> list[str]:
    places = [os.path.join(SYSTEM, "signatures")]
    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        import pwd

        return [*places, os.path.join(pwd.getpwuid(0).pw_dir, ".local/share/triage/signatures")]
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.local/share")
    # no home: `~` stays
    return [*places, os.path.join(base, "triage/signatures")] if os.path.isabs(base) else places


def compile_pack(place: str | os.PathLike[str], key: str = "", *, thorough: bool = False) -> bytes:
    """Take a folder of YAML or a YAML file; return it as `Pack` reads it.

    Written to `signatures.jsonl` beside the packaged signatures it saves the first run from reading YAML. Names of
    files are relative to the folder, empty for a pack of one file. `key` says in which state the files are;
    `thorough` takes longer and makes matching faster.
    """
    from triage.library.parse import parse_file
    from triage.library.problems import Problem
    from triage.library.signature import Signature
    from triage.library.writer import Writer

    place = os.fspath(place)
    pack = Writer(thorough=thorough)
    for path in _files(place):
        parsed, wrong = parse_file(path)
        name = path[len(place) :].lstrip("/")
        for p in wrong:
            pack.complain(Problem(name, p.line, p.field, p.message, p.hint, p.column))
        for one in parsed:
            pack.add(Signature.to_index(one.record, path), name, one.lines["id"])
    return pack.bytes(key)


def files(place: Path) -> Iterator[Path]:
    """Yield the YAML files of a pack, sorted, without hidden ones; folders that are links are not entered."""
    from pathlib import Path

    return map(Path, _files(str(place)))


def _files(place: str) -> Iterator[str]:
    if os.path.isfile(place):
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
                yield os.path.join(above, name)


def _signatures_of(pack: str) -> str:
    """Return the folder or file of a pack that holds its YAML."""
    inside = os.path.join(pack, "signatures")
    place = inside if os.path.isdir(inside) else pack
    if not os.path.exists(place):
        raise TriageError(f"{pack}: there is no such pack of signatures")
    if next(_files(place), None) is None:
        raise TriageError(
            f"{pack}: holds no signatures; a pack is a folder with YAML files, or with signatures/ inside"
        )
    return os.path.abspath(place)


def _compiled(place: str) -> Pack:
    """Return a pack: as it was built with the package, as an earlier run kept it, or as it is made now."""
    if place == place_of("signatures") and os.path.basename(os.path.dirname(place)) == "_packaged":
        try:
            with open(f"{place}.jsonl", "rb") as file:
                return Pack(file.read(), place, shipped=True)
        except FileNotFoundError:
            pass
    key = _key(place)
    store = os.path.join(cache_folder(), f"signatures-{sha256(os.fsencode(place))[:16]}.jsonl")
    raw = kept_bytes(store)
    if raw is not None:
        try:
            pack = Pack(raw, place)
            if pack.key == key:
                return pack
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
    raw = compile_pack(place, key)
    keep_bytes(store, raw)
    return Pack(raw, place)


def _key(place: str) -> str:
    """Return what changes when a file of the pack, or the code that reads it, does."""
    stamps = [__version__, *_stamps(os.path.dirname(__file__)), *_stamps(place)]
    return sha256("\0".join(stamps).encode(errors="surrogateescape"))


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
        state = os.stat(place)
        return [f"{place} {state.st_mtime_ns} {state.st_size}"]
    except OSError:
        return found
    return sorted(found)
